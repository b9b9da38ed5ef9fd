"""A budget of tokens: collects the questions of a block for its pane, or spends what is left."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from itertools import accumulate

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


def ranked(wanted: Mapping[str, tuple[float, int]], left: int) -> tuple[list[str], int]:
    """Rank questions, the most valuable first; of equal worth, the smaller key.

    Args:
        wanted: Key → worth and tokens.
        left: Tokens that are left.

    Returns:
        The keys in order, and how many of these the tokens are enough for.
    """
    order = sorted(wanted, key=lambda key: (-wanted[key][0], key))
    return order, bisect_right(list(accumulate(wanted[key][1] for key in order)), left)


class Budgeted:
    """Asks another asker while a budget lasts: of each call the most valuable questions."""

    def __init__(self, asker: Asker, left: int):
        self._asker, self._left = asker, left

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in the order of the questions."""
        order, count = ranked(
            {each.key: (each.worth, each.tokens) for each in questions}, self._left
        )
        keys = set(order[:count])
        granted = [each for each in questions if each.key in keys]
        self._left -= sum(each.tokens for each in granted)
        answers = iter(self._asker.ask(granted) if granted else [])
        spent = Answer(None, "fallback", SPENT)
        return [next(answers) if each.key in keys else spent for each in questions]
