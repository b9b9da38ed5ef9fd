"""Puts a pane's staged blocks together, in source order, into Parquet shards and a dead-letter file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.schemas.ledger import Shard

ROW_GROUP = 5_000  # documents; bounds the memory of writing and of a reader


def seal(path: Path) -> None:
    """Make a closed file's contents durable."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def described(path: Path, rows: int) -> Shard:
    """The ledger's record of a closed file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Shard(name=path.name, rows=rows, bytes=path.stat().st_size, sha256=digest)


def write_shards(staged: list[Path], folder: Path, pane: int, schema: pa.Schema, rows: int) -> list[Shard]:
    """Shards of a pane from its staged Arrow files, given in source order; each has `rows` documents at most.

    They do not depend on how the blocks were cut. Raises OSError.
    """
    shards: list[Shard] = []
    for number, tables in enumerate(_grouped(staged, schema, rows)):
        path = folder / f"part-{pane:08d}-{number:04d}.parquet"
        count = 0
        with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1) as writer:
            for table in tables:
                writer.write_table(table, row_group_size=ROW_GROUP)
                count += table.num_rows
        seal(path)
        shards.append(described(path, count))
    return shards


def _grouped(staged: list[Path], schema: pa.Schema, rows: int) -> Iterator[Iterator[pa.Table]]:
    """Row groups, those of one shard together; row groups are full but for the shard's last."""
    source = _row_groups(staged, schema, rows)
    ahead = next(source, None)
    while ahead is not None:
        held = ahead

        def shard(first: pa.Table = held) -> Iterator[pa.Table]:
            nonlocal ahead
            count = first.num_rows
            yield first
            ahead = next(source, None)
            while ahead is not None and count < rows:
                count += ahead.num_rows
                yield ahead
                ahead = next(source, None)

        yield shard()


def _row_groups(staged: list[Path], schema: pa.Schema, rows: int) -> Iterator[pa.Table]:
    pending = schema.empty_table()
    in_shard = 0
    size = min(ROW_GROUP, rows)
    for path in staged:
        with pa.ipc.open_file(path) as reader:
            pending = pa.concat_tables([pending, reader.read_all()])
        while pending.num_rows >= size:
            yield pending.slice(0, size).combine_chunks()
            pending = pending.slice(size)
            in_shard = in_shard + size
            if in_shard >= rows:
                in_shard = 0
            size = min(ROW_GROUP, rows - in_shard)
    if pending.num_rows:
        yield pending.combine_chunks()


def write_block(table: pa.Table, path: Path) -> None:
    """A block's table as an Arrow file; replay writes the same name again."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
