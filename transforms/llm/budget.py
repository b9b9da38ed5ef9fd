"""Gathers the questions of a step, so that they are asked in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from evenflow.transforms.llm.questions import DEFERRED, Answer, Asker, Question

T = TypeVar("T")

SPENT = "budget spent"
# After these rounds, questions are asked one by one; a choice and its verdict take two rounds
ROUNDS = 3


class QuestionCollector:
    """Answers known questions, and defers the others with the fallback `DEFERRED`.

    Args:
        known: Question key → answer.

    Attributes:
        deferred: Question key → deferred question. Of a question that came twice, the one with the
            greater worth.
    """

    def __init__(self, known: Mapping[str, Answer]):
        self.deferred: dict[str, Question] = {}
        self._known = known

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in the order of the questions."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer:
        """The known answer, or a fallback after the question is deferred."""
        key = question.key
        if key in self._known:
            return self._known[key]
        before = self.deferred.get(key)
        if before is None or before.worth < question.worth:
            self.deferred[key] = question
        return Answer(None, "fallback", DEFERRED)


class _Prepared:
    """Answers known questions, and asks another asker the rest."""

    def __init__(self, known: dict[str, Answer], asker: Asker):
        self.known = known
        self.asker = asker

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in the order of the questions."""
        keys = [question.key for question in questions]
        missing = {
            key: question
            for key, question in zip(keys, questions, strict=True)
            if key not in self.known
        }
        if missing:
            self.known.update(zip(missing, self.asker.ask(list(missing.values())), strict=True))
        return [self.known[key] for key in keys]


def ask_in_rounds(work: Callable[[Asker], T], asker: Asker) -> T:
    """Runs work that asks one question at a time, and asks its questions in one batch a round.

    Work runs several times. In each run a question without an answer gets a fallback, and the run's
    result is dropped. The result stands once no new question comes up. A question that depends on
    another answer comes up in the next round: whether the sentence is right with the chosen word.
    After ROUNDS rounds the remaining questions are asked one by one.

    Args:
        work: Gives a result with an asker. It must have no side effects and make its own judge and
            tally.
        asker: Answers the batches.

    Returns:
        What work gives when all its questions are answered.
    """
    known: dict[str, Answer] = {}
    for _ in range(ROUNDS):
        listener = QuestionCollector(known)
        done = work(listener)
        if not listener.deferred:
            return done
        deferred = dict(by_worth(listener.deferred))
        known.update(zip(deferred, asker.ask(list(deferred.values())), strict=True))
    return work(_Prepared(known, asker))


def by_worth(deferred: Mapping[str, Question]) -> list[tuple[str, Question]]:
    """Questions with their keys, the most valuable first; equal worth goes by the smaller key."""
    return sorted(deferred.items(), key=lambda each: (-each[1].worth, each[0]))
