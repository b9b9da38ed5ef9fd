"""Panes for the tests of the checks: shards as the gate writes them, and the figures that its
ledger has of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pane_entries import attribute_entry

from evenflow.gates.expectations import results as outcomes
from evenflow.gates.expectations.checks import PaneChecks
from evenflow.schemas.documents import mentions
from evenflow.schemas.ledger import AttributeEntry, Checks
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.representation.dr import score, sums
from evenflow.wordlists import loader

LISTS = [loader.load(name) for name in ("gender", "age")]
TEXTS = (
    "She asked her brother about the old man.",
    "He said that his father was there.",
    "Nothing is named in this one.",
    "The women and the men of the town; a young one.",
)


def pane(
    texts: Sequence[str] = TEXTS, **more: Sequence[Any]
) -> tuple[pa.Table, dict[str, AttributeEntry]]:
    """The table of a pane's shards, and its attributes' figures. more: other fields of the
    documents.
    """
    columns: dict[str, Any] = {
        "id": pa.array([f"doc-{number}" for number in range(len(texts))], pa.string()),
        "text": pa.array(texts, pa.large_string()),
        **more,
    }
    attributes: dict[str, AttributeEntry] = {}
    found = [LabelFinder(LISTS).find(text) for text in texts]
    for words in LISTS:
        counts = np.array(
            [
                [
                    sum((m.attribute, m.group) == (words.attribute, group) for m in each)
                    for group in words.groups
                ]
                for each in found
            ],
            np.int64,
        ).reshape(len(texts), len(words.groups))
        for number, group in enumerate(words.groups):
            columns[mentions(words.attribute, group)] = pa.array(counts[:, number], pa.int32())
        attributes[words.attribute] = entry(words.groups, counts)
    return pa.table(columns), attributes


def entry(groups: Sequence[str], counts: np.ndarray) -> AttributeEntry:
    """The ledger's figures of an attribute, from (D, M) counts."""
    total, target = sums(counts), [1 / len(groups)] * len(groups)
    return attribute_entry(total, score(total, target), groups=list(groups), target=target)


def write(folder: Path, *tables: pa.Table, rows: int = 2) -> list[Path]:
    """Shards with the tables, in row groups of so many rows."""
    paths = [folder / f"part-{number:04d}.parquet" for number in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        pq.write_table(table, path, row_group_size=rows)
    return paths


def changed(table: pa.Table, column: str, values: Mapping[int, Any]) -> pa.Table:
    """A table with other values in some rows of a column."""
    new = [values.get(row, value) for row, value in enumerate(table.column(column).to_pylist())]
    return replaced(table, column, pa.array(new, table.schema.field(column).type))


def replaced(table: pa.Table, column: str, values: pa.Array) -> pa.Table:
    """A table with another column of a name."""
    return table.set_column(table.column_names.index(column), column, values)


class KeptChecks(PaneChecks):
    """Checks whose results are stored in an output at once, as a committer does."""

    def __init__(self, root: Path, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self.root = root

    def run(
        self,
        pane: int,
        shards: Sequence[Path],
        attributes: Mapping[str, AttributeEntry],
        documents: int,
        sentences: tuple[Path, int] | None = None,
    ) -> Checks:
        """Check a pane against the figures of its attributes."""
        sums = {
            mentions(name, group): count
            for name, each in attributes.items()
            for group, count in zip(each.groups, each.sums.counts, strict=True)
        }
        checked, results = self.check(pane, shards, sums, documents, sentences)
        outcomes.keep(self.root, pane, results)
        return checked
