"""Bars exchanges in sentences that may state a stereotype.

A counterfactual of “all muslims are bad” hands the stereotype to another group. Only sentences
without a stereotype are balanced (main paper, 4.1), whatever else is done about stereotypes.
"""

from __future__ import annotations

from collections.abc import Sequence

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.stereotypes import detect
from evenflow.transforms.measures.stereotypes.calibration import THRESHOLD
from evenflow.transforms.measures.stereotypes.detect import Detector
from evenflow.transforms.measures.stereotypes.judging import find_candidates
from evenflow.transforms.measures.stereotypes.masking import widened
from evenflow.transforms.staging.sentence_table import Relevant
from evenflow.transforms.substitution.sets import Set
from evenflow.wordlists.loader import WordList


class StereotypeBar:
    """Says whether sets stand in a sentence that may state a stereotype.

    That is a sentence for which the detector gives THRESHOLD or more, for any attribute whose
    groups the sentence names. The answer depends on these sentences alone.

    Args:
        lists: Word lists of the attributes whose stereotypes are looked for.
        detector: By default the shipped detector.

    Raises:
        ModelError: The shipped detector cannot be loaded.
    """

    def __init__(self, lists: Sequence[WordList], detector: Detector | None = None):
        self._finder = LabelFinder([widened(words) for words in lists])
        self._detector = detector or detect.shipped()

    def bars(self, text: str, proposed: Set) -> bool:
        """Whether a set may not be exchanged.

        Args:
            text: The document.
            proposed: The set.

        Returns:
            Whether one of its sentences may state a stereotype.
        """
        read = [Relevant(0, text[a:b], [(0, b - a)], ()) for a, b in proposed.spans]
        found = list(find_candidates(self._finder, read))
        chances = self._detector.detect(
            [read[each.document].text for each in found], [each.spans for each in found]
        )
        return any(chance is not None and chance >= THRESHOLD for chance in chances)
