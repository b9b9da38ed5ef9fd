"""The ledger as a table: a row for each pane and attribute, for a data frame or a warehouse."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenflow.gates.ledger.history import History
from evenflow.schemas.ledger import AttributeEntry, PaneEntry, Score

if TYPE_CHECKING:
    import pyarrow as pa

WINDOWS = ("pane", "rolling", "cumulative")
ROWS = 10_000  # of a batch


def schema() -> pa.Schema:
    """The columns."""
    import pyarrow as pa

    by_group = pa.map_(pa.string(), pa.float64())
    return pa.schema(
        [
            ("pane", pa.int64()),
            ("attribute", pa.string()),
            ("epoch", pa.int32()),
            ("span_start", pa.timestamp("ms", "UTC")),  # of a topic
            ("documents", pa.int64()),
            ("sentences", pa.int64()),
            ("relevant_sentences", pa.int64()),
            ("dead", pa.int64()),
            ("input_bytes", pa.int64()),
            ("folder", pa.string()),  # where the pane counts, with the decisions of people
            ("pane_verdict", pa.string()),
            ("verdict", pa.string()),
            ("reason", pa.string()),
            ("target", by_group),
            ("mentions", by_group),
            *(
                (f"{window}_{name}", kind)
                for window in WINDOWS
                for name, kind in (
                    ("dr", pa.float64()),
                    ("corrected", pa.float64()),
                    ("low", pa.float64()),
                    ("high", pa.float64()),
                    ("mentions", pa.int64()),
                    ("documents", pa.int64()),
                )
            ),
        ]
    )


def rows(history: History) -> Iterator[dict[str, Any]]:
    """Yield the rows of a ledger, by pane and attribute. Raises LedgerError and OSError."""
    for entry in history:
        for name in sorted(entry.attributes):
            yield _row(history, entry, name, entry.attributes[name])


def write(history: History, to: Path) -> int:
    """Write the rows as Parquet, in one step; returns their number. Raises LedgerError, OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns, found, count = schema(), rows(history), 0
    part = to.absolute().with_name(f"{to.name}.part")  # a colon in a relative name makes an address
    with pq.ParquetWriter(part, columns, compression="zstd") as writer:
        while some := list(islice(found, ROWS)):
            writer.write_table(pa.Table.from_pylist(some, schema=columns))
            count += len(some)
    part.replace(to)
    return count


def _row(history: History, entry: PaneEntry, name: str, of: AttributeEntry) -> dict[str, Any]:
    """The row of an attribute of a pane."""
    return {
        "pane": entry.pane,
        "attribute": name,
        "epoch": entry.epoch,
        "span_start": None if entry.stream is None else entry.stream.span,
        "documents": entry.documents,
        "sentences": entry.sentences,
        "relevant_sentences": of.relevant_sentences,
        "dead": entry.dead,
        "input_bytes": entry.input_bytes,
        "folder": history.folder(entry),
        "pane_verdict": entry.verdict.state,
        "verdict": of.verdict.state,
        "reason": of.verdict.reason,
        "target": list(zip(of.groups, map(float, of.target), strict=True)),
        "mentions": list(zip(of.groups, map(float, of.sums.counts), strict=True)),
        **{
            f"{window}_{key}": value
            for window in WINDOWS
            for key, value in _score(getattr(of, window)).items()
        },
    }


def _score(score: Score) -> dict[str, float | int | None]:
    """The figures of a score."""
    return score.model_dump()
