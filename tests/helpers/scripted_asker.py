"""An asker for tests that answers what a function says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evenflow.transforms.llm.questions import Answer, Question

NO_ANSWER = "unreachable"


class Says:
    """Answers what a function of a question's data says, and keeps what it was asked, by call; None
    is no answer. `rejected` counts the answers that a check rejected, by reason.
    """

    def __init__(self, reply: Callable[[Mapping[str, Any]], Any]):
        self.reply = reply
        self.calls: list[list[Question]] = []
        self.rejected: Counter[str] = Counter()

    @property
    def asked(self) -> list[Question]:
        return [question for call in self.calls for question in call]

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        self.calls.append(list(questions))
        replies = [
            self.reply(json.loads(question.messages[-1]["content"])) for question in questions
        ]
        return [
            Answer(None, "fallback", NO_ANSWER) if reply is None else Answer(reply, "model")
            for reply in replies
        ]

    def reject(self, question: Question, answer: Answer, reason: str) -> None:
        self.rejected[reason] += 1
