"""Keeps the fields of a record beside its text and id, so that they pass through to the shards.

A block stages each field in one of two forms: one plain type (text, whole numbers, numbers, true
or false, or a Parquet file's own type), or JSON text. The shards of an output have one schema. It
is decided from a sample (`unify`): each field gets the narrowest type that holds every value of the
sample. That type is a plain type, a list or a struct of plain types, or JSON text. A field with
whole and other numbers becomes a column of numbers while no whole number is beyond 2**53. A struct
has the keys of all its values. The metadata of a column of JSON text says so.

A value that fits its column is there. Any other value, and every field without a column, is in the
column EXTRA of the same document (`fitting`). A null and a field that is not there are the same.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from itertools import chain
from typing import Any

import orjson
import pyarrow as pa

# Most levels of lists and objects in a column's type; deeper values become JSON text. Arrow's files
# hold up to 125 levels.
DEEPEST = 32
MAX_FIELDS = 256  # most columns of a schema, and most keys of a struct
MAX_KEYS = 1024  # most keys of all structs of a schema: each is a column in a file
COUNTED = 1 << 16  # most names that are counted at a time; beyond, the rarer half is forgotten
JSON = {b"evenflow.encoding": b"json"}  # metadata of a column of JSON text
ALL = pa.field(
    "fields",
    pa.string(),
    metadata={b"evenflow.encoding": b"json", b"evenflow.holds": b"every field"},
)
# What fits no column, as a JSON object by name; null where all fits
EXTRA = pa.field("_extra", pa.string(), metadata=JSON)
# orjson reads whole numbers beyond 64 bits as floating point. So a record with this many digits is
# read again by json, which keeps them.
LONG_NUMBER = b"0" * 19
# All digits to zeros: a search for the zeros takes a fiftieth of a regular expression's time
ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
NESTED = {dict, list}
PLAIN = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}

# A field's values in a block: as they were staged, or parsed
Cells = tuple[pa.Field, "pa.ChunkedArray | pa.Array | list[Any]"]
Shape = Any  # None, one of PLAIN's types, ("list", Shape) or ("struct", {name: Shape})


class MixedError(ValueError):
    """The values have no common type."""


def stage(records: Sequence[dict[str, Any]], raws: Sequence[bytes]) -> dict[pa.Field, pa.Array]:
    """Build the columns of a block's other fields; an absent value is null.

    `records`: The parsed objects (n,) without text and id. `raws`: The line (n,) of each object. It
    is read again for numbers beyond 64 bits.

    Returns one array (n,) per field, in the order in which the fields appear first. With more than
    MAX_FIELDS fields, one array for the column ALL.
    """
    names = dict.fromkeys(chain.from_iterable(records))
    if len(names) > MAX_FIELDS:
        without_nulls = ({k: v for k, v in each.items() if v is not None} for each in records)
        return {ALL: pa.array(map(to_json, without_nulls), pa.string())}
    columns = {name: [record.get(name) for record in records] for name in names}
    exact: dict[int, dict[str, Any]] | None = None
    staged: dict[pa.Field, pa.Array] = {}
    for name, values in columns.items():
        kinds = set(map(type, values)) - {type(None)}
        if not kinds <= {str, bool, int}:
            if exact is None:
                long = [i for i, raw in enumerate(raws) if LONG_NUMBER in raw.translate(ZEROS)]
                exact = {i: loads(raws[i])[0] for i in long}
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


def loads(raw: bytes) -> tuple[Any, set[str]]:
    """Read JSON that has numbers or texts which no other format has.

    These are NaN, infinite numbers, numbers of any length, and lone surrogates.

    Returns the value, with null for each but long whole numbers; and of an object the names of the
    fields that have such nulls.

    Raises ValueError or RecursionError where it is no JSON.
    """
    value, lost = json.loads(raw.decode("utf-8-sig")), set[str]()
    if isinstance(value, dict):
        clean = {_text(name): _clean(each) for name, each in value.items()}
        lost = {name for name, (_, changed) in clean.items() if changed}
        value = {name: each for name, (each, _) in clean.items()}
    return value, lost


def _text(text: str) -> str:
    """A text without lone surrogates, which stay visible."""
    return text.encode("utf-8", "backslashreplace").decode()


def _clean(value: Any) -> tuple[Any, bool]:
    """A value with null for what no other format has, and whether there was any."""
    if isinstance(value, dict):
        found = {_text(name): _clean(each) for name, each in value.items()}
        changed = any(each[1] for each in found.values())
        return {name: each for name, (each, _) in found.items()}, changed
    if isinstance(value, list):
        items = list(map(_clean, value))
        return [each for each, _ in items], any(each[1] for each in items)
    if isinstance(value, float):
        return (value, False) if math.isfinite(value) else (None, True)
    if isinstance(value, str) and not value.isascii() and _text(value) != value:
        return None, True
    return value, False


def free_name(name: str, names: Collection[str]) -> str:
    """The name under which an input's field is kept whose name a computed column has."""
    while name in names:
        name = f"input_{name}"
    return name


def to_json(value: Any, sort: bool = True) -> str:
    """Write compact JSON.

    Args:
        value: A value. What JSON has no form for (a Parquet file's dates, bytes) becomes text.
        sort: Whether its keys are sorted; else they keep their order.
    """
    try:
        option = orjson.OPT_NON_STR_KEYS | (orjson.OPT_SORT_KEYS if sort else 0)
        return orjson.dumps(value, option=option).decode()
    except orjson.JSONEncodeError:
        return json.dumps(
            value, sort_keys=sort, ensure_ascii=False, default=str, separators=(",", ":")
        )


def unify(
    blocks: Sequence[Sequence[tuple[pa.Field, pa.ChunkedArray | pa.Array]]],
) -> list[pa.Field]:
    """Find the columns that hold the fields that blocks have staged.

    Args:
        blocks: The columns of each block, as (field, values).

    Returns:
        The columns, in the order in which the fields appear first. Of more than MAX_FIELDS fields
        the most frequent ones have a column.
    """
    counts = Counter[str]()
    for block in blocks:
        for column, values in block:
            if is_all(column):
                counts = count_names(counts, values.to_pylist())
            else:
                counts[column.name] += len(values) - values.null_count
    del counts[EXTRA.name]
    kept = {name for name, _ in counts.most_common(MAX_FIELDS)}
    found: dict[str, list[Cells]] = {name: [] for name in counts if name in kept}
    for block in blocks:
        for name, cells in by_name(block, kept).items():
            found[name].append(cells)
    columns, left = list[pa.Field](), MAX_KEYS
    for name, staged in found.items():
        column = _common(name, staged)
        if _keys(column.type) > left:
            column = pa.field(name, pa.string(), metadata=JSON)
        left -= _keys(column.type)
        columns.append(column)
    return columns


def count_names(counts: Counter[str], texts: Iterable[str]) -> Counter[str]:
    """Count the names of fields of some objects.

    Args:
        counts: The counts so far, which change.
        texts: The objects, as JSON.

    Returns:
        The counts, in the order in which names appear first. Of more than COUNTED names those that
        were the most frequent so far.
    """
    for text in texts:
        counts.update(json.loads(text).keys())
        if len(counts) > COUNTED:
            kept = {name for name, _ in counts.most_common(COUNTED // 2)}
            counts = Counter({name: count for name, count in counts.items() if name in kept})
    return counts


def _keys(kind: pa.DataType) -> int:
    """How many keys the objects of a type have, with those within them."""
    own = kind.num_fields if pa.types.is_struct(kind) else 0
    return own + sum(_keys(kind.field(i).type) for i in range(kind.num_fields))


def widened(columns: Sequence[pa.Field], more: Iterable[pa.Field]) -> list[pa.Field]:
    """A schema with further columns behind its own, which stay as they are.

    Args:
        more: Others; those with a new name are added, up to MAX_FIELDS and MAX_KEYS in all.
    """
    out = list(columns)
    names = {column.name for column in columns}
    left = MAX_KEYS - sum(_keys(column.type) for column in columns)
    for each in more:
        if each.name not in names and len(out) < MAX_FIELDS and _keys(each.type) <= left:
            out.append(each)
            left -= _keys(each.type)
    return out


def by_name(
    block: Iterable[tuple[pa.Field, pa.ChunkedArray | pa.Array]], names: Container[str]
) -> dict[str, Cells]:
    """Find the cells of some fields of a block, by the field's name.

    Args:
        block: The columns, as (field, values).
        names: The names that are asked for: a block may have too many for a list each.

    Returns:
        The cells of those that the block has.
    """
    found: dict[str, Cells] = {}
    for column, values in block:
        if not is_all(column):
            if column.name in names:
                found[column.name] = (column, values)
            continue
        lists: dict[str, list[Any]] = {}
        for row, text in enumerate(values.to_pylist()):
            for name, value in json.loads(text).items():
                if name in names:
                    lists.setdefault(name, [None] * len(values))[row] = value
        for name, cells in lists.items():
            found[name] = (pa.field(name, pa.string(), metadata=JSON), cells)
    return found


def others(
    block: Iterable[tuple[pa.Field, pa.ChunkedArray | pa.Array]], names: Container[str]
) -> dict[int, dict[str, Any]]:
    """Find the values of a block's fields that have other names than some.

    Args:
        block: The columns, as (field, values).
        names: The names that are not asked for.

    Returns:
        By row the values by name, without nulls.
    """
    found: dict[int, dict[str, Any]] = {}
    for column, values in block:
        every = is_all(column)
        if not every and column.name in names:
            continue
        for row, value in enumerate(values_of(column, values)):
            for name, each in (value if every else {column.name: value}).items():
                if each is not None and name not in names:
                    found.setdefault(row, {})[name] = each
    return found


def is_json(column: pa.Field) -> bool:
    """Return whether a column holds JSON text."""
    return bool(column.metadata and column.metadata.get(b"evenflow.encoding") == b"json")


def is_all(column: pa.Field) -> bool:
    """Return whether a column is the one that holds every field as JSON."""
    return column.equals(ALL, check_metadata=True)


def _common(name: str, staged: list[Cells]) -> pa.Field:
    """Find the narrowest type that holds all staged values of a field; text where all are null."""
    types = {
        column.type
        for column, _ in staged
        if not is_json(column) and not pa.types.is_null(column.type)
    }
    if not any(is_json(column) for column, _ in staged) and (
        not types <= set(PLAIN.values()) or len(types) <= 1
    ):
        found = promoted(types) if types else pa.string()
        return pa.field(name, found) if found else pa.field(name, pa.string(), metadata=JSON)
    try:
        if not types <= set(PLAIN.values()):
            raise MixedError
        shape: Shape = None
        for column, values in staged:
            for value in values_of(column, values):
                shape = _merge(shape, _shape(value))
        common = _arrow(shape)
        for column, values in staged:
            # This raises for a whole number that a floating-point column would change
            pa.array(values_of(column, values), common)
    except (MixedError, pa.ArrowException, OverflowError):
        return pa.field(name, pa.string(), metadata=JSON)
    return pa.field(name, common)


def promoted(types: Iterable[pa.DataType]) -> pa.DataType | None:
    """Find a type that holds the values of all types.

    Returns:
        The type; None if Arrow has none.
    """
    try:
        alone = [pa.schema([pa.field("", each)]) for each in types]
        return pa.unify_schemas(alone, promote_options="permissive").field(0).type
    except (pa.ArrowTypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def values_of(column: pa.Field, values: Any) -> list[Any]:
    """Return the values of cells as Python objects; JSON text is parsed."""
    if isinstance(values, list):
        return values
    if is_json(column):
        return [None if text is None else json.loads(text) for text in values.to_pylist()]
    return to_python(values)


def column_of(column: pa.Field, values: Sequence[Any]) -> pa.Array:
    """The cells of a column from Python objects, as `values_of` gives them."""
    if is_json(column):
        return pa.array([None if each is None else to_json(each) for each in values], pa.string())
    return pa.array(values, column.type)


def to_python(values: pa.ChunkedArray | pa.Array) -> list[Any]:
    """Convert a column to Python objects.

    Returns the values (n,). Text in Arrow's form stands for a date beyond Python's years.
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
    """Count the levels of lists and objects in a parsed value."""
    level, found = [value], 0
    if type(value) is dict and NESTED.isdisjoint(map(type, value.values())):
        return 1  # most records
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
    if kind is dict and len(value) <= MAX_FIELDS:
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
        keys = sorted({*a[1], *b[1]})
        if len(keys) <= MAX_FIELDS:
            return ("struct", {key: _merge(a[1].get(key), b[1].get(key)) for key in keys})
    raise MixedError


def _arrow(shape: Shape) -> pa.DataType:
    """Convert a shape to Arrow's type; Parquet has no objects without keys."""
    if shape is None:
        return pa.string()
    if isinstance(shape, type):
        return PLAIN[shape]
    if shape[0] == "list":
        return pa.list_(_arrow(shape[1]))
    if not shape[1]:
        raise MixedError
    return pa.struct([(key, _arrow(inner)) for key, inner in shape[1].items()])


def record(block: pa.Table, staged: Sequence[pa.Field], row: int) -> dict[str, Any]:
    """Rebuild the other fields of one row as they were read, without null values.

    Args:
        block: A table with one column for each of `staged`, in that order.
        staged: The fields as the block staged them.

    Returns:
        The values by the field's name.
    """
    return others(zip(staged, block.slice(row, 1).columns, strict=True), ()).get(0, {})
