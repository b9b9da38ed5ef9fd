"""The LLM as judge of substitutions: which counterpart fits, and whether a changed sentence is
still correct.

It implements the protocol of judges.py. Nothing that the LLM writes ever gets into a text: it
points at one of the candidates, and says valid or invalid. What it does not answer, or not rightly,
is left to the embedded judge.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from evenflow.prompts import loader
from evenflow.transforms.llm.answers import (
    CONTRADICTION,
    LONGEST_SENTENCE,
    OTHER_WORDS,
    AnswerCounts,
    Rejected,
    ask_checked,
)
from evenflow.transforms.llm.cascade import Select, asks_all
from evenflow.transforms.llm.questions import REHEARSED, Asker, Question, worth
from evenflow.transforms.substitution.judges import Chosen, Embedded, Slot, SubstitutionJudge
from evenflow.wordlists import spelling

# The share of counterparts that the model chooses; the others are drawn, for diversity (main paper,
# 4.2.4).
BY_MODEL = 0.8
VALID, INVALID = 1.0, 0.0  # confidences: the model states none of its own
# Agreement that a model adds unasked; the edits see to it themselves
ARTICLE = re.compile(r"^an? +", re.IGNORECASE)


class Choice(NamedTuple):
    """The candidate that an answer names; None: none of them fits."""

    word: str | None


class LlmJudge:
    """Chooses words and judges by an LLM; what it leaves open has the first word, and no verdict.

    select: which places and substitutions are asked about, by their confidence; middle: where the
    embedded judge decides. by_model: the share (0 to 1) of these places that the model chooses for;
    for the others a candidate is drawn, set by set. seed: of that draw. choices and verdicts count
    what became of the questions. Raises ValueError for a share outside 0 to 1.
    """

    chooses = True

    def __init__(
        self,
        asker: Asker,
        embedded: SubstitutionJudge | None = None,
        select: Select = asks_all,
        by_model: float = BY_MODEL,
        seed: int = 0,
        middle: float = 0.5,
    ):
        if not 0 <= by_model <= 1:
            raise ValueError(f"by_model {by_model!r}: a number from 0 to 1 was expected")
        self.asker = asker
        self.embedded: SubstitutionJudge = embedded or Embedded()
        self.select = select
        self.by_model = by_model
        self.seed = seed
        self.middle = middle
        self.choices = AnswerCounts()
        self.verdicts = AnswerCounts()

    def choose_counterpart(self, place: Slot) -> Chosen:
        """The candidate that fits the place best; not settled where the question is still to be
        asked.
        """
        return self.choose_counterparts([place])[0]

    def judge_substitution(
        self, original: str, changed: str, confidence: float = 1.0
    ) -> float | None:
        """The confidence (0 to 1) that the changed sentence is as correct as the original; None: no
        answer.
        """
        return self.judge_substitutions([(original, changed)], [confidence])[0]

    def choose_counterparts(self, places: Sequence[Slot]) -> list[Chosen]:
        """The candidate for each place, asked in one batch.

        Of the places that the rule selects, a hash of seed, document and set says whether the model
        chooses or a candidate is drawn; at the others the embedded judge chooses. A single
        candidate is taken unasked: whether it fits is seen when the whole sentence is judged.
        """
        chosen = [self.embedded.choose_counterpart(place) for place in places]
        asked: list[int] = []
        for index in self.select([place.confidence for place in places]):
            if len(places[index].candidates) > 1:
                if self._is_asked(places[index]):
                    asked.append(index)
                else:
                    chosen[index] = Chosen(self._drawn(places[index]))
        outcomes = ask_checked(
            self.asker,
            [_counterpart_question(places[index], self.middle) for index in asked],
            lambda number, value: _checked_choice(value, places[asked[number]].candidates),
            self.choices,
        )
        for index, outcome in zip(asked, outcomes, strict=True):
            if outcome.value is not None:
                chosen[index] = Chosen(outcome.value.word)
            elif outcome.reason == REHEARSED:
                chosen[index] = chosen[index]._replace(settled=False)
        return chosen

    def judge_substitutions(
        self, pairs: Sequence[tuple[str, str]], confidences: Sequence[float] = ()
    ) -> list[float | None]:
        """The confidence of each pair of original and changed sentence, asked in one batch; None
        where nothing was answered.

        confidences: of the substitutions so far; 1 if not given.
        """
        sure = list(confidences) or [1.0] * len(pairs)
        asked = [index for index in self.select(sure) if pairs[index][0] != pairs[index][1]]
        outcomes = ask_checked(
            self.asker,
            [
                _substitution_question(*pairs[index], worth(sure[index], self.middle))
                for index in asked
            ],
            lambda _, value: _checked_verdict(value),
            self.verdicts,
        )
        judged: list[float | None] = [None] * len(pairs)
        for index, outcome in zip(asked, outcomes, strict=True):
            judged[index] = outcome.value
        return judged

    def _drawn(self, place: Slot) -> str:
        number = self._number("word", place.key, spelling.fold(place.word), list(place.candidates))
        return place.candidates[number % len(place.candidates)]

    def _is_asked(self, place: Slot) -> bool:
        return self._number("who", place.key) < self.by_model * (1 << 64)

    def _number(self, *said: object) -> int:
        """A number of 64 bits that the seed and what is said decide, the same on every run."""
        text = json.dumps([self.seed, *said])
        return int.from_bytes(hashlib.blake2b(text.encode("ascii"), digest_size=8).digest(), "big")


def _counterpart_question(place: Slot, middle: float) -> Question | None:
    sentence = place.sentence
    if len(sentence) > LONGEST_SENTENCE:
        return None
    prompt = loader.load("counterpart")
    slots: dict[str, str | Sequence[str]] = {
        "before": sentence[: place.start],
        "word": place.word,
        "after": sentence[place.end :],
        "candidates": list(place.candidates),
    }
    messages = tuple(prompt.messages(sentence, **slots))
    return Question(
        prompt.name,
        prompt.digest,
        messages,
        prompt.schema,
        sentence,
        worth(place.confidence, middle),
    )


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


def _substitution_question(original: str, changed: str, value: float) -> Question | None:
    if max(len(original), len(changed)) > LONGEST_SENTENCE:
        return None
    prompt = loader.load("substitution")
    messages = tuple(prompt.messages(changed, original=original))
    return Question(prompt.name, prompt.digest, messages, prompt.schema, changed, value)


def _checked_verdict(value: dict[str, Any]) -> float:
    """The confidence that a verdict stands for. Raises Rejected where its halves say otherwise."""
    is_valid = value["verdict"] == "VALID"
    if is_valid != (value["grammar"] and value["facts"]):
        raise Rejected(CONTRADICTION)
    return VALID if is_valid else INVALID
