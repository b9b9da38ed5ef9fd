"""Writes the documents of a pane's staged blocks as Parquet shards, in source order."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenflow.schemas import documents
from evenflow.schemas.ledger import Shard
from evenflow.transforms.io import fields, fitting
from evenflow.transforms.io.parts import Paths, written_back
from evenflow.transforms.staging.block import Part, StagedBlock, input_fields

# A row group ends at either limit, which bounds the memory of writers and readers.
ROW_GROUP = 20_000  # documents
ROW_GROUP_BYTES = 16 << 20  # of text
NAMED = 20  # fields outside of the columns that the ledger names


def seal(path: Path, rows: int) -> Shard:
    """Make a closed file durable, and describe it for the ledger.

    Args:
        rows: How many rows it holds.

    Returns:
        Its record: name, rows, size in bytes and SHA-256.

    Raises:
        OSError: The file cannot be read or made durable.
    """
    with path.open("rb") as file:
        os.fsync(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Shard(name=path.name, rows=rows, bytes=path.stat().st_size, sha256=digest)


@dataclass(frozen=True)
class ShardLayout:
    """How shards are laid out.

    Attributes:
        attributes: The attributes whose mentions they hold.
        columns: Columns of the input's other fields in all shards (`fields.unify`), without EXTRA;
            None: those of the pane alone.
        paths: Paths to the texts that a document is made of; None: its text is a field.
    """

    attributes: tuple[documents.Attribute, ...]
    text: str
    identity: str
    rows: int
    columns: Sequence[pa.Field] | None = None
    paths: Sequence[str] | None = None

    def others(self, tables: Iterable[pa.Table]) -> list[pa.Field]:
        """The columns of the other fields, with EXTRA; the tables are a pane's documents."""
        columns = unify_inputs(tables) if self.columns is None else self.columns
        return [*columns, fields.EXTRA]


def shard_name(pane: int, shard: int) -> str:
    """The name of a pane's shard: both are numbers that begin at 0."""
    return f"part-{pane:08d}-{shard:04d}.parquet"


@dataclass
class Outside:
    """Documents with fields outside of the columns, and how many have each field."""

    documents: int = 0
    names: Counter[str] = field(default_factory=Counter[str])

    def add(self, table: pa.Table) -> pa.Table:
        """Count those of a shard, or of a part of it; returns the table."""
        found = table[fields.EXTRA.name].drop_null()
        self.documents += len(found)
        self.names = fields.count_names(self.names, (each.as_py() for each in found))
        return table

    def note(self, figures: documents.Figures) -> None:
        """Write the number of documents, and those of the NAMED most frequent fields."""
        frequent = sorted(self.names.items(), key=lambda each: (-each[1], each[0]))
        figures.extra, figures.outside = self.documents, dict(frequent[:NAMED])


def write_shards(
    blocks: Sequence[StagedBlock],
    folder: Path,
    pane: int,
    layout: ShardLayout,
    give: Callable[[int, pa.Table], pa.Table] | None = None,
    see: Callable[[pa.Table], pa.Table] = lambda group: group,
) -> list[Shard]:
    """Write the shards of a pane, folder/part-PANE-SHARD.parquet, and make them durable.

    They do not depend on how the blocks were cut.

    Args:
        blocks: The pane's blocks in source order. A block without documents adds nothing.
        layout: The columns' names and the length of a shard.
        give: What is written, by the number of a block among those with documents, and its
            documents; None: its documents.
        see: Looks at each row group, and returns it.

    Returns:
        The shards' records, in order.

    Raises:
        OSError: A file cannot be read or written.
    """
    staged = [block for block in blocks if block.has(Part.DOCUMENTS)]
    others = layout.others(block.read(Part.DOCUMENTS) for block in staged)
    schema = documents.shard_schema(layout.attributes, others, layout.text, layout.identity)
    own = documents.own_columns(layout.attributes)
    plain = [column.name for column in schema if column.name != layout.text]

    def tables() -> Iterator[pa.Table]:
        for number, block in enumerate(staged):
            table = block.read(Part.DOCUMENTS)
            table = table if give is None else give(number, table)
            yield pa.Table.from_arrays(
                [
                    *(table[column.name] for column in (documents.ID, documents.TEXT)),
                    *convert_inputs(table, others, layout.paths),
                    *(table[name] for name in own),
                ],
                schema=schema,
            )

    shards: list[Shard] = []
    writer: pq.ParquetWriter | None = None
    path, rows = folder, 0
    for group in map(see, _row_groups(tables(), layout.text, layout.rows)):
        if writer is None:
            path, rows = folder / shard_name(pane, len(shards)), 0
            # The text neither repeats nor is looked up by its least and greatest: no dictionary, no
            # statistics.
            writer = pq.ParquetWriter(
                path,
                schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=plain,  # pyright: ignore[reportArgumentType]
                write_statistics=plain,  # pyright: ignore[reportArgumentType]
            )
        writer.write_table(group, row_group_size=max(group.num_rows, 1))
        rows += group.num_rows
        if rows >= layout.rows:
            writer.close()
            shards.append(seal(path, rows))
            writer = None
    if writer is not None:
        writer.close()
        shards.append(seal(path, rows))
    return shards


def unify_inputs(tables: Iterable[pa.Table]) -> list[pa.Field]:
    """Columns for the input's other fields in some tables (`fields.unify`)."""
    inputs = map(input_fields, tables)
    return fields.unify([list(zip(each.schema, each.columns, strict=True)) for each in inputs])


def convert_inputs(
    table: pa.Table, others: Sequence[pa.Field], paths: Sequence[str] | None = None
) -> list[pa.Array | pa.ChunkedArray]:
    """The input's other fields in a table of D rows, (D,) each, as the columns of a layout.

    `paths`: Those to the parts of the text, which are written back; None: it is a field.
    """
    inputs = input_fields(table)
    if paths is not None:
        columns = dict(zip(inputs.schema, inputs.columns, strict=True))
        made = written_back(Paths(paths), table[documents.TEXT.name].to_pylist(), columns)
        inputs = pa.Table.from_arrays(list(made.values()), schema=pa.schema(list(made)))
    return fitting.convert(inputs, list(inputs.schema), others[:-1])


def _row_groups(tables: Iterator[pa.Table], text: str, most: int) -> Iterator[pa.Table]:
    """Row groups; only the last one of each shard of `most` documents may not be full."""
    pending: list[pa.Table] = []
    rows = size = in_shard = 0
    for table in tables:
        lengths = pc.call_function("binary_length", [table[text]]).to_numpy().astype(np.int64)
        ends = np.cumsum(lengths)
        at = 0
        while at < table.num_rows:
            begun = int(ends[at - 1]) if at else 0
            by_size = int(np.searchsorted(ends, begun + ROW_GROUP_BYTES - size, "right"))
            room = min(ROW_GROUP - rows, most - in_shard)
            stop = min(by_size, at + room, table.num_rows)
            if stop == at and not rows:
                stop = at + 1  # a text longer than a row group has one of its own
            if stop > at:
                pending.append(table.slice(at, stop - at))
                rows, in_shard, size = (
                    rows + stop - at,
                    in_shard + stop - at,
                    size + int(ends[stop - 1]) - begun,
                )
            at = stop
            if at < table.num_rows or rows >= ROW_GROUP or in_shard >= most:
                yield pa.concat_tables(pending).combine_chunks()
                pending, rows, size = [], 0, 0
                in_shard = 0 if in_shard >= most else in_shard
    if pending:
        yield pa.concat_tables(pending).combine_chunks()
