"""Writes what a gate has accepted somewhere else: a folder of Parquet, or a file of JSON lines.

A copy is written beside its place and renamed when it is whole.
"""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.pipelines.accepted.rows import Accepted
from evenflow.schemas.errors import UsageError
from evenflow.schemas.words import counted
from evenflow.transforms.io import fields, fitting

LINES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
FILE_BYTES = 512 << 20  # of the rows in a Parquet file: small enough to share, large enough to scan
CARD = """---
configs:
- config_name: default
  data_files: data/*.parquet
---
{rows} that a gate of Evenflow accepted.
"""


class ExportError(UsageError):
    """A place that cannot be written to; the message says why."""


def export(rows: Accepted, to: Path) -> list[Path]:
    """Write accepted documents.

    Args:
        to: A folder, which gets data/*.parquet and a README.md, so that `datasets.load_dataset`
            reads it; or a file whose name ends with one of LINES. It must not be there.

    Raises:
        ExportError: The place is taken.
        OSError: A file cannot be read or written.
    """
    if to.exists():
        raise ExportError(f"{to}: it is there already; give another name")
    to = to.absolute()  # pyarrow takes a relative name with a colon for an address
    part = to.with_name(f"{to.name}.part")
    if part.is_dir():  # of an export that was killed
        shutil.rmtree(part)
    if to.name.endswith(LINES):
        to.parent.mkdir(parents=True, exist_ok=True)
        _write_lines(rows, part, to.name)
        part.replace(to)
        return [to]
    _write_parquet(rows, part)
    part.replace(to)
    return sorted((to / "data").iterdir())


def _write_parquet(rows: Accepted, folder: Path) -> None:
    """Write Parquet files of one schema, and the card that names them."""
    data = folder / "data"
    data.mkdir(parents=True)
    writer: pq.ParquetWriter | None = None
    number = size = 0
    for batch in rows.batches():
        if writer is None:
            path = data / f"train-{number:05d}.parquet"
            writer = pq.ParquetWriter(path, rows.schema, compression="zstd")
            number, size = number + 1, 0
        writer.write_batch(batch)
        size += batch.nbytes
        if size >= FILE_BYTES:
            writer.close()
            writer = None
    if writer is not None:
        writer.close()
    if not number:
        pq.write_table(rows.schema.empty_table(), data / "train-00000.parquet")
    (folder / "README.md").write_text(
        CARD.format(rows=counted(len(rows), "document")), encoding="utf-8"
    )


def _write_lines(rows: Accepted, path: Path, name: str) -> None:
    """Write a JSON object a line: the record, with the columns that are computed."""
    with _opened(path, name) as file:
        for row in rows:
            file.write(
                fields.to_json(fitting.restored(row, rows.schema), sort=False).encode() + b"\n"
            )


@contextmanager
def _opened(path: Path, name: str) -> Iterator[BinaryIO]:
    """A file for lines, compressed as its name says."""
    with path.open("wb") as raw:
        if name.endswith(".gz"):
            with gzip.open(raw, "wb") as file:
                yield file  # type: ignore[misc] (a gzip file is written to like any other)
        elif name.endswith(".zst"):
            with pa.CompressedOutputStream(raw, "zstd") as file:
                yield file  # type: ignore[misc] (so is a zstd stream)
        else:
            yield raw
