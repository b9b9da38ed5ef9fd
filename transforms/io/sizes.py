"""How many bytes the rows of a table are once nothing in them is shared.

Arrow counts a value that many rows share once: in a dictionary, in runs, in views of one buffer.
Each row's text is a text of its own as soon as it is read, so lengths of texts count here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Index = npt.NDArray[np.int64]
OBJECT_BYTES = 64  # of a list, an object or a text in Python, beside its values
VALUE_BYTES = 16  # the least of a value in a list or an object: even a null is pointed at


def table_bytes(rows: pa.Table | pa.RecordBatch) -> int:
    """Count the bytes of rows, shared values as often as they are used."""
    return sum(_column_bytes(column) for column in rows.columns)


def _column_bytes(column: Any) -> int:
    """The bytes of a column: Arrow's own number where nothing can be shared or nested."""
    kind = column.type
    if not (_is_shared(kind) or pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType)):
        return column.nbytes
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return sum(int(value_bytes(chunk).sum()) for chunk in chunks)


def _is_shared(kind: pa.DataType) -> bool:
    """Whether rows of a type can share a value's bytes."""
    types: Any = pa.types
    return (
        types.is_dictionary(kind)
        or types.is_run_end_encoded(kind)
        or types.is_string_view(kind)
        or types.is_binary_view(kind)
    )


def value_bytes(values: Any) -> Index:
    """Count the bytes of each value of an array (n,), about as Python holds it."""
    kind, types = values.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return value_bytes(values.storage)
    if types.is_dictionary(kind):
        own = np.append(value_bytes(values.dictionary), VALUE_BYTES)
        numbers = pc.fill_null(values.indices.cast(pa.int64()), len(own) - 1)
        return own[numbers.to_numpy(zero_copy_only=False)]
    if types.is_run_end_encoded(kind):
        ends = np.asarray(values.run_ends)
        at = np.arange(values.offset, values.offset + len(values))
        return value_bytes(values.values)[np.searchsorted(ends, at, side="right")]
    if types.is_struct(kind):
        fields = (value_bytes(values.field(i)) for i in range(kind.num_fields))
        return sum(fields, np.full(len(values), OBJECT_BYTES * (1 + kind.num_fields), np.int64))
    if types.is_fixed_size_list(kind):
        inner = value_bytes(values.values)[values.offset * kind.list_size :]
        inner = inner[: len(values) * kind.list_size].reshape(len(values), kind.list_size)
        return OBJECT_BYTES + inner.sum(axis=1)
    if types.is_list_view(kind) or types.is_large_list_view(kind):
        begin = np.asarray(values.offsets, np.int64)
        return _spans(_sums(values.values), begin, begin + np.asarray(values.sizes, np.int64))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_map(kind):
        edges = np.asarray(values.offsets, np.int64)
        if not types.is_map(kind):
            return _spans(_sums(values.values), edges[:-1], edges[1:])
        sums = _sums(values.keys) + _sums(values.items)
        return _spans(sums, edges[:-1], edges[1:]) + OBJECT_BYTES * np.diff(edges)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        lengths = (0 if each is None else len(each.as_buffer()) for each in _scalars(values))
        return OBJECT_BYTES + np.fromiter(lengths, np.int64, len(values))
    return _leaf_bytes(values)


def _scalars(values: Any) -> Iterator[Any]:
    """The scalars of an array; None for a null."""
    return (each if each.is_valid else None for each in values)


def _sums(values: Any) -> Index:
    """The bytes of the values before each value, and of all, (n + 1,)."""
    return np.concatenate(([0], np.cumsum(value_bytes(values))))


def _spans(sums: Index, begin: Index, end: Index) -> Index:
    """The bytes of lists, by where their values begin and end."""
    return OBJECT_BYTES + sums[end] - sums[begin]


def _leaf_bytes(values: Any) -> Index:
    """The bytes of texts, or of values of one width."""
    try:
        lengths = pc.binary_length(values)
    except pa.ArrowNotImplementedError:
        return np.full(len(values), max(VALUE_BYTES, values.nbytes // max(len(values), 1)))
    known = pc.fill_null(lengths.cast(pa.int64()), 0)
    return known.to_numpy(zero_copy_only=False) + OBJECT_BYTES
