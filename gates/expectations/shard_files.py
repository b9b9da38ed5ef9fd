"""Reads a pane's shards back from disk, as a whole or one row group at a time.

A shard was written a moment ago. If it cannot be read back, the disk is at fault and not the data,
so every function here raises OSError then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq


def note_kinds(frame: pd.DataFrame, kinds: dict[str, str]) -> pd.DataFrame:
    """Note what the columns hold in the shards, since pandas does not preserve it.

    `frame.attrs` would be copied whenever a column is taken.
    """
    object.__setattr__(frame, "kinds", kinds)
    return frame


def open_shard(path: Path) -> pq.ParquetFile:
    """Open a shard."""
    try:
        return pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise _unreadable(path, error) from error


def row_groups(
    shards: Sequence[Path], files: Sequence[pq.ParquetFile], columns: list[str]
) -> Iterator[pa.Table]:
    """Read some columns, one row group at a time."""
    for path, file in zip(shards, files, strict=True):
        for group in range(file.num_row_groups):
            try:
                found = file.read_row_group(group, columns=columns)
            except pa.ArrowInvalid as error:
                raise _unreadable(path, error) from error
            yield found.select(columns)


def read_whole(shards: Sequence[Path], columns: frozenset[str] | None) -> pd.DataFrame:
    """Read shards as they are."""
    frames: list[pd.DataFrame] = []
    for path in shards:
        file = open_shard(path)
        present = [name for name in file.schema_arrow.names if columns is None or name in columns]
        # Integers with nulls stay integers; as floats, large ids would lose their last digits
        found = row_groups([path], [file], present)
        frames += [group.to_pandas(integer_object_nulls=True) for group in found]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def column_kinds(files: Sequence[pq.ParquetFile], columns: Sequence[str]) -> dict[str, str]:
    """Find out what columns hold."""
    out = dict[str, str]()
    schemas = [file.schema_arrow for file in files]  # it is made at each call
    for name in columns:
        types = [each.field(name).type for each in schemas if each.get_field_index(name) >= 0]
        if types and len(types) == len(files):
            out[name] = " and ".join(sorted({_kind(each) for each in types}))
    return out


def _kind(type_: pa.DataType) -> str:
    """A type of Arrow in words."""
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "text"
    return "integer" if pa.types.is_integer(type_) else str(type_)


def _unreadable(path: Path, error: Exception) -> OSError:
    """The error for a shard that cannot be read back."""
    return OSError(f"{path}: does not read back as it was written: {error}")
