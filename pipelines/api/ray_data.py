"""Functions for `map_batches` of Ray Data: counts of each row, and sums that score a data set.

    counted = data.map_batches(CountMentions, concurrency=(1, 4), batch_format="pyarrow")
    sums = data.map_batches(SumMentions, concurrency=(1, 4), batch_format="pyarrow")
    measurement(sums.take_all())

They take and give tables of Arrow and import nothing of Ray, so other tools that map batches of
Arrow may call them too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenflow.annotator import Annotation, Annotator
from evenflow.settings import Configuration

if TYPE_CHECKING:
    from evenflow.results import Measurement

__all__ = ["CountMentions", "SumMentions", "measurement"]
SUMS = "evenflow"  # the column of the sums, as JSON


class _Batches:
    """Annotates the texts of batches; built once an actor."""

    def __init__(self, config: Configuration = None, text: str = "text"):
        self.annotator, self._text = Annotator(config), text

    def annotations(self, batch: pa.Table) -> Iterable[Annotation]:
        """The annotations of a batch's rows. Raises TextError where one has no text."""
        return self.annotator.annotate_many(batch[self._text].to_pylist())


class CountMentions(_Batches):
    """Adds a column for each group: mentions_gender_female and so on."""

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Count in a batch. Raises TextError where a row has no text."""
        found = list(self.annotations(batch))
        for words in self.annotator.finder.lists:
            for group in words.groups:
                counts = [each.counts[words.attribute][group] for each in found]
                batch = batch.append_column(
                    f"mentions_{words.attribute}_{group}", pa.array(counts, pa.int64())
                )
        return batch


class SumMentions(_Batches):
    """Gives one row for a batch, with its sums; `measurement` adds them up."""

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Sum a batch up. Raises TextError where a row has no text."""
        total = self.annotator.summarise(self.annotations(batch))
        return pa.table({SUMS: [json.dumps(total.to_dict())]})


def measurement(rows: Iterable[Mapping[str, Any]], config: Configuration = None) -> Measurement:
    """Score what `SumMentions` gave.

    Args:
        rows: Its rows, in any order.

    Returns:
        What `evenflow.measure` returns of the same documents.
    """
    return Annotator(config).summary(*(json.loads(row[SUMS]) for row in rows)).measurement()
