"""Fields beside text and id keep their values, in the narrowest type that holds a whole pane."""

import io
import json
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.io import fields, fitting

PLAIN = st.sampled_from(
    [None, True, 0, 1, -7, 2**53 + 1, 2**63, -(2**70), 0.5, 1e300, 3.0, "", "a", "é\n"]
)
VALUES = (
    PLAIN
    | st.lists(PLAIN, max_size=3)
    | st.dictionaries(st.sampled_from("ab"), PLAIN | st.lists(PLAIN, max_size=2))
)
RECORDS = st.lists(st.dictionaries(st.sampled_from(["n", "s"]), VALUES), max_size=5)


def staged(records: list[dict]) -> pa.Table:
    """Stage a block's fields as a table of one row a record."""
    raws = [json.dumps(record).encode() for record in records]
    columns = fields.stage([orjson.loads(raw) for raw in raws], raws)
    rows = pa.array(range(len(records)), pa.int64())
    table = pa.Table.from_arrays(
        [rows, *columns.values()], schema=pa.schema([pa.field("row", pa.int64()), *columns])
    )
    # Without a field, the number of rows stays
    return table.select(list(range(1, table.num_columns)))


def put_together(blocks: list[list[dict]]) -> tuple[pa.Schema, list[dict]]:
    """Stage blocks and put them together; return the schema and the records of its rows."""
    tables = [staged(records) for records in blocks]
    columns = fields.unify(
        [list(zip(table.schema, table.columns, strict=True)) for table in tables]
    )
    return pa.schema(columns), [row for table in tables for row in again(table, columns)]


def again(table: pa.Table, columns: list[pa.Field]) -> list[dict]:
    """The records of a block, from rows of Parquet that have some columns."""
    whole = [*columns, fields.EXTRA]
    found = pa.Table.from_arrays(
        fitting.convert(table, list(table.schema), columns), schema=pa.schema(whole)
    )
    buffer = io.BytesIO()
    pq.write_table(found, buffer)
    return [fitting.restored(row, whole) for row in pq.read_table(buffer).to_pylist()]


def pruned(value: Any) -> Any:
    """A value without the nulls of its objects; 1.0 is 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {k: pruned(v) for k, v in value.items() if v is not None}
    return [pruned(each) for each in value] if isinstance(value, list) else value


def same(found: list[dict], wanted: list[dict]) -> bool:
    """Whether records are equal, apart from nulls in objects; true is not 1."""
    return [json.dumps(pruned(each), sort_keys=True) for each in found] == [
        json.dumps(pruned(each), sort_keys=True) for each in wanted
    ]


@given(RECORDS, st.integers(0, 8))
def test_values_come_back_and_the_cut_does_not_matter(records: list[dict], at: int) -> None:
    schema, rows = put_together([records])
    assert same(rows, records)
    if 0 < at < len(records):
        other, again = put_together([records[:at], records[at:]])
        assert other.equals(schema, check_metadata=True)
        assert same(again, rows)


@given(RECORDS, RECORDS, st.booleans())
def test_nothing_is_lost_under_a_schema_of_other_records(
    known: list[dict], records: list[dict], wider: bool
) -> None:
    """Every field is in its column or in EXTRA, whatever the schema was decided from."""
    sample = staged(known)
    columns = fields.unify([list(zip(sample.schema, sample.columns, strict=True))])
    if wider:
        more = staged(records)
        found = fields.unify([list(zip(more.schema, more.columns, strict=True))])
        columns, before = fields.widened(columns, found), columns
        assert columns[: len(before)] == before
    read = again(staged(records), columns)
    assert same(read, records)


def test_what_does_not_fit_is_json_text_beside_it() -> None:
    columns = [pa.field("year", pa.int64()), pa.field("tags", pa.list_(pa.string()))]
    table = staged([{"year": 1, "tags": ["a"]}, {"year": "n.d.", "more": {"b": None}}])
    year, tags, extra = fitting.convert(table, list(table.schema), columns)
    assert year.to_pylist() == [1, None] and tags.to_pylist() == [["a"], None]
    assert extra.to_pylist() == [None, '{"more":{"b":null},"year":"n.d."}']


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        (pa.int64(), True, False),
        (pa.int64(), 2**63, False),
        (pa.float64(), 2**53, True),
        (pa.float64(), 2**53 + 1, False),
        (pa.string(), 1, False),
        (pa.struct([("a", pa.int64())]), {}, True),
        (pa.struct([("a", pa.int64())]), {"b": 1}, False),
        (pa.list_(pa.int64()), [1, None], True),
        (pa.list_(pa.int64()), ["a"], False),
    ],
)
def test_a_column_holds_only_what_it_gives_back(kind: pa.DataType, value: Any, fits: bool) -> None:
    table = staged([{"v": value}])
    column, extra = fitting.convert(table, list(table.schema), [pa.field("v", kind)])
    assert (column.null_count == 0) == fits == (extra.null_count == 1)


def test_types_of_parquet_files_are_promoted() -> None:
    """A date is no text, and a number that would change stays beside its column."""
    small, large = pa.array([1], pa.int32()), pa.array([2**53 + 1], pa.int64())
    (wide,) = fields.unify([[(pa.field("n", each.type), each)] for each in (small, large)])
    assert wide.type == pa.int64()
    (mixed,) = fields.unify(
        [[(pa.field("n", e.type), e)] for e in (small, pa.array([date(2000, 1, 2)]))]
    )
    assert fields.is_json(mixed)
    block = pa.table({"n": large})
    column, extra = fitting.convert(block, list(block.schema), [pa.field("n", pa.float64())])
    assert column.to_pylist() == [None] and extra.to_pylist() == ['{"n":9007199254740993}']


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], pa.int64()),
        ([1, None, 0.5], pa.float64()),
        ([True, False], pa.bool_()),
        (["a", None], pa.string()),
        ([None], pa.string()),
        ([[1], [], None], pa.list_(pa.int64())),
        (
            [{"a": 1, "b": "x"}, {"b": "y", "a": None}],
            pa.struct([("a", pa.int64()), ("b", pa.string())]),
        ),
        ([{"a": 1}, {"b": 1}], pa.struct([("a", pa.int64()), ("b", pa.int64())])),
    ],
)
def test_a_common_type_is_a_column_of_it(values: list, kind: pa.DataType) -> None:
    schema, rows = put_together([[{"v": value}] for value in values])
    assert schema.field("v").type == kind and not fields.is_json(schema.field("v"))
    assert same(rows, [{"v": value} for value in values])


@pytest.mark.parametrize(
    "values",
    [[1, "a"], [True, 1], [{"a": 1}, {"a": "b"}], [{}], [2**63], [2**53 + 1, 0.5], [[1], ["a"]]],
)
def test_without_one_it_is_json(values: list) -> None:
    for blocks in ([[{"v": value}] for value in values], [[{"v": value} for value in values]]):
        schema, rows = put_together(blocks)
        assert fields.is_json(schema.field("v"))
        assert same(rows, [{"v": value} for value in values])


def test_of_too_many_fields_the_most_frequent_have_a_column() -> None:
    many = [{f"f{i}": i} for i in range(fields.MAX_FIELDS + 1)] + [{"often": 1}] * 2
    for blocks in ([many], [many[:100], many[100:]]):
        schema, rows = put_together(blocks)
        assert len(schema) == fields.MAX_FIELDS and schema.names[-1] == "often"
        assert same(rows, many)


def test_names_are_counted_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "COUNTED", 4)
    texts = [json.dumps({"often": 1, f"f{i}": i}) for i in range(20)]
    counts = fields.count_names(Counter(["first", "first"]), texts)
    assert len(counts) <= 4 and counts["often"] == 20 and next(iter(counts)) == "first"


def test_a_schema_has_a_bound_with_the_keys_of_its_objects() -> None:
    """A file of Parquet has a column for each key, and each takes memory."""
    keys = {f"k{i}": i for i in range(fields.MAX_FIELDS)}
    record = {**{f"f{i}": keys for i in range(6)}, "n": 1}
    schema, rows = put_together([[record]])
    assert [fields.is_json(each) for each in schema] == [*[False] * 4, True, True, False]
    assert same(rows, [record])
    first = next(iter(schema)).with_name("new")
    assert fields.widened(list(schema), [first, pa.field("m", pa.int64())])[7:] == [
        pa.field("m", pa.int64())
    ]


def test_an_object_of_too_many_keys_is_json_also_if_it_is_alone() -> None:
    record = {"v": {f"k{i}": i for i in range(fields.MAX_FIELDS + 1)}}
    schema, rows = put_together([[record]])
    assert fields.is_json(schema.field("v")) and same(rows, [record])


@pytest.mark.parametrize(
    ("levels", "is_column"), [(10, True), (31, True), (32, False), (124, False), (198, False)]
)
@pytest.mark.parametrize("kind", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_deep_values_are_json_and_come_back(
    levels: int, is_column: bool, kind: Callable[[Any], Any], tmp_path: Path
) -> None:
    """Arrow's files hold no type of more than 125 levels."""
    value: Any = 1
    for _ in range(levels):
        value = kind(value)
    record = {"more": value}
    staged = fields.stage([record], [orjson.dumps(record)])
    (wanted,) = fields.unify([list(staged.items())])
    assert fields.is_json(wanted) != is_column
    block = pa.table(list(staged.values()), schema=pa.schema(list(staged)))
    table = pa.table(fitting.convert(block, list(staged), [wanted])[:1], schema=pa.schema([wanted]))
    with pa.ipc.new_file(str(tmp_path / "block.arrow"), table.schema) as out:
        out.write_table(table)
    assert fields.record(table, [wanted], 0) == record
