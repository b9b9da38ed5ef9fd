"""In what batches is asked: a first pass gathers what a second one needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from evenflow.transforms.llm.questions import REHEARSED, Answer, Asker, Question

T = TypeVar("T")

SPENT = "budget spent"
ROUNDS = 3  # after which what still comes up is asked singly; a choice and its verdict take two


class Rehearsal:
    """Answers what is known; what is not it hears, and answers `REHEARSED`.

    heard: the questions that came up, by their keys; of a question that came twice the one with the
    greatest worth.
    """

    def __init__(self, known: Mapping[str, Answer]):
        self.heard: dict[str, Question] = {}
        self._known = known

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in the order of the questions."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer:
        key = question.key
        if key in self._known:
            return self._known[key]
        before = self.heard.get(key)
        if before is None or before.worth < question.worth:
            self.heard[key] = question
        return Answer(None, "fallback", REHEARSED)


class _Prepared:
    """Answers from what is known, and asks another asker the rest."""

    def __init__(self, known: dict[str, Answer], asker: Asker):
        self.known = known
        self.asker = asker

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        keys = [question.key for question in questions]
        missing = {
            key: question
            for key, question in zip(keys, questions, strict=True)
            if key not in self.known
        }
        if missing:
            self.known.update(zip(missing, self.asker.ask(list(missing.values())), strict=True))
        return [self.known[key] for key in keys]


def rehearsed(work: Callable[[Asker], T], asker: Asker) -> T:
    """What work gives with an asker, though it asks one question at a time: they go out in a batch
    for each round.

    work runs several times. What is not answered yet it falls back on, and its result is thrown
    away; once nothing new comes up, it stands. Questions that hang on others' answers (is the
    sentence right with the word that was chosen?) come up in the next round. work must be without
    side effects and make its own judge and tally.
    """
    known: dict[str, Answer] = {}
    for _ in range(ROUNDS):
        listener = Rehearsal(known)
        done = work(listener)
        if not listener.heard:
            return done
        heard = dict(ranked(listener.heard))
        known.update(zip(heard, asker.ask(list(heard.values())), strict=True))
    return work(_Prepared(known, asker))


def ranked(heard: Mapping[str, Question]) -> list[tuple[str, Question]]:
    """Questions by their keys, the most valuable first; of equal worth, the one whose key is
    smaller.
    """
    return sorted(heard.items(), key=lambda each: (-each[1].worth, each[0]))
