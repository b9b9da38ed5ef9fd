"""Keeps the fields of a record beside its text and id, so that they pass through to the shards.

A block stages each field in one of two forms: one plain type (text, whole numbers, numbers, true
or false, or a Parquet file's own type), or JSON text. When a pane's blocks are put together, each
field gets the narrowest type that holds every value of the pane unchanged. That type is a plain
type, a list or a struct of plain types, or JSON text. A field with whole and other numbers becomes
a column of numbers while no whole number is beyond 2**53. The metadata of a column of JSON text
says so. The type depends on the pane's values alone, never on how its blocks were cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import orjson
import pyarrow as pa

# Most levels of lists and objects in a column's type; deeper values become JSON text. Arrow's files
# hold up to 125 levels.
DEEPEST = 32
MAX_FIELDS = 256  # most columns of a pane; with more fields, all of them become one JSON column
JSON = {b"evenflow.encoding": b"json"}  # metadata of a column of JSON text
ALL = pa.field(
    "fields",
    pa.string(),
    metadata={b"evenflow.encoding": b"json", b"evenflow.holds": b"every field"},
)
# orjson reads whole numbers beyond 64 bits as floating point. So a record with this many digits is
# read again by json, which keeps them.
LONG_NUMBER = re.compile(rb"\d{19}")
PLAIN = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}

Shape = Any  # None, one of PLAIN's types, ("list", Shape) or ("struct", {name: Shape})


class MixedError(ValueError):
    """The values have no common type."""


def stage(records: Sequence[dict[str, Any]], raws: Sequence[bytes]) -> dict[pa.Field, pa.Array]:
    """Build the columns of a block's other fields; an absent value is null.

    Args:
        records: The parsed objects (n,) without text and id.
        raws: The line (n,) of each object. It is read again for numbers beyond 64 bits.

    Returns:
        One array (n,) per field, in the order in which the fields appear first. With more than
        MAX_FIELDS fields, one array for the column ALL.
    """
    names = dict.fromkeys(chain.from_iterable(records))
    if len(names) > MAX_FIELDS:
        return {ALL: pa.array(map(_without_nulls, records), pa.string())}
    columns = {name: [record.get(name) for record in records] for name in names}
    exact: dict[int, dict[str, Any]] = {}
    staged: dict[pa.Field, pa.Array] = {}
    for name, values in columns.items():
        kinds = set(map(type, values)) - {type(None)}
        if not kinds <= {str, bool, int}:
            exact = exact or {
                i: json.loads(raw) for i, raw in enumerate(raws) if LONG_NUMBER.search(raw)
            }
            for i, record in exact.items():
                values[i] = record.get(name)
            kinds = set(map(type, values)) - {type(None)}
        plain = PLAIN.get(next(iter(kinds))) if len(kinds) == 1 else None if kinds else pa.null()
        try:
            if plain is not None:
                staged[pa.field(name, plain)] = pa.array(values, plain)
                continue
        except OverflowError:
            pass  # a whole number beyond 64 bits: JSON text keeps it
        texts = [None if value is None else to_json(value) for value in values]
        staged[pa.field(name, pa.string(), metadata=JSON)] = pa.array(texts, pa.string())
    return staged


def to_json(value: Any) -> str:
    """Write compact JSON with sorted keys.

    Args:
        value: A value. What JSON has no form for (a Parquet file's dates, bytes) becomes text.

    Returns:
        The JSON text.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()
    except orjson.JSONEncodeError:
        return json.dumps(
            value, sort_keys=True, ensure_ascii=False, default=str, separators=(",", ":")
        )


def _without_nulls(record: dict[str, Any]) -> str:
    """Write a record as JSON without its null values."""
    return to_json({name: value for name, value in record.items() if value is not None})


def unify(
    blocks: Sequence[Sequence[tuple[pa.Field, pa.ChunkedArray | pa.Array]]],
) -> list[pa.Field]:
    """Find the fields of a pane from those that its blocks staged.

    Args:
        blocks: The columns of each block, as (field, values).

    Returns:
        The pane's fields, in the order in which they appear first.
    """
    names = dict.fromkeys(column.name for block in blocks for column, _ in block)
    if len(names) > MAX_FIELDS or any(_is_all(column) for block in blocks for column, _ in block):
        return [ALL]
    found: dict[str, list[tuple[pa.Field, Any]]] = {name: [] for name in names}
    for block in blocks:
        for column, values in block:
            found[column.name].append((column, values))
    return [_common(name, staged) for name, staged in found.items()]


def is_json(column: pa.Field) -> bool:
    """Return whether a column holds JSON text."""
    return bool(column.metadata and column.metadata.get(b"evenflow.encoding") == b"json")


def _is_all(column: pa.Field) -> bool:
    """Return whether a column is the one that holds every field as JSON."""
    return column.equals(ALL, check_metadata=True)


def _common(name: str, staged: list[tuple[pa.Field, Any]]) -> pa.Field:
    """Find the narrowest type that holds all staged values of a field."""
    types = {
        column.type
        for column, _ in staged
        if not is_json(column) and not pa.types.is_null(column.type)
    }
    if not any(is_json(column) for column, _ in staged) and len(types) <= 1:
        return pa.field(name, types.pop() if types else pa.null())
    try:
        if not types <= set(PLAIN.values()):
            raise MixedError
        shape: Shape = None
        for column, values in staged:
            for value in _values(column, values):
                shape = _merge(shape, _shape(value))
        common = _arrow(shape)
        for column, values in staged:
            # This raises for a whole number that a floating-point column would change
            pa.array(_values(column, values), common)
    except (MixedError, pa.ArrowException, OverflowError):
        return pa.field(name, pa.string(), metadata=JSON)
    return pa.field(name, common)


def _values(column: pa.Field, values: Any) -> Iterable[Any]:
    """Return a column's values as Python objects; JSON text is parsed."""
    if is_json(column):
        return [None if text is None else json.loads(text) for text in values.to_pylist()]
    return to_python(values)


def to_python(values: pa.ChunkedArray | pa.Array) -> list[Any]:
    """Convert a column to Python objects.

    Args:
        values: A column of n values.

    Returns:
        The values (n,). Text in Arrow's form stands for a date beyond Python's years.
    """
    try:
        return values.to_pylist()
    except OverflowError:
        return [_scalar(each) for each in values]


def _scalar(value: pa.Scalar) -> Any:
    """Convert one value; text in Arrow's form stands for a date beyond Python's years."""
    try:
        return value.as_py()
    except OverflowError:
        try:
            return value.cast(pa.string()).as_py()
        except pa.ArrowNotImplementedError:  # the date is within a list or an object
            return str(value.type)


def depth(value: Any, most: int) -> int:
    """Count the levels of lists and objects in a parsed value.

    Args:
        value: A parsed JSON value.
        most: Where counting stops.

    Returns:
        The number of levels; most + 1 where there are more than `most`.
    """
    level, found = [value], 0
    while found <= most:
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return found
        found += 1
    return found


def _shape(value: Any, left: int = DEEPEST) -> Shape:
    """Find the shape of a parsed value; MixedError where no column type holds it."""
    if value is None:
        return None
    if not left:
        raise MixedError
    kind = type(value)
    if kind is int and not -(1 << 63) <= value < 1 << 63:
        raise MixedError
    if kind in PLAIN:
        return kind
    if kind is list:
        inner: Shape = None
        for item in value:
            inner = _merge(inner, _shape(item, left - 1))
        return ("list", inner)
    if kind is dict and value:
        return ("struct", {key: _shape(value[key], left - 1) for key in sorted(value)})
    raise MixedError


def _merge(a: Shape, b: Shape) -> Shape:
    """Find the narrowest shape that holds both shapes; MixedError where there is none."""
    if a == b or b is None:
        return a
    if a is None:
        return b
    if (a, b) in ((int, float), (float, int)):
        return float
    if isinstance(a, tuple) and isinstance(b, tuple) and a[0] == b[0]:
        if a[0] == "list":
            return ("list", _merge(a[1], b[1]))
        if a[1].keys() == b[1].keys():
            return ("struct", {key: _merge(a[1][key], b[1][key]) for key in a[1]})
    raise MixedError


def _arrow(shape: Shape) -> pa.DataType:
    """Convert a shape to Arrow's type."""
    if shape is None:
        return pa.null()
    if isinstance(shape, type):
        return PLAIN[shape]
    if shape[0] == "list":
        return pa.list_(_arrow(shape[1]))
    return pa.struct([(key, _arrow(inner)) for key, inner in shape[1].items()])


def convert(
    block: pa.Table, staged: Sequence[pa.Field], pane: Sequence[pa.Field]
) -> list[pa.Array | pa.ChunkedArray]:
    """Convert a block's columns to the types of its pane.

    Args:
        block: A table of n rows with one column for each of `staged`, in that order.
        staged: The fields as the block staged them.
        pane: The fields of the pane.

    Returns:
        One column (n,) for each of `pane`.
    """
    if len(pane) == 1 and _is_all(pane[0]):
        if len(staged) == 1 and _is_all(staged[0]):
            return [block.column(0)]
        columns = [_values(column, block.column(i)) for i, column in enumerate(staged)]
        names = [column.name for column in staged]
        rows = (
            (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
            if staged
            else [{}] * len(block)
        )
        return [pa.array(map(_without_nulls, rows), pa.string())]
    places = {column.name: i for i, column in enumerate(staged)}
    out: list[pa.Array | pa.ChunkedArray] = []
    for wanted in pane:
        if wanted.name not in places:
            out.append(pa.nulls(len(block), wanted.type))
            continue
        column, values = staged[places[wanted.name]], block.column(places[wanted.name])
        if column.type == wanted.type and is_json(column) == is_json(wanted):
            out.append(values)
        elif is_json(wanted):
            texts = [None if value is None else to_json(value) for value in _values(column, values)]
            out.append(pa.array(texts, pa.string()))
        else:
            out.append(pa.array(_values(column, values), wanted.type))
    return out


def record(block: pa.Table, staged: Sequence[pa.Field], row: int) -> dict[str, Any]:
    """Rebuild the other fields of one row as they were read, without null values.

    Args:
        block: A table with one column for each of `staged`, in that order.
        staged: The fields as the block staged them.
        row: The row's number.

    Returns:
        The values by the field's name.
    """
    values: dict[str, Any] = {}
    one = block.slice(row, 1)
    for i, column in enumerate(staged):
        value = next(iter(_values(column, one.column(i))))
        values |= value if _is_all(column) else {column.name: value}
    return {name: value for name, value in values.items() if value is not None}
