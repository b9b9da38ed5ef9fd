"""An operator for data-juicer: it counts the mentions of groups and drops uneven documents.

A recipe names this file and the operator; `evenflow.juicer.__file__` is the file's path.

    custom_operator_paths: [/…/evenflow/juicer.py]
    process:
      - demographic_representation_filter: {attribute: gender, max_dr: 0.4}

The module is not called data_juicer, because data-juicer takes the file's name for the module's.
"""

from __future__ import annotations

from typing import Any

from data_juicer.ops.base_op import OPERATORS, Filter
from data_juicer.utils.constant import Fields

from evenflow.document_dr import DocumentDr
from evenflow.settings import Configuration

NAME = "demographic_representation_filter"


class DemographicRepresentationFilter(Filter):
    """Drops documents that name the groups of an attribute too unevenly.

    The stats of a document get evenflow_ATTRIBUTE_GROUP, the mentions of each group, and
    evenflow_ATTRIBUTE_dr, which is null where it has fewer mentions than `min_mentions`; such a
    document is kept. Most texts about one person are uneven alone and even together: with max_dr 1
    the operator only counts.

    Args:
        max_dr: The highest DR of a document that is kept, 0 to 1.
        min_mentions: With fewer mentions there is no DR.
        config: As for `evenflow.measure`; in a recipe a path, or dotted keys with their values.
        **kwargs: Those of every filter of data-juicer, such as text_key.

    Raises:
        ConfigError: The configuration cannot be used, or does not have the attribute.
    """

    _batched_op = True

    def __init__(
        self,
        attribute: str = "gender",
        max_dr: float = 1.0,
        min_mentions: int = 20,
        config: Configuration = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.attribute, self.max_dr, self.min_mentions = attribute, max_dr, min_mentions
        self._dr = DocumentDr(attribute, min_mentions, config)
        self._key = f"evenflow_{attribute}_dr"

    def compute_stats_batched(self, samples: dict[str, Any]) -> dict[str, Any]:
        """Add the stats of documents. Raises TextError where one has no text."""
        texts, stats = samples[self.text_key], samples[Fields.stats]
        for own, found in zip(stats, self._dr.annotator.annotate_many(texts), strict=True):
            for group, count in found.counts[self.attribute].items():
                own[f"evenflow_{self.attribute}_{group}"] = count
            own[self._key] = self._dr.of(found)
        return samples

    def process_batched(self, samples: dict[str, Any]) -> Any:
        """Whether each document is kept, by its stats."""
        for own in samples[Fields.stats]:
            dr = own[self._key]
            yield dr is None or dr <= self.max_dr


if NAME not in OPERATORS.modules:  # data-juicer runs the file again under a name of its own
    OPERATORS.register_module(NAME)(DemographicRepresentationFilter)
