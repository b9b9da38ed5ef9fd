"""Sets aside the documents of sources that have shifted, once a pane is judged (gate.scope)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.schemas.config import Config
from evenflow.schemas.documents import ORDINAL, Figures
from evenflow.schemas.ledger import Shard
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.records import Documents
from evenflow.transforms.measures.shift.measure import Shift, block_from
from evenflow.transforms.measures.shift.strata import OTHER, StratumCounter
from evenflow.transforms.staging.aside import aside_name, reason_column
from evenflow.transforms.staging.block import field_values, source_file
from evenflow.transforms.staging.shards import Outside
from evenflow.transforms.storage.storage import Storage

if TYPE_CHECKING:
    from evenflow.pipelines.engine.panes.closing import Ready

Runs = list[tuple[str, int]]  # strata of rows in their order, with the number of rows


def is_on(config: Config) -> bool:
    """Whether documents of a source may be set aside."""
    may_block = config.gate.scope == "source" and block_from(config) is not None
    return may_block and not config.has_weights


def runs(tables: Iterable[pa.Table], config: Config) -> Runs:
    """The strata of a pane's staged documents, in their order; empty where they do not matter."""
    if not is_on(config):
        return []
    counter = StratumCounter(config.reference.by, ())
    names: list[str] = []
    for table in tables:
        places = table[ORDINAL.name].to_pylist()
        found = Documents(source_file(table), places=places, fields=field_values(table))
        names += counter.names(found, 0, len(places))
    return [(name, sum(1 for _ in same)) for name, same in groupby(names)]


def split(
    output: Storage, folder: str, pane: int, ready: Ready, shift: Shift, annotator: Annotator
) -> Ready | None:
    """Take the documents of the sources that a pane's shift blocks out of its shards.

    Args:
        output: The output.
        folder: The pane's folder in it, whose files are written anew.
        pane: The pane's number.
        ready: The pane.
        shift: What was judged of its sources.
        annotator: Counts what stays.

    Returns:
        The rest of the pane; None if nothing would stay.

    Raises:
        OSError: A file cannot be read or written.
    """
    gone = {*shift.blocked()}
    # The sources that came last may have been judged together
    judged = [(name if name in shift.strata else OTHER, rows) for name, rows in ready.strata]
    kept = np.repeat([name not in gone for name, _ in judged], [rows for _, rows in judged])
    if not kept.any():
        return None
    text, identity, own = annotator.config.fields.column, annotator.config.fields.id, annotator.own
    total, left, moved, at = Figures(), dict[str, pa.Table](), list[pa.Table](), 0
    for shard in ready.shards:
        table = pq.read_table(BytesIO(output.read(f"{folder}/{shard.name}")))
        stays = kept[at : at + table.num_rows]
        at += table.num_rows
        names = [name for name in table.column_names if name not in own]
        moved.append(table.filter(pa.array(~stays)).select(names))
        table = table.filter(pa.array(stays))
        if table.num_rows:
            left[shard.name] = table
            others = [name for name in names if name not in (text, identity)]
            read = Documents(
                "",
                table[identity].to_pylist(),
                table[text].to_pylist(),
                list(range(table.num_rows)),
                {table.schema.field(name): table[name].combine_chunks() for name in others},
            )
            total.add(annotator.mentions.count(read).figures)
    total.take_reading(ready.figures)
    outside = Outside()
    for table in left.values():
        outside.add(table)
    outside.note(total)
    return replace(
        ready,
        figures=total,
        shards=[_write(output, folder, name, table) for name, table in left.items()],
        set_aside=_aside(output, folder, pane, ready.set_aside, moved, shift.verdict.reason),
        repairs={
            name: {**each, "mentions": total.attributes[name].counts}
            for name, each in ready.repairs.items()
        },
    )


def _aside(
    output: Storage,
    folder: str,
    pane: int,
    before: Shard | None,
    moved: list[pa.Table],
    reason: str,
) -> Shard:
    """Write the documents that are set aside, behind those that were before."""
    table = pa.concat_tables(moved, promote_options="permissive")
    column = reason_column(table.column_names)
    said = pa.array([f"gate.scope: source: {reason}"] * table.num_rows, pa.string())
    table = table.append_column(column, said)
    if before is not None:
        first = pq.read_table(BytesIO(output.read(f"{folder}/{before.name}")))
        table = pa.concat_tables([first, table], promote_options="permissive")
    return _write(output, folder, aside_name(pane), table)


def _write(output: Storage, folder: str, name: str, table: pa.Table) -> Shard:
    """Write a table in the pane's folder; it is durable when this returns."""
    buffer = BytesIO()
    pq.write_table(table, buffer, compression="zstd", compression_level=1)
    data = buffer.getvalue()
    output.write(f"{folder}/{name}", data)
    return Shard(name=name, rows=table.num_rows, bytes=len(data), sha256=sha256(data).hexdigest())
