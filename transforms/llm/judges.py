"""The LLM as judge of exchanges: asked about what the plan has drawn, with the passage in sight.

An embedded judge answers first. Where a selection rule says so, the LLM reads the passage in which
all mentions of the joined sets are marked, and says valid or invalid with a reason. Nothing that it
writes gets into a text. The embedded judge's answer stands where the LLM gives none, or an invalid
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import tee
from typing import Any

from evenflow.prompts import loader
from evenflow.transforms.llm.cascade import Mode, Unsure
from evenflow.transforms.llm.questions import (
    CONTRADICTION,
    Asker,
    Question,
    QuestionOutcome,
    RejectedError,
    ask_checked,
    worth,
)
from evenflow.transforms.models.heads import REASONS as OF_EXCHANGES
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.judges import Asked, ExchangeJudge, Judged
from evenflow.transforms.substitution.reading import WORTH_ASKING
from evenflow.transforms.substitution.sets import Edit, Set

VALID, INVALID = 1.0, 0.0  # probabilities: the model states none of its own
# Characters of context on both sides of a sentence: as many as fit into the longest passage
AROUND = (600, 300, 100)
LONGEST_PASSAGE = 6000  # characters, some 1,500 tokens
MARK, GAP = "⟦{old} → {new}⟧", " … "
NO_REASON = "none"
REASONS = {**OF_EXCHANGES, "stereo": sets.STEREOTYPE}
# Who may never change: a named person, and what is no person
FIXED = ("named", "no person")


class LlmJudge:
    """Judges exchanges by an embedded judge, and by an LLM where a rule says so."""

    def __init__(
        self,
        embedded: ExchangeJudge,
        asker: Asker,
        mode: Mode,
        min_probability: Mapping[str, float],
        worth_asking: Mapping[str, float] | None = None,
    ):
        self._embedded, self._asker, self._min_probability = embedded, asker, min_probability
        worth = worth_asking or {}
        self._select = {
            name: Unsure(min(worth.get(name, WORTH_ASKING), least), 1.0 if mode == "llm" else least)
            for name, least in min_probability.items()
        }
        self._known: dict[str, QuestionOutcome[tuple[float, str]]] = {}

    def exchanges(self, documents: Iterable[Asked]) -> list[list[Judged]]:
        """Judge exchanges, see `judges.ExchangeJudge`; their questions go out in one batch.

        What is joined is asked about once.
        """
        out: list[list[Judged]] = []
        asked: list[tuple[list[Judged], int, str]] = []
        fresh: dict[str, Question | None] = {}
        ours, theirs = tee(documents)
        for document, said in zip(ours, self._embedded.exchanges(theirs), strict=True):
            answers = list(said)
            out.append(answers)
            if not answers:
                continue
            name = document.sets[0].attribute
            for index in self._select[name]([each.probability for each in answers]):
                _, target = document.exchanges[index]
                question = _question(document, answers[index], target, self._min_probability[name])
                key = question.key if question is not None else ""
                asked.append((answers, index, key))
                if key not in self._known:
                    fresh[key] = question
        outcomes = ask_checked(self._asker, list(fresh.values()), lambda _, value: checked(value))
        self._known.update(zip(fresh, outcomes, strict=True))
        for answers, index, key in asked:
            verdict = self._known[key].value
            if verdict is not None:
                answers[index] = Judged(*verdict, answers[index].joined)
        return out


def _question(document: Asked, answer: Judged, target: str, least: float) -> Question | None:
    """The question about an exchange; None if its passage is too long."""
    own = [document.sets[each] for each in answer.joined]
    shown = show_passage(document.text, own, target)
    if shown is None:
        return None
    slots = {"attribute": own[0].attribute, "from": own[0].source, "to": target}
    return Question.of(loader.load("substitution"), shown, slots, worth(answer.probability, least))


def show_passage(text: str, joined: Sequence[Set], target: str) -> str | None:
    """Show the exchange of sets that change together, with what stands around them.

    Returns their sentences with up to `AROUND` characters on both sides, whole words, in which each
    change is marked; None if they take more than `LONGEST_PASSAGE` characters.
    """
    edits = sorted(edit for each in joined for edit in each.edits[target])
    sentences = [span for each in joined for span in each.spans]
    places = sorted([*sentences, *((edit.start, edit.end) for edit in edits)])
    for around in AROUND:
        pieces = _pieces(text, places, around)
        if sum(end - start for start, end in pieces) <= LONGEST_PASSAGE:
            return GAP.join(_marked(text, piece, edits) for piece in pieces)
    return None


def _pieces(text: str, places: Sequence[tuple[int, int]], around: int) -> list[tuple[int, int]]:
    """The places with characters around them, each (start, end), joined where they meet."""
    out: list[tuple[int, int]] = []
    for first, last in places:
        start, end = max(0, first - around), min(len(text), last + around)
        if start:  # not in the middle of a word
            start = next((at + 1 for at in range(start, first) if text[at].isspace()), first)
        if end < len(text):
            end = next((at for at in range(end, last, -1) if text[at].isspace()), last)
        if out and start <= out[-1][1]:
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((start, end))
    return out


def _marked(text: str, piece: tuple[int, int], edits: Sequence[Edit]) -> str:
    """A piece of a text with its edits marked."""
    start, end = piece
    own = [
        each._replace(
            start=each.start - start,
            end=each.end - start,
            replacement=MARK.format(old=text[each.start : each.end], new=each.replacement),
        )
        for each in edits
        if start <= each.start and each.end <= end
    ]
    return sets.apply(text[start:end], own)


def checked(value: Mapping[str, Any]) -> tuple[float, str]:
    """Check a verdict."""
    is_valid, reason = value["verdict"] == "VALID", value["reason"]
    if is_valid != (reason == NO_REASON) or (is_valid and value["who"] in FIXED):
        raise RejectedError(CONTRADICTION)
    return (VALID, "") if is_valid else (INVALID, REASONS[reason])
