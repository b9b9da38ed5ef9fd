"""Reads Arrow files (IPC files and streams, Feather) in tables of some rows, batch by batch.

A batch has no limit of its own, and Arrow decodes it as a whole. So the process is under a limit
meanwhile, as for Parquet. A batch that does not fit ends the file with a fault.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from evenflow.transforms.io.parquet import broken_data, limited
from evenflow.transforms.io.tables import mended, plain_rows, refuse_doubles

DECODED_BYTES = 192 << 20  # the most memory of a batch: 65,536 rows, as pandas writes, of some 3 kB
MAGIC = b"ARROW1"  # begins a file; a stream begins with its first message


def batches(
    raw: Any, most_bytes: int, most_rows: int, start: int = 0, part: tuple[int, int] = (0, 1)
) -> Iterator[tuple[int, pa.Table, int]]:
    """Read a file's rows in tables, each of one batch, as `parquet.row_groups` does.

    A stream has no table of its batches, so that its first part has them all.

    `most_bytes`: The most bytes of a table, unless one row has more.

    Yields the ordinal of the first row, a table, and about how many of the file's bytes were read
    up to its end.
    """
    (number, parts), done, pool = part, 0, pa.system_memory_pool()
    with broken_data():
        head = raw.read(len(MAGIC))
        size = raw.seek(0, os.SEEK_END)
        raw.seek(0)
        if head == MAGIC:
            with _decoding():
                file = pa.ipc.open_file(raw, memory_pool=pool)
            count = file.num_record_batches
            # Rows before the first are counted where they may be asked for
            numbers = range(0 if start else count * number // parts, count * (number + 1) // parts)
            source = (_read(lambda at=at: file.get_batch(at)) for at in numbers)
        else:
            with _decoding():
                file = pa.ipc.open_stream(raw, memory_pool=pool)
            count, numbers = None, range(1 << 62 if number == 0 else 0)
            source = (_read(file.read_next_batch) for _ in numbers)
        refuse_doubles(file.schema)
        for batch in source:
            if batch is None:
                return
            stored = raw.tell() if count is None else size * (number + 1) // parts
            for each in plain_rows(batch, most_bytes, most_rows):
                if done + each.num_rows > start:
                    yield done, each, min(stored, size)
                done += each.num_rows


def _read(read: Any) -> pa.RecordBatch | None:
    """Read a batch, whose places of values are checked; None at the end."""
    try:
        with _decoding():
            batch = read()
    except StopIteration:
        return None
    for column in batch.columns:
        mended(column)  # raises where places of values are not within their bytes
    return batch


@contextmanager
def _decoding() -> Iterator[None]:
    """Limit the memory that Arrow takes within the block; what needs more is a fault."""
    try:
        with limited(DECODED_BYTES):
            yield
    except MemoryError as error:
        text = f"a message needs more than {DECODED_BYTES >> 20} MiB of memory; write fewer rows"
        raise EOFError(text) from error
