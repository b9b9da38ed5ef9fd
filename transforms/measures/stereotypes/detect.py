"""Detects stereotypes: the probability that a sentence states one (main paper, 4.2.3).

A sentence is examined once for each attribute whose groups it names in any form. The words that
name the groups are hidden (`masking`). So a swap of the group's name cannot change the answer, and
another attribute's stereotype does not count. A sieve clears the sentences that plainly state none;
the encoder reads the rest (`probabilities`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from evenflow.schemas.config import Config
from evenflow.schemas.plugins import DETECTORS, load
from evenflow.transforms.measures.stereotypes.calibration import THRESHOLD, UNSURE
from evenflow.transforms.measures.stereotypes.masking import Span
from evenflow.transforms.measures.stereotypes.probabilities import shipped

__all__ = ["THRESHOLD", "UNSURE", "Detector", "shipped"]


class Detector(Protocol):
    """Detects stereotypes in sentences."""

    def detect(
        self, sentences: Sequence[str], labels: Sequence[Sequence[Span]]
    ) -> list[float | None]:
        """The probability of a stereotype in each sentence.

        Args:
            labels: For each sentence the words of one attribute that name the groups in question,
                as (start, end, attribute) in order. Without words, any group is meant.

        Returns:
            N probabilities (0 to 1) that the sentence states or implies a stereotype of a group.
            None: the detector cannot judge the sentence.
        """
        ...


class PluginDetector:
    """A detector of another package (evenflow.detectors).

    Its part has `detect(sentences, words)`: N sentences, and of each the places (start, end) of the
    words that name groups. It gives N probabilities, as `Detector.detect` does.
    """

    def __init__(self, name: str):
        self._plugin = load(DETECTORS, name)

    def detect(
        self, sentences: Sequence[str], labels: Sequence[Sequence[Span]]
    ) -> list[float | None]:
        """The probability of a stereotype in each sentence; see `Detector.detect`."""
        words = [[span[:2] for span in own] for own in labels]
        ask = self._plugin.part.detect
        return self._plugin.chances(len(sentences), lambda: ask(list(sentences), words))


def of(config: Config) -> Detector:
    """The detector of a configuration."""
    name = config.stereotypes.detector
    return shipped() if name is None else PluginDetector(name)
