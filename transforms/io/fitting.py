"""Fits the fields of a staged block to the columns of a schema, and rebuilds records from rows.

A value that its column cannot hold unchanged is in the column EXTRA, and so is a field without a
column: nothing is lost.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from evenflow.transforms.io.fields import (
    EXTRA,
    PLAIN,
    by_name,
    is_json,
    others,
    promoted,
    to_json,
    values_of,
)


def convert(
    block: pa.Table, staged: Sequence[pa.Field], columns: Sequence[pa.Field]
) -> list[pa.Array | pa.ChunkedArray]:
    """Convert a block's columns to those of a schema.

    Args:
        block: A table of n rows with one column for each of `staged`, in that order.
        staged: The fields as the block staged them.
        columns: The columns of the schema, without EXTRA.

    Returns:
        One column (n,) for each of `columns`, then EXTRA with what fits none of them.
    """
    given, names = list(zip(staged, block.columns, strict=True)), {each.name for each in columns}
    cells, extra = by_name(given, names), others(given, names)
    out: list[pa.Array | pa.ChunkedArray] = []
    for wanted in columns:
        if wanted.name not in cells:
            out.append(pa.nulls(len(block), wanted.type))
            continue
        values, outside = _fit(*cells.pop(wanted.name), wanted)
        out.append(values)
        for row, value in outside.items():
            extra.setdefault(row, {})[wanted.name] = value
    texts = [to_json(extra[row]) if row in extra else None for row in range(len(block))]
    return [*out, pa.array(texts, pa.string())]


def _fit(
    column: pa.Field, values: Any, wanted: pa.Field
) -> tuple[pa.Array | pa.ChunkedArray, Mapping[int, Any]]:
    """Values as a column; null where they do not fit, and those by their row."""
    given = not isinstance(values, list)
    if given and column.type == wanted.type and is_json(column) == is_json(wanted):
        return values, {}
    if given and pa.types.is_null(column.type):
        return pa.nulls(len(values), wanted.type), {}
    if is_json(wanted):
        texts = [None if value is None else to_json(value) for value in values_of(column, values)]
        return pa.array(texts, pa.string()), {}
    if given and not is_json(column) and promoted([column.type, wanted.type]) == wanted.type:
        try:
            return values.cast(wanted.type), {}
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            pass  # one by one: a number that would change, or objects
    plain, holds = values_of(column, values), _holder(wanted.type)
    outside = {row: each for row, each in enumerate(plain) if not holds(each)}
    fitting = [None if row in outside else each for row, each in enumerate(plain)]
    return pa.array(fitting, wanted.type), outside


def _holder(kind: pa.DataType) -> Callable[[Any], bool]:
    """What says whether a column's type holds a value unchanged; null it does."""
    if pa.types.is_struct(kind):
        struct: Any = kind
        fields = {each.name: _holder(each.type) for each in struct}
        return lambda value: (
            value is None
            or (
                isinstance(value, dict)
                and all(key in fields and fields[key](inner) for key, inner in value.items())
            )
        )
    if pa.types.is_list(kind):
        holds = _holder(kind.value_type)
        return lambda value: value is None or (isinstance(value, list) and all(map(holds, value)))
    if kind == pa.int64():
        return lambda value: value is None or (type(value) is int and -(1 << 63) <= value < 1 << 63)
    own = {plain: own for own, plain in PLAIN.items()}.get(kind)
    if own in (bool, str):
        return lambda value: value is None or type(value) is own
    return functools.partial(_comes_back, kind)


def _comes_back(kind: pa.DataType, value: Any) -> bool:
    """Whether a value is the same after it was in a column; whole numbers may become floats."""
    if kind == pa.float64() and type(value) in (float, int):
        return type(value) is float or abs(value) <= 1 << 53
    try:
        again = pa.scalar(value, kind).as_py()
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return value is None
    return type(again) is type(value) and again == value


def restored(row: Mapping[str, Any], columns: Iterable[pa.Field]) -> dict[str, Any]:
    """Rebuild a record from a row of shards: JSON text parsed, EXTRA spread, nulls left out.

    Args:
        row: The values by the column's name.

    Returns:
        The fields by name, as they were read.
    """
    texts = {column.name for column in columns if is_json(column)}
    values = {
        name: json.loads(value) if name in texts else value
        for name, value in row.items()
        if value is not None
    }
    extra = values.pop(EXTRA.name, {})
    return {name: _pruned(value) for name, value in values.items()} | extra


def _pruned(value: Any) -> Any:
    """A value whose objects have no nulls: a struct has a null for each key of other rows."""
    if isinstance(value, dict):
        return {key: _pruned(each) for key, each in value.items() if each is not None}
    return [_pruned(each) for each in value] if isinstance(value, list) else value
