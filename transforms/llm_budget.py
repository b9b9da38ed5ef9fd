"""Who is asked, and in what batches: a budget of requests, and a first pass that gathers what a second one needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TypeVar

from evenflow.transforms.llm_questions import Answer, Asker, Question

T = TypeVar("T")

SPENT = "budget spent"
REHEARSED = "not asked yet"


class Allowance:
    """A number of requests, for a pane say, that several steps and threads may share."""

    def __init__(self, requests: int):
        if requests < 0:
            raise ValueError(f"requests {requests!r}: zero or more was expected")
        self._left = requests
        self._lock = Lock()

    @property
    def left(self) -> int:
        """Requests that may still be made."""
        return self._left

    def take(self, wanted: int) -> int:
        """How many of the wanted requests may be made; they are taken off."""
        with self._lock:
            granted = min(wanted, self._left)
            self._left -= granted
            return granted


class Frugal:
    """Asks another asker until the allowance is spent; the first questions of a call come first.

    What is not asked is a fallback with the reason `SPENT`.
    """

    def __init__(self, asker: Asker, allowance: Allowance):
        self.asker = asker
        self.allowance = allowance

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in the order of the questions."""
        granted = self.allowance.take(len(questions))
        answers = self.asker.ask(questions[:granted]) if granted else []
        return [*answers, *(Answer(None, "fallback", SPENT) for _ in questions[granted:])]


class _Listener:
    """Answers nothing and keeps every question once, in the order of the first time."""

    def __init__(self) -> None:
        self.heard: dict[str, Question] = {}

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        for question in questions:
            self.heard.setdefault(question.key, question)
        return [Answer(None, "fallback", REHEARSED) for _ in questions]


class _Prepared:
    """Answers from what is known, and asks another asker the rest."""

    def __init__(self, known: dict[str, Answer], asker: Asker):
        self.known = known
        self.asker = asker

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        keys = [question.key for question in questions]
        missing = {key: question for key, question in zip(keys, questions, strict=True) if key not in self.known}
        if missing:
            self.known.update(zip(missing, self.asker.ask(list(missing.values())), strict=True))
        return [self.known[key] for key in keys]


def rehearsed(work: Callable[[Asker], T], asker: Asker) -> T:
    """What work gives with an asker, though it asks one question at a time: all of them go out in one batch.

    work runs twice. The first time nothing is answered, so that it falls back and its result is thrown away; the second
    time the answers are there. A question that only comes up then is asked singly. work must be without side effects and
    make its own judge and tally.
    """
    listener = _Listener()
    first = work(listener)
    if not listener.heard:
        return first
    known = dict(zip(listener.heard, asker.ask(list(listener.heard.values())), strict=True))
    return work(_Prepared(known, asker))
