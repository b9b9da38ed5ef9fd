"""Reads Parquet files in tables of some rows, each within a limit of memory.

A few hundred bytes can hold gigabytes: a long value repeated a thousand times by its number, or a
page of zeros. Nothing in the file says how much memory it takes, and Arrow has no limit. So the
process is under a limit while Arrow decodes. What does not fit is decoded again in fewer rows. A
row that does not fit alone ends the file with a fault.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.transforms.io.tables import plain_rows, refuse_doubles

DECODED_BYTES = 48 << 20  # the most memory that decoding a batch of rows may take
FEWER = 16  # how many times fewer rows a batch has after one that did not fit
BUFFER_BYTES = 1 << 20  # how much of a column is read at a time
MOST_COLUMNS = 2000  # that a file may have: each takes memory, however short it is
# What Arrow reserves for each column beside its values, most of it unused. Without room for it
# Arrow ends the process.
COLUMN_BYTES = 128 << 10


@contextmanager
def broken_data() -> Iterator[None]:
    """Turn Arrow's own errors of broken data into an EOFError within the block.

    Arrow raises an OSError without a number for broken data; a failing device has a number. A
    column's name that is no UTF-8 fails when Arrow makes a text of it.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise EOFError(f"a column's name is no text: {error}") from error
    except OSError as error:
        if error.errno is None:
            raise EOFError(str(error)) from error
        raise


@contextmanager
def limited(more: int) -> Iterator[None]:
    """Limit this process's memory within the block, on Linux only.

    The limit holds for other threads too, so it leaves room for small things and lasts for
    milliseconds only.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    with open("/proc/self/status", encoding="ascii", errors="replace") as status:  # noqa: PTH123 (no file of the user's)
        held = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmData:"))
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = held + more
    if soft != resource.RLIM_INFINITY and soft <= wanted:
        yield
        return
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def row_groups(
    raw: Any, most_bytes: int, most_rows: int, start: int = 0, part: tuple[int, int] = (0, 1)
) -> Iterator[tuple[int, pa.Table, int]]:
    """Read a file's rows in tables, each of one row group.

    The tables of a group are the same whether or not others are read.

    `most_bytes`: The most bytes of a table, unless one row has more.

    Yields the ordinal of the first row, a table, and about how many of the file's bytes were read
    up to its end.
    """
    with broken_data():
        file = _open(raw)
        if file.metadata.num_columns > MOST_COLUMNS:
            raise EOFError(f"it has more than {MOST_COLUMNS:,} columns")
        refuse_doubles(file.schema_arrow)
        size, total, done = raw.seek(0, os.SEEK_END), max(file.metadata.num_rows, 1), 0
        rows = _rows_a_table(file, most_bytes, most_rows)
        groups, (number, parts) = file.num_row_groups, part
        read = range(groups * number // parts, groups * (number + 1) // parts)
        # Row groups are read one by one, so that those before a broken one are not lost
        for group in range(groups):
            end = done + file.metadata.row_group(group).num_rows
            if group in read and end > start:
                for batch in _batches(file, group, rows):
                    for table in plain_rows(batch, most_bytes, most_rows):
                        first, done = done, done + table.num_rows
                        yield first, table, size * done // total
            done = end


def _open(raw: Any) -> pq.ParquetFile:
    """Open the file with the system's allocator.

    Arrow's own allocator holds a gigabyte in reserve, to which no limit applies.
    """
    usual = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        return pq.ParquetFile(raw, buffer_size=BUFFER_BYTES, pre_buffer=False)
    finally:
        pa.set_memory_pool(usual)


def _batches(file: pq.ParquetFile, group: int, rows: int) -> Iterator[pa.RecordBatch]:
    """Read a row group in batches of `rows` rows, or of fewer where memory is short."""
    given = 0
    while True:
        left = given
        try:
            for batch in _decode(file, group, rows):
                if batch.num_rows <= left:
                    left -= batch.num_rows
                    continue
                given += batch.num_rows - left
                yield batch.slice(left)
                left = 0
            return
        except MemoryError as error:
            if rows == 1:
                raise EOFError(
                    f"a row of row group {group} needs more than {DECODED_BYTES >> 20} MiB of"
                    " memory"
                ) from error
            rows = max(1, rows // FEWER)


def _decode(file: pq.ParquetFile, group: int, rows: int) -> Iterator[pa.RecordBatch]:
    """Decode a row group in batches of `rows` rows, each under the limit of memory."""
    batches = file.iter_batches(rows, row_groups=[group], use_threads=False)
    more = DECODED_BYTES + COLUMN_BYTES * file.metadata.num_columns
    while True:
        with limited(more):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _rows_a_table(file: pq.ParquetFile, most_bytes: int, most_rows: int) -> int:
    """Estimate how many rows make `most_bytes` bytes, at most `most_rows`."""
    metadata = file.metadata
    stored = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return max(1, min(most_rows, most_bytes * metadata.num_rows // max(stored, 1)))
