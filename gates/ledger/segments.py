"""Compacted parts of the ledger: segments with the entries of EVERY panes, and the checkpoint.

ledger/checkpoint.json                 sums of the panes that are in segments (totals.Totals)
ledger/segments/FIRST-LAST.parquet     entries of EVERY panes; each row is the JSON of PANE.json
ledger/segments/FIRST-LAST.spans.json  summary of these panes by hours, for charts (spans.Span)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import ValidationError

from evenflow.gates.ledger import spans
from evenflow.gates.ledger.files import (
    LedgerError,
    canonical,
    parsed,
    refuse_newer,
)
from evenflow.gates.ledger.spans import Span
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.guards import is_list
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.storage.storage import Place, at

# Panes in a segment. Fewer panes give more files; more make a start slower (2 ms an entry).
EVERY = 256
CHECKPOINT = "ledger/checkpoint.json"


def read_checkpoint(root: Place) -> Totals | None:
    """Read the last checkpoint."""
    storage = at(root)
    data: Any = None
    try:
        data = parsed(storage.read(CHECKPOINT))
        # Sums of format 1 have no version; the entries in segments give them anew
        return None if "version" not in data else Totals.model_validate(data)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, ValidationError):
            refuse_newer(data, storage.address(CHECKPOINT), error)
        raise LedgerError(
            f"{storage.address(CHECKPOINT)}: not a checkpoint: {error}; `evenflow gate verify"
            " --rebuild` makes it anew"
        ) from error


def write_checkpoint(root: Place, totals: Totals) -> None:
    """Replace the checkpoint; it is durable when this returns."""
    at(root).write(CHECKPOINT, canonical(totals.model_dump(mode="json")))


def checkpoint_panes(root: Place) -> int:
    """Number of panes that are in segments."""
    try:
        return int(parsed(at(root).read(CHECKPOINT))["panes"])
    except FileNotFoundError:
        return 0
    except (ValueError, KeyError, TypeError) as error:
        raise LedgerError(f"{at(root).address(CHECKPOINT)}: not a checkpoint: {error}") from error


def segment_name(first: int) -> str:
    """File of the segment that begins with a pane; the names sort as the panes do, up to 10^12."""
    return f"ledger/segments/{first:012d}-{first + EVERY - 1:012d}.parquet"


def _spans_name(first: int) -> str:
    """File of a segment's spans."""
    return segment_name(first).replace(".parquet", ".spans.json")


def write_segment(
    root: Place, first: int, raw: Sequence[bytes], entries: Sequence[PaneEntry]
) -> None:
    """Write a segment and its spans; both are durable when this returns."""
    # Imported here, because most commands read the ledger and write no segment
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    table = pa.table(
        {
            "pane": pa.array(range(first, first + len(raw)), pa.int64()),
            "entry": pa.array(raw, pa.large_binary()),
        }
    )
    pq.write_table(table, sink, compression="zstd", use_dictionary=False, write_statistics=["pane"])
    hours = spans.grouped(map(spans.from_entry, entries), spans.HOUR)
    storage = at(root)
    storage.write(_spans_name(first), orjson.dumps([each.model_dump() for each in hours]))
    storage.write(segment_name(first), sink.getvalue().to_pybytes())


def read_segment(root: Place, first: int) -> list[bytes]:
    """Read a segment."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    storage, name = at(root), segment_name(first)
    try:
        raw = pa.BufferReader(storage.read(name))
        return pq.read_table(raw, columns=["entry"]).column(0).to_pylist()
    except (FileNotFoundError, pa.ArrowException) as error:
        raise LedgerError(
            f"{storage.address(name)}: not a segment of the ledger: {error}"
        ) from error


def read_spans(root: Place, first: int) -> list[Span]:
    """Read the spans of the segment that begins with a pane.

    Returns the segment's panes, by hours.
    """
    storage, name = at(root), _spans_name(first)
    try:
        found = parsed(storage.read(name))
        if not is_list(found):
            raise ValueError("a list was expected")
        return [Span.model_validate(each) for each in found]
    except ValueError as error:
        raise LedgerError(f"{storage.address(name)}: not spans of panes: {error}") from error
