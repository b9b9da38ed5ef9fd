"""The bias score under a configuration: what is loaded once, and the sums of documents."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.schemas import documents
from evenflow.schemas.config import Config
from evenflow.transforms.measures.bias_score import (
    direction,
    importance,
    reference,
    summary,
    vectors,
)
from evenflow.transforms.measures.bias_score import words as listed
from evenflow.transforms.measures.bias_score.direction import Direction
from evenflow.transforms.measures.bias_score.score import BiasScorer, Scores, totals
from evenflow.transforms.text.shipped import data

STEP = 4096  # sentences that are scored at a time: it bounds the memory of the arrays
LEAST = 0.9  # share of the sentences that must lean to their side before a pane is blocked
# By attribute: what a person would take for a woman's or a man's, most without a word for either
LEANING = {
    "gender": (
        ("The bridesmaids chose lace dresses", "female"),
        ("A nanny pushes the stroller through the park", "female"),
        ("Lipstick and nail polish lay on the table", "female"),
        ("The ballet dancer wore a tutu", "female"),
        ("A midwife visited the maternity ward", "female"),
        ("Her mother knitted a scarf", "female"),
        ("The quarterback threw the ball", "male"),
        ("Lumberjacks felled the old oak", "male"),
        ("A mechanic repaired the engine of the truck", "male"),
        ("The carpenter shaved his beard", "male"),
        ("Soldiers fired the cannon", "male"),
        ("The boxer knocked out his opponent", "male"),
    )
}
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Scored:
    """The sums of some documents."""

    figures: dict[str, Any]
    words: dict[str, Any]
    documents: list[float | None]


class BiasSignal:
    """Scores documents under a configuration.

    Args:
        config: The configuration; its section bias_score says with what.

    Attributes:
        made_with: Digests of what the scores come from, by name.
        threshold: Score above which a sentence's score is high; None without a reference.

    Raises:
        VectorsError: The vectors cannot be used.
        DirectionError: The attribute has no direction in them.
        BiasReferenceError: The reference cannot be used, or was made with something else.
        WordListError: The word list cannot be read.
        OSError: A file cannot be read.
    """

    def __init__(self, config: Config):
        own = config.bias_score
        space = vectors.load(Path(own.vectors) if own.vectors else None)
        self.vectors, self._attribute = space, own.attribute
        words = config.word_list(own.attribute)
        pairs = direction.usual_pairs(words)
        self.direction: Direction = direction.find(space, words, pairs)
        named, names = listed.named(words), listed.given_names(words)
        self.scorer = BiasScorer(space, self.direction, named, names)
        every = (words.groups, pairs, sorted(words.labels.items()), sorted(named), sorted(names))
        counts = data(importance.COUNTS_PATH)
        self.made_with = {
            "vectors": space.digest,
            "words": hashlib.sha256(repr(every).encode() + counts).hexdigest(),
        }
        self.threshold = (
            reference.threshold(Path(own.reference), own.attribute, self.made_with, own.percentile)
            if own.reference
            else None
        )

    @cached_property
    def doubt(self) -> str | None:
        """Why no pane is blocked for its scores; None: known sentences lean to their sides."""
        attribute, groups = self._attribute, self.scorer.groups
        known = [row for row in LEANING.get(attribute, ()) if row[1] in groups]
        if not known:
            return f"no sentences are known that tell the sides of {attribute} in these vectors"
        right = sum(
            groups[int(self.scorer.whole(text).groups[0].argmax())] == side for text, side in known
        )
        if right >= LEAST * len(known):
            return None
        return (
            f"of {len(known)} sentences whose side of {attribute} is known, {right} lean to it in"
            f" these vectors, and {LEAST:.0%} are needed"
        )

    def sums(self, text: str, begins: Ints, starts: Ints) -> Scored:
        """Score all sentences of D documents that are joined to one text.

        Args:
            begins: Where the documents begin in it, (D,), ascending.
            starts: Where its n sentences begin, (n,), ascending.
        """
        edges = [*starts.tolist(), len(text)]
        each: list[Ints] = []
        words: dict[str, Any] = {}
        for first in range(0, len(starts), STEP):
            last = min(first + STEP, len(starts))
            begin = edges[first]
            own = [start - begin for start in edges[first:last]]
            read = self.scorer.read(text[begin : edges[last]], own)
            each.append(totals(read))
            words = documents.summed(words, self.scorer.words(read, each[-1]))
        if not each:
            return Scored({}, {}, [None] * len(begins))
        every = np.concatenate(each)
        owners = np.searchsorted(begins, starts, "right")
        whole = np.zeros((len(begins), every.shape[1]), np.int64)
        np.add.at(whole, owners - 1, every)
        figures = summary.sums(self.scorer.of(every), owners, self.scorer.groups, self.threshold)
        return Scored(figures, words, _known(self.scorer.of(whole)))

    def score(self, texts: Sequence[str]) -> float | None:
        """Score some texts of a document, each as a whole; its score is the largest.

        Args:
            texts: The texts, such as a premise and its hypothesis (section 4.2.1).

        Returns:
            The absolute score; None if no text has a known word.
        """
        found = [one for text in texts for one in _known(self.scorer.whole(text))]
        return max((one for one in found if one is not None), default=None)

    def is_high(self, score: float | None) -> bool:
        """Whether a document's score is above the reference's percentile."""
        return score is not None and self.threshold is not None and score > self.threshold


def _known(scores: Scores) -> list[float | None]:
    """Absolute scores, None where there is none."""
    pairs = zip(scores.absolute.tolist(), scores.known.tolist(), strict=True)
    return [score if known else None for score, known in pairs]


def of(config: Config) -> BiasSignal:
    """The signal of a configuration, loaded once a process. Raises what `BiasSignal` raises."""
    return _signal(config.model_dump_json(include={"bias_score", "attributes"}))


@lru_cache(maxsize=2)
def _signal(settings: str) -> BiasSignal:
    """The signal of a configuration's sections as JSON."""
    return BiasSignal(Config.model_validate_json(settings))
