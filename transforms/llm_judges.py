"""The LLM as judge of substitutions: which counterpart fits, and whether a changed sentence is still correct.

It implements the protocol of judges.py. Nothing that the LLM writes ever gets into a text: it points at one of the
candidates, and says valid or invalid. What it does not answer, or not rightly, the embedded judge answers.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from evenflow.prompts import loader
from evenflow.transforms.judges import Embedded, Judge
from evenflow.transforms.llm_answers import CONTRADICTION, LONGEST_SENTENCE, OTHER_WORDS, Rejected, Tally, ask_checked
from evenflow.transforms.llm_questions import Asker, Question
from evenflow.transforms.llm_tiers import Select, asks_all

# The share of counterparts that the model chooses; the others are drawn, for diversity (main paper, 4.2.4).
BY_MODEL = 0.8
VALID, INVALID = 1.0, 0.0  # confidences: the model states none of its own
ARTICLE = re.compile(r"^an? +", re.IGNORECASE)  # agreement that a model adds unasked; the edits see to it themselves


class Place(NamedTuple):
    """A word to be replaced, sentence[start:end], and the words allowed in its place, the best first."""

    sentence: str
    start: int
    end: int
    candidates: Sequence[str]


class Choice(NamedTuple):
    """The candidate chosen; None: none of them fits."""

    word: str | None


class LlmJudge:
    """Judges by an LLM, and by an embedded judge what that leaves open.

    select: which substitutions are asked about, by the embedded judge's confidence. by_model: the share (0 to 1) of
    counterparts that the model chooses. seed: of the draw of the others. choices and verdicts count what became of the
    questions. Raises ValueError for a share outside 0 to 1.
    """

    def __init__(
        self,
        asker: Asker,
        embedded: Judge | None = None,
        select: Select = asks_all,
        by_model: float = BY_MODEL,
        seed: int = 0,
    ):
        if not 0 <= by_model <= 1:
            raise ValueError(f"by_model {by_model!r}: a number from 0 to 1 was expected")
        self.asker = asker
        self.embedded: Judge = embedded or Embedded()
        self.select = select
        self.by_model = by_model
        self.seed = seed
        self.choices = Tally()
        self.verdicts = Tally()

    def choose_counterpart(self, sentence: str, start: int, end: int, candidates: Sequence[str]) -> str | None:
        """The candidate that fits the place sentence[start:end] best; None if none does."""
        return self.choose_counterparts([Place(sentence, start, end, candidates)])[0]

    def judge_substitution(self, original: str, changed: str) -> float:
        """The confidence (0 to 1) that the changed sentence is as correct, in grammar and fact, as the original."""
        return self.judge_substitutions([(original, changed)])[0]

    def choose_counterparts(self, places: Sequence[Place]) -> list[str | None]:
        """The candidate for each place, asked in one batch.

        A hash of the place says whether the model chooses or a candidate is drawn. A single candidate is taken unasked:
        whether it fits is seen when the whole sentence is judged.
        """
        chosen: list[str | None] = [self._drawn(place) for place in places]
        asked = [index for index, place in enumerate(places) if len(place.candidates) > 1 and self._is_asked(place)]
        outcomes = ask_checked(
            self.asker,
            [_counterpart_question(places[index]) for index in asked],
            lambda number, value: _checked_choice(value, places[asked[number]].candidates),
            self.choices,
        )
        for index, outcome in zip(asked, outcomes, strict=True):
            chosen[index] = self.embedded.choose_counterpart(*places[index]) if outcome.value is None else outcome.value.word
        return chosen

    def judge_substitutions(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The confidence of each pair of original and changed sentence, asked in one batch; never of equal ones."""
        confidences = [self.embedded.judge_substitution(*pair) for pair in pairs]
        asked = [index for index in self.select(confidences) if pairs[index][0] != pairs[index][1]]
        outcomes = ask_checked(
            self.asker,
            [_substitution_question(*pairs[index]) for index in asked],
            lambda _, value: _checked_verdict(value),
            self.verdicts,
        )
        for index, outcome in zip(asked, outcomes, strict=True):
            if outcome.value is not None:
                confidences[index] = outcome.value
        return confidences

    def _drawn(self, place: Place) -> str | None:
        return place.candidates[self._number(place, "word") % len(place.candidates)] if place.candidates else None

    def _is_asked(self, place: Place) -> bool:
        return self._number(place, "who") < self.by_model * (1 << 64)

    def _number(self, place: Place, use: str) -> int:
        """A number of 64 bits that the place decides, the same on every run."""
        said = json.dumps([self.seed, use, place.sentence, place.start, place.end, list(place.candidates)])
        return int.from_bytes(hashlib.blake2b(said.encode("ascii"), digest_size=8).digest(), "big")


def _counterpart_question(place: Place) -> Question | None:
    sentence = place.sentence
    if len(sentence) > LONGEST_SENTENCE:
        return None
    prompt = loader.load("counterpart")
    slots: dict[str, str | Sequence[str]] = {
        "before": sentence[: place.start],
        "word": sentence[place.start : place.end],
        "after": sentence[place.end :],
        "candidates": list(place.candidates),
    }
    return Question(prompt.name, prompt.digest, tuple(prompt.messages(sentence, **slots)), prompt.schema, sentence)


def _checked_choice(value: dict[str, Any], candidates: Sequence[str]) -> Choice:
    """The candidate that an answer names. Raises Rejected for any other word."""
    said = value["choice"]
    if said is None:
        return Choice(None)
    for wanted in (said.strip(), ARTICLE.sub("", said.strip())):
        for candidate in candidates:
            if candidate.casefold() == wanted.casefold():
                return Choice(candidate)
    raise Rejected(OTHER_WORDS)


def _substitution_question(original: str, changed: str) -> Question | None:
    if max(len(original), len(changed)) > LONGEST_SENTENCE:
        return None
    prompt = loader.load("substitution")
    return Question(prompt.name, prompt.digest, tuple(prompt.messages(changed, original=original)), prompt.schema, changed)


def _checked_verdict(value: dict[str, Any]) -> float:
    """The confidence that a verdict stands for. Raises Rejected where its halves say otherwise."""
    is_valid = value["verdict"] == "VALID"
    if is_valid != (value["grammar"] and value["facts"]):
        raise Rejected(CONTRADICTION)
    return VALID if is_valid else INVALID
