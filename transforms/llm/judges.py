"""The LLM as judge of substitutions: it chooses counterparts and checks changed sentences.

It implements the protocol of `substitution.judges`. Nothing that the LLM writes gets into a text:
it names one of the candidates, and says valid or invalid. The embedded judge decides where the LLM
gives no answer or an invalid one.
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
    RejectedError,
    ask_checked,
)
from evenflow.transforms.llm.cascade import Select, select_all
from evenflow.transforms.llm.questions import DEFERRED, Asker, Question, worth
from evenflow.transforms.substitution.judges import Chosen, Embedded, Slot, SubstitutionJudge
from evenflow.wordlists import spelling

# The share of counterparts that the model chooses; the others are drawn, for diversity (main paper,
# 4.2.4).
BY_MODEL = 0.8
VALID, INVALID = 1.0, 0.0  # confidences: the model states none of its own
# An article that a model adds unasked; the edits set articles themselves
ARTICLE = re.compile(r"^an? +", re.IGNORECASE)


class Choice(NamedTuple):
    """The candidate that an answer names.

    Attributes:
        word: The candidate; None: none of them fits.
    """

    word: str | None


class LlmJudge:
    """Chooses counterparts and judges substitutions by an LLM.

    Args:
        asker: Asks the LLM.
        embedded: Chooses where the LLM does not; by default the first word, without a verdict.
        select: Selects the places and substitutions to ask about, by their confidence.
        by_model: Share (0 to 1) of the selected places for which the LLM chooses. For the others a
            candidate is drawn, set by set.
        seed: Seed of that draw.
        middle: The confidence at which the embedded judge decides.

    Attributes:
        choices: Counts of the outcomes of choices.
        verdicts: Counts of the outcomes of verdicts.

    Raises:
        ValueError: by_model is not within 0 to 1.
    """

    chooses = True

    def __init__(
        self,
        asker: Asker,
        embedded: SubstitutionJudge | None = None,
        select: Select = select_all,
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
        """The candidate that fits a place best; not settled while its question is deferred."""
        return self.choose_counterparts([place])[0]

    def judge_substitution(
        self, original: str, changed: str, confidence: float = 1.0
    ) -> float | None:
        """The confidence that a changed sentence is as correct as the original.

        Args:
            original: The original sentence.
            changed: The changed sentence.
            confidence: The confidence (0 to 1) in the substitution so far.

        Returns:
            A confidence (0 to 1); None: no answer.
        """
        return self.judge_substitutions([(original, changed)], [confidence])[0]

    def choose_counterparts(self, places: Sequence[Slot]) -> list[Chosen]:
        """The candidate for each place; the questions go out in one batch.

        A hash of seed, document and set decides for each selected place whether the LLM chooses or
        a candidate is drawn. At the other places the embedded judge chooses. A single candidate is
        taken without a question: the judgement of the whole sentence shows whether it fits.

        Args:
            places: N places.

        Returns:
            N choices; not settled while their question is deferred.
        """
        chosen = [self.embedded.choose_counterpart(place) for place in places]
        asked: list[int] = []
        for index in self.select([place.confidence for place in places]):
            if len(places[index].candidates) > 1:
                if self._is_asked(places[index]):
                    asked.append(index)
                else:
                    chosen[index] = Chosen(self._draw(places[index]))
        outcomes = ask_checked(
            self.asker,
            [_counterpart_question(places[index], self.middle) for index in asked],
            lambda number, value: _checked_choice(value, places[asked[number]].candidates),
            self.choices,
        )
        for index, outcome in zip(asked, outcomes, strict=True):
            if outcome.value is not None:
                chosen[index] = Chosen(outcome.value.word)
            elif outcome.reason == DEFERRED:
                chosen[index] = chosen[index]._replace(settled=False)
        return chosen

    def judge_substitutions(
        self, pairs: Sequence[tuple[str, str]], confidences: Sequence[float] = ()
    ) -> list[float | None]:
        """The confidence in each substitution; the questions go out in one batch.

        Args:
            pairs: N pairs of original and changed sentence.
            confidences: The N confidences (0 to 1) in the substitutions so far; by default 1.

        Returns:
            N confidences (0 to 1); None: no answer.
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

    def _draw(self, place: Slot) -> str:
        """A candidate that the seed, the place and its candidates decide."""
        number = self._hash("word", place.key, spelling.fold(place.word), list(place.candidates))
        return place.candidates[number % len(place.candidates)]

    def _is_asked(self, place: Slot) -> bool:
        """Whether the LLM chooses for a place."""
        return self._hash("who", place.key) < self.by_model * (1 << 64)

    def _hash(self, *values: object) -> int:
        """A number of 64 bits from the seed and some values, the same in every run."""
        text = json.dumps([self.seed, *values])
        return int.from_bytes(hashlib.blake2b(text.encode("ascii"), digest_size=8).digest(), "big")


def _counterpart_question(place: Slot, middle: float) -> Question | None:
    """The question which candidate fits a place; None if the sentence is too long."""
    sentence = place.sentence
    if len(sentence) > LONGEST_SENTENCE:
        return None
    slots: dict[str, str | Sequence[str]] = {
        "before": sentence[: place.start],
        "word": place.word,
        "after": sentence[place.end :],
        "candidates": list(place.candidates),
    }
    return Question.of(loader.load("counterpart"), sentence, slots, worth(place.confidence, middle))


def _checked_choice(value: dict[str, Any], candidates: Sequence[str]) -> Choice:
    """The candidate that an answer names; raises RejectedError for any other word."""
    named = value["choice"]
    if named is None:
        return Choice(None)
    for wanted in (named.strip(), ARTICLE.sub("", named.strip())):
        for candidate in candidates:
            if candidate.casefold() == wanted.casefold():
                return Choice(candidate)
    raise RejectedError(OTHER_WORDS)


def _substitution_question(original: str, changed: str, value: float) -> Question | None:
    """The question whether a changed sentence is right; None if a sentence is too long."""
    if max(len(original), len(changed)) > LONGEST_SENTENCE:
        return None
    return Question.of(loader.load("substitution"), changed, {"original": original}, value)


def _checked_verdict(value: dict[str, Any]) -> float:
    """The confidence of a verdict; raises RejectedError if its parts contradict each other."""
    is_valid = value["verdict"] == "VALID"
    if is_valid != (value["grammar"] and value["facts"]):
        raise RejectedError(CONTRADICTION)
    return VALID if is_valid else INVALID
