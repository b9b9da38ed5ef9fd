"""A document's other fields pass through to the shards: as typed columns where all values of a pane
agree, else as JSON.

A block stages each field either in one plain type (text, whole numbers, numbers, true or false, or
a Parquet file's own type) or as JSON text. When a pane's blocks are put together, each field gets
the narrowest type that holds every value of the pane unchanged: a plain type, numbers (whole and
not, while none is beyond 2**53), lists and structs of such; otherwise JSON text, whose column says
so in its metadata. The type depends on the pane's values alone, never on how blocks were cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import orjson
import pyarrow as pa

# Levels of lists and objects in a column's type; Arrow's files hold up to 125. Deeper values are
# JSON text
DEEPEST = 32
MAX_FIELDS = 256  # fields a pane as columns; with more, all of them become one JSON column
JSON = {b"evenflow.encoding": b"json"}  # metadata of a column of JSON text
ALL = pa.field(
    "fields",
    pa.string(),
    metadata={b"evenflow.encoding": b"json", b"evenflow.holds": b"every field"},
)
# orjson reads whole numbers beyond 64 bits as floating point; a record with that many digits is
# read again.
LONG_NUMBER = re.compile(rb"\d{19}")
PLAIN = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}

Shape = Any  # None, one of PLAIN's types, ("list", Shape) or ("struct", {name: Shape})


class MixedError(ValueError):
    """Values without a common type."""


def stage(records: Sequence[dict[str, Any]], raws: Sequence[bytes]) -> dict[pa.Field, pa.Array]:
    """Columns of a block's other fields, in order of first appearance; an absent value is null.

    records: the parsed objects without text and id; raws: the lines that they came from, for
    numbers beyond 64 bits.
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
    """Compact JSON with sorted keys; what JSON has no form for (a Parquet file's dates, bytes) as
    text.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()
    except orjson.JSONEncodeError:
        return json.dumps(
            value, sort_keys=True, ensure_ascii=False, default=str, separators=(",", ":")
        )


def _without_nulls(record: dict[str, Any]) -> str:
    return to_json({name: value for name, value in record.items() if value is not None})


def unify(
    blocks: Sequence[Sequence[tuple[pa.Field, pa.ChunkedArray | pa.Array]]],
) -> list[pa.Field]:
    """The pane's fields from those that its blocks staged, in order of first appearance."""
    names = dict.fromkeys(column.name for block in blocks for column, _ in block)
    if len(names) > MAX_FIELDS or any(_is_all(column) for block in blocks for column, _ in block):
        return [ALL]
    found: dict[str, list[tuple[pa.Field, Any]]] = {name: [] for name in names}
    for block in blocks:
        for column, values in block:
            found[column.name].append((column, values))
    return [_common(name, staged) for name, staged in found.items()]


def is_json(column: pa.Field) -> bool:
    """Whether a column holds JSON text."""
    return bool(column.metadata and column.metadata.get(b"evenflow.encoding") == b"json")


def _is_all(column: pa.Field) -> bool:
    return column.equals(ALL, check_metadata=True)


def _common(name: str, staged: list[tuple[pa.Field, Any]]) -> pa.Field:
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
            # Raises for a whole number that a floating-point column would change
            pa.array(_values(column, values), common)
    except (MixedError, pa.ArrowException, OverflowError):
        return pa.field(name, pa.string(), metadata=JSON)
    return pa.field(name, common)


def _values(column: pa.Field, values: Any) -> Iterable[Any]:
    if is_json(column):
        return [None if text is None else json.loads(text) for text in values.to_pylist()]
    return to_python(values)


def to_python(values: pa.ChunkedArray | pa.Array) -> list[Any]:
    """A column's values; of a date beyond Python's years, Arrow's words for it."""
    try:
        return values.to_pylist()
    except OverflowError:
        return [_scalar(each) for each in values]


def _scalar(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except OverflowError:
        try:
            return value.cast(pa.string()).as_py()
        except pa.ArrowNotImplementedError:  # it is within a list or an object
            return str(value.type)


def depth(value: Any, most: int) -> int:
    """Levels of lists and objects in a parsed value, up to one more than `most`."""
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
    """A block's columns in the pane's types; block has one column for each of `staged`, in that
    order.
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
    """A row of a block's other fields as it was read, but for nulls; block has one column for each
    of `staged`.
    """
    values: dict[str, Any] = {}
    one = block.slice(row, 1)
    for i, column in enumerate(staged):
        value = next(iter(_values(column, one.column(i))))
        values |= value if _is_all(column) else {column.name: value}
    return {name: value for name, value in values.items() if value is not None}
