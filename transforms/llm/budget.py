"""A budget of questions: collects the questions of a block for its pane, or spends what is left."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import replace

from evenflow.transforms.llm import SPENT
from evenflow.transforms.llm.questions import DEFERRED, Answer, Asker, Question


class QuestionCollector:
    """Answers known questions, and defers the others with the fallback `DEFERRED`."""

    def __init__(self, known: MutableMapping[str, Answer]):
        self.deferred: dict[str, Question] = {}
        self._known = known

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in the order of the questions."""
        return [self._answer(question) for question in questions]

    def reject(self, question: Question, answer: Answer, reason: str) -> None:
        """Makes a known answer a fallback, which the pane counts."""
        key = question.key
        self._known[key] = replace(answer, value=None, origin="fallback", reason=reason)

    def _answer(self, question: Question) -> Answer:
        """The known answer, or a fallback after the question is deferred."""
        key = question.key
        if key in self._known:
            return self._known[key]
        before = self.deferred.get(key)
        if before is None or before.worth < question.worth:
            self.deferred[key] = question
        return Answer(None, "fallback", DEFERRED)


class Budgeted:
    """Asks another asker while a budget lasts: of each call the most valuable questions.

    Of equal worth, the smaller key comes first.
    """

    def __init__(self, asker: Asker, left: int):
        self._asker, self._left = asker, left

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in the order of the questions."""
        order = sorted((-each.worth, each.key, number) for number, each in enumerate(questions))
        granted = sorted(number for _, _, number in order[: self._left])
        self._left -= len(granted)
        answers = self._asker.ask([questions[number] for number in granted]) if granted else []
        known = dict(zip(granted, answers, strict=True))
        spent = Answer(None, "fallback", SPENT)
        return [known.get(number, spent) for number in range(len(questions))]
