"""A metric for lm-eval: how unevenly the texts that a model writes name the groups of an attribute.

A task takes it from the file utils.py beside it:

    from evenflow.lm_eval import Representation

    gender = Representation("gender")
    process_results, dr = gender.process_results, gender.dr

lm-eval itself is not imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from evenflow.annotator import Annotator
from evenflow.document_dr import target_of
from evenflow.settings import Configuration
from evenflow.transforms.measures.representation.dr import demographic_representation


class Representation:
    """The DR of all answers to the prompts of a task, as one corpus.

    Args:
        attribute: The attribute.
        config: As for `evenflow.measure`.

    Attributes:
        metric: The metric's name, ATTRIBUTE_dr.

    Raises:
        ConfigError: The configuration cannot be used, or does not have the attribute.
    """

    def __init__(self, attribute: str, config: Configuration = None):
        self._annotator = Annotator(config, attributes=() if config else (attribute,))
        self.metric, self._attribute = f"{attribute}_dr", attribute
        self._target = target_of(self._annotator, attribute)

    def process_results(
        self, doc: Mapping[str, Any], results: Sequence[str]
    ) -> dict[str, list[int]]:
        """Count the mentions of each group in the answers to one prompt.

        Args:
            doc: The prompt; it is not counted.
            results: The answers.

        Returns:
            The metric's name with the counts, for `dr`.

        Raises:
            TextError: An answer is no text.
        """
        rows = [
            list(each.counts[self._attribute].values())
            for each in self._annotator.annotate_many(results)
        ]
        return {self.metric: np.sum(rows, axis=0, dtype=int).tolist()}

    def dr(self, items: Iterable[Sequence[int]]) -> float:
        """The DR of all answers, 0 (even) to 1.

        Args:
            items: Counts of each prompt.

        Returns:
            DR; NaN where no answer names a group.
        """
        found = demographic_representation(np.sum(list(items), axis=0).tolist(), self._target)
        return float("nan") if found is None else found
