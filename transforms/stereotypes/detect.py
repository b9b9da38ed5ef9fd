"""Detects stereotypes: the probability that a sentence states one of a group that it names (main
paper, 4.2.3).

A sentence is asked about once for each attribute whose groups it names in any form
(`stereotyping.masking`), with those words hidden, so that swapping the group's name cannot move the
answer, and another attribute's stereotype does not count. A first stage clears what is plainly
none; the encoder reads the rest (`stereotyping.reading`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Protocol

from evenflow.transforms.models.files import ModelError
from evenflow.transforms.stereotypes import probabilities
from evenflow.transforms.stereotypes.calibration import THRESHOLD, UNSURE, cut
from evenflow.transforms.stereotypes.masking import Span, prepared

__all__ = ["THRESHOLD", "UNSURE", "Detector", "Encoded", "ModelError", "cut", "shipped"]


class Detector(Protocol):
    """Tells stereotypes."""

    def detect(
        self, sentences: Sequence[str], labels: Sequence[Sequence[Span]]
    ) -> list[float | None]:
        """The probability (0..1) that each sentence states or implies a stereotype of a group;
        None: cannot say.

        labels: of each sentence the words (start, end, attribute) that name the groups asked about,
        of one attribute, in order; empty: of any group.
        """
        ...


class Encoded:
    """The detector of the models that ship."""

    def __init__(self, reader: probabilities.SentenceReader):
        self.reader = reader

    def detect(
        self, sentences: Sequence[str], labels: Sequence[Sequence[Span]]
    ) -> list[float | None]:
        """See Detector. Raises ValueError if the numbers of sentences and labels differ."""
        return self.reader.chances(
            [prepared(text, own) for text, own in zip(sentences, labels, strict=True)]
        )


@cache
def shipped() -> Encoded:
    """The detector of this package. Raises ModelError."""
    return Encoded(probabilities.shipped())
