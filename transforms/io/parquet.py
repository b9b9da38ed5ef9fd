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

DECODED_BYTES = 48 << 20  # the most memory that decoding a batch of rows may take
FEWER = 16  # how many times fewer rows a batch has after one that did not fit
BUFFER_BYTES = 1 << 20  # how much of a column is read at a time


@contextmanager
def broken_data() -> Iterator[None]:
    """Turn Arrow's own errors of broken data into an EOFError within the block.

    Arrow raises an OSError without a number for broken data; a failing device has a number. A
    column's name that is no UTF-8 fails when Arrow makes a text of it.

    Raises:
        EOFError: The data are broken.
        OSError: The device fails.
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

    Args:
        more: Bytes that the process may take beyond what it has.

    Raises:
        MemoryError: The block needs more.
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

    Args:
        raw: The file, open for reading.
        most_bytes: The most bytes of a table, unless one row has more.
        most_rows: The most rows of a table.
        start: Ordinal of the first row that is asked for; its group is read from the group's start.
        part: Which part of the file's groups is read: its number from 0, and the number of parts.

    Yields:
        The ordinal of the first row, a table, and about how many of the file's bytes were read up
        to its end.

    Raises:
        EOFError: The data are broken, have two columns of one name, or need too much memory.
        OSError: The device fails.
    """
    with broken_data():
        file = _open(raw)
        if double := _find_double(file.schema_arrow):
            raise EOFError(f"two columns are called {double!r}: give each a name of its own")
        size, total, done = raw.seek(0, os.SEEK_END), max(file.metadata.num_rows, 1), 0
        rows = _rows_a_table(file, most_bytes, most_rows)
        groups, (number, parts) = file.num_row_groups, part
        read = range(groups * number // parts, groups * (number + 1) // parts)
        # Row groups are read one by one, so that those before a broken one are not lost
        for group in range(groups):
            end = done + file.metadata.row_group(group).num_rows
            if group in read and end > start:
                for batch in _batches(file, group, rows):
                    for each in _parts(batch, most_bytes):
                        first, done = done, done + each.num_rows
                        yield first, pa.Table.from_batches([each]), size * done // total
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
    while True:
        with limited(DECODED_BYTES):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _parts(batch: pa.RecordBatch, most: int) -> Iterator[pa.RecordBatch]:
    """Halve a batch until each part has at most `most` bytes, or one row."""
    if batch.num_rows <= 1 or batch.nbytes <= most:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _parts(batch.slice(0, half), most)
    yield from _parts(batch.slice(half), most)


def _find_double(schema: Any) -> str | None:
    """Find the first name that two columns have, or two fields of one column."""
    names = [each.name for each in schema]
    for each in schema:
        if names.count(each.name) > 1:
            return each.name
        kind = each.type
        while pa.types.is_list(kind) or pa.types.is_large_list(kind):
            kind = kind.value_type
        if pa.types.is_struct(kind) and (double := _find_double(kind)):
            return double
    return None


def _rows_a_table(file: pq.ParquetFile, most_bytes: int, most_rows: int) -> int:
    """Estimate how many rows make `most_bytes` bytes, at most `most_rows`."""
    metadata = file.metadata
    stored = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return max(1, min(most_rows, most_bytes * metadata.num_rows // max(stored, 1)))
