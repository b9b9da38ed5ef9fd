"""Makes the rows of files plain: of types that every later step, and every reader, can hold.

Another column than those of text and id never ends a file: what has no plain type becomes JSON
text, and bytes that are no UTF-8 are mended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.transforms.io import fields
from evenflow.transforms.io.sizes import table_bytes

NO_UTF8 = "Invalid UTF8"  # how Arrow's message of such bytes begins, or goes on


def plain_rows(batch: pa.RecordBatch, most_bytes: int, most_rows: int) -> Iterator[pa.Table]:
    """The rows of a batch in tables of at most so many bytes, or one row, with plain types."""
    for at in range(0, batch.num_rows, most_rows):
        for each in _parts(batch.slice(at, most_rows), most_bytes):
            yield _plain_table(each)


def _parts(batch: pa.RecordBatch, most: int) -> Iterator[pa.RecordBatch]:
    """Halve a batch until each part has at most `most` bytes, or one row."""
    if batch.num_rows <= 1 or table_bytes(batch) <= most:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _parts(batch.slice(0, half), most)
    yield from _parts(batch.slice(half), most)


def _plain_table(batch: pa.RecordBatch) -> pa.Table:
    """The rows of a batch, with plain types."""
    columns, values = list[pa.Field](), list[Any]()
    for column, each in zip(batch.schema, batch.columns, strict=True):
        kind = _plain(column.type)
        cast = None
        with suppress(pa.ArrowException):
            made = each if each.type == kind else each.cast(kind)
            made.validate()  # Arrow makes wrong lists of views with nulls
            cast = made
        if cast is not None and _is_stored(kind):
            each = cast
            columns.append(pa.field(column.name, kind))
        else:
            texts = [None if one is None else fields.to_json(one) for one in fields.to_python(each)]
            each = pa.array(texts, pa.string())
            columns.append(pa.field(column.name, pa.string(), metadata=fields.JSON))
        values.append(each)
    return pa.Table.from_arrays(values, schema=pa.schema(columns))


@lru_cache(maxsize=1024)
def _is_stored(kind: pa.DataType) -> bool:
    """Whether Parquet holds values of a type, and Arrow can take some of them."""
    try:
        values = pa.nulls(1, kind).take(pa.array([0]))
        pq.write_table(pa.table({"": values}), pa.BufferOutputStream())
    except pa.ArrowException:
        return False
    return not pa.types.is_union(kind)


def _plain(kind: Any) -> Any:
    """A type without views and unknown time zones, whose values Arrow can take and filter."""
    types: Any = pa.types
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return pa.string() if types.is_string_view(kind) else pa.binary()
    if types.is_timestamp(kind) and kind.tz is not None and not _is_zone(kind.tz):
        return pa.timestamp(kind.unit, "UTC")  # the same point in time
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _plain(kind.value_type), kind.ordered)
    if types.is_run_end_encoded(kind):
        return _plain(kind.value_type)
    if types.is_list_view(kind):
        kind = pa.list_(kind.value_field)
    elif types.is_large_list_view(kind):
        kind = pa.large_list(kind.value_field)
    return _nested(kind, _plain)


def _nested(kind: Any, change: Callable[[Any], Any]) -> Any:
    """A type whose inner types are changed."""
    types: Any = pa.types

    def inner(field: pa.Field) -> pa.Field:
        return field.with_type(change(field.type))

    if types.is_list(kind):
        return pa.list_(inner(kind.value_field))
    if types.is_large_list(kind):
        return pa.large_list(inner(kind.value_field))
    if types.is_fixed_size_list(kind):
        return pa.list_(inner(kind.value_field), kind.list_size)
    if types.is_map(kind):
        return pa.map_(inner(kind.key_field), inner(kind.item_field))
    if types.is_struct(kind):
        return pa.struct([inner(each) for each in kind])
    return kind


@lru_cache(maxsize=1024)
def _is_zone(name: str) -> bool:
    """Whether Python knows a time zone."""
    try:
        pa.scalar(0, pa.timestamp("s", name)).as_py()
    except Exception:  # each library of zones has errors of its own
        return False
    return True


def mended(values: Any) -> tuple[Any, int]:
    """A column whose texts are UTF-8, and in how many rows bytes were replaced.

    Raises EOFError where places of values are not within their bytes.
    """
    if _is_whole(values):
        return values, 0
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    try:
        raw = values.cast(_of_bytes(kind))
    except pa.ArrowException:  # no way to the bytes: the values are lost
        return pa.nulls(len(values), kind), len(values) - values.null_count
    if not _is_whole(raw):
        raise EOFError("broken values: a text that is no UTF-8")
    given = raw.to_pylist()
    return pa.array(map(_decoded, given), kind), sum(map(_is_broken, given))


def _is_whole(values: Any) -> bool:
    """Whether all texts of a column are UTF-8. Raises as `mended` does."""
    try:
        values.validate(full=True)
    except pa.ArrowInvalid as error:
        if NO_UTF8 not in str(error):
            raise EOFError(f"broken values: {error}") from error
        return False
    return True


def _of_bytes(kind: Any) -> pa.DataType:
    """A type with bytes for texts."""
    types: Any = pa.types
    if types.is_string(kind) or types.is_large_string(kind):
        return pa.binary() if types.is_string(kind) else pa.large_binary()
    if types.is_string_view(kind):
        return pa.binary_view()
    return _nested(kind, _of_bytes)


def _decoded(value: Any) -> Any:
    """A value with texts for bytes that are not UTF-8 too, and those that a column of bytes has."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return {key: _decoded(each) for key, each in value.items()}
    if isinstance(value, list):
        return list(map(_decoded, value))
    return tuple(map(_decoded, value)) if isinstance(value, tuple) else value


def _is_broken(value: Any) -> bool:
    """Whether bytes in a value are no UTF-8."""
    if isinstance(value, bytes):
        return "\ufffd" in value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return any(map(_is_broken, value.values()))
    return isinstance(value, list | tuple) and any(map(_is_broken, value))


def refuse_doubles(schema: Any) -> None:
    """Refuse a file in which two columns have one name. Raises EOFError."""
    if double := _find_double(schema):
        raise EOFError(f"two columns are called {double!r}: give each a name of its own")


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
