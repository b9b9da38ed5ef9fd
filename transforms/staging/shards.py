"""Puts a pane's staged blocks together, in source order, into Parquet shards; and names and digests
what it wrote.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenflow.schemas import documents
from evenflow.schemas.ledger import Shard
from evenflow.transforms.io import fields

# A row group ends with either: it bounds the memory of writing, and of whoever reads the shard.
ROW_GROUP = 20_000  # documents
ROW_GROUP_BYTES = 16 << 20  # of text


def seal(path: Path) -> None:
    """Make a closed file's contents durable."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def described(path: Path, rows: int) -> Shard:
    """The ledger's record of a closed file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Shard(name=path.name, rows=rows, bytes=path.stat().st_size, sha256=digest)


def write_block(table: pa.Table, path: Path) -> None:
    """A block's table as an Arrow file; replay writes the same name again."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def replace_block(table: pa.Table, path: Path) -> None:
    """Put a table in the place of a block's, which may still be mapped into memory."""
    new = path.with_suffix(".new")
    write_block(table, new)
    new.replace(path)


def read_block(path: Path) -> pa.Table:
    """What write_block wrote, mapped into memory."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


@dataclass(frozen=True)
class ShardLayout:
    """How shards are laid out.

    attributes: whose mentions they hold. text, identity: names of these columns. rows: most
    documents a shard.
    """

    attributes: tuple[documents.Attribute, ...]
    text: str
    identity: str
    rows: int


def shard_name(pane: int, shard: int) -> str:
    """The file of a pane's shard."""
    return f"part-{pane:08d}-{shard:04d}.parquet"


def write_shards(
    staged: Sequence[Path], folder: Path, pane: int, layout: ShardLayout
) -> list[Shard]:
    """Shards of a pane from its staged blocks, given in source order, as
    folder/part-PANE-SHARD.parquet, durable.

    They do not depend on how the blocks were cut. Raises OSError.
    """
    own = {"id", "text", "ordinal", *documents.own_columns(layout.attributes)}
    first = 3 + len(documents.own_columns(layout.attributes))  # where a block's other fields begin
    others = fields.unify([_others(read_block(path), first) for path in staged])
    schema = documents.shard_schema(layout.attributes, others, layout.text, layout.identity)
    plain = [column.name for column in schema if column.name != layout.text]

    def tables() -> Iterator[pa.Table]:
        for path in staged:
            block = read_block(path)
            rest = block.select(list(range(first, block.num_columns)))
            columns = [
                block.column(0),
                block.column(1),
                *fields.convert(rest, list(rest.schema), others),
            ]
            yield pa.Table.from_arrays(
                [*columns, *(block.column(i) for i in range(3, first))], schema=schema
            )

    assert len(own) == first
    shards: list[Shard] = []
    writer: pq.ParquetWriter | None = None
    path, rows = folder, 0
    for group in _row_groups(tables(), schema, layout.rows):
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
            seal(path)
            shards.append(described(path, rows))
            writer = None
    if writer is not None:
        writer.close()
        seal(path)
        shards.append(described(path, rows))
    return shards


def _others(block: pa.Table, first: int) -> list[tuple[pa.Field, pa.ChunkedArray]]:
    return [(block.schema.field(i), block.column(i)) for i in range(first, block.num_columns)]


def _row_groups(tables: Iterator[pa.Table], schema: pa.Schema, most: int) -> Iterator[pa.Table]:
    """Row groups, full but for the last and the last of each shard of `most` documents."""
    pending: list[pa.Table] = []
    rows = size = in_shard = 0
    for table in tables:
        lengths = pc.call_function("binary_length", [table.column(1)]).to_numpy().astype(np.int64)
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
