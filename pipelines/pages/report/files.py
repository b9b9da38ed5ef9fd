"""Opens files that a ledger names, and reads rows of them."""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenflow.transforms.storage.storage import Storage


def names_a_file(name: str) -> bool:
    """Whether a name is that of a file in a folder, and leads nowhere else."""
    return name.isprintable() and name not in ("", ".", "..") and not set(name) & set("/\\")


def open_named(storage: Storage, folder: str, name: str) -> BinaryIO:
    """Open a file of an output.

    Args:
        name: Its name, as the ledger has it. A ledger may come from elsewhere, so the name may lead
            nowhere else.

    Raises:
        OSError: It cannot be opened, or the name is that of no file in the folder.
    """
    if not names_a_file(name):
        raise OSError(errno.EINVAL, "not the name of a file", name)
    return storage.open(f"{folder}/{name}")


def rows(
    storage: Storage,
    place: tuple[str, str],
    keys: Sequence[str],
    chosen: Callable[[pa.Table], Any],
    unread: list[str],
    columns: Sequence[str] | None = None,
    ids: Collection[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Read rows of a Parquet file of an output.

    Args:
        place: Its folder and name, as the ledger has them.
        keys: Columns by which rows are chosen; the first has the ids.
        chosen: Which rows are wanted, from these columns.
        unread: Gets the file's name if it cannot be read.
        columns: What is read of the rows; None: all columns.
        ids: Row groups without any of these, by their statistics, are left out.
    """
    try:
        with open_named(storage, *place) as source, closing(pq.ParquetFile(source)) as file:
            for column in columns or ():
                file.schema_arrow.field(column)  # to read what is not there raises nothing
            for group in range(file.num_row_groups):
                if ids is not None and not _may_have(file, group, keys[0], ids):
                    continue
                mask = chosen(file.read_row_group(group, keys))
                if pc.any(mask).as_py():
                    yield from file.read_row_group(group, columns).filter(mask).to_pylist()
    except (OSError, pa.ArrowException, KeyError):  # KeyError: a column is not there
        unread.append("/".join(place))


def _may_have(file: pq.ParquetFile, group: int, column: str, ids: Collection[str]) -> bool:
    """Whether a row group may have one of some ids, by its statistics."""
    names = file.schema_arrow.names
    if column not in names:
        raise KeyError(column)
    # The columns of a file are its leaves: before the ids there is none that has several
    stats = file.metadata.row_group(group).column(names.index(column)).statistics
    if stats is None or not stats.has_min_max or not isinstance(stats.min, str):
        return True
    low, high = stats.min.encode(), stats.max.encode()
    return any(low <= each.encode("utf-8", "replace") <= high for each in ids)


def with_ids(
    storage: Storage,
    place: tuple[str, str],
    column: str,
    ids: Collection[str],
    unread: list[str],
    columns: Sequence[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Read the rows of a Parquet file that have some ids (see `rows`)."""

    def chosen(table: pa.Table) -> Any:
        return pc.is_in(table[column].cast(pa.string()), pa.array(ids, pa.string()))

    return rows(storage, place, [column], chosen, unread, columns, ids)
