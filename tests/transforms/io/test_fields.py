"""Fields beside text and id keep their values, in the narrowest type that holds a whole pane."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.io import fields

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
    """Stage blocks and put them together; return the pane's schema and its rows."""
    tables = [staged(records) for records in blocks]
    pane = fields.unify([list(zip(table.schema, table.columns, strict=True)) for table in tables])
    rows: list[dict] = []
    for table, records in zip(tables, blocks, strict=True):
        columns = fields.convert(table, list(table.schema), pane)
        whole = [column.to_pylist() for column in columns]
        for i in range(len(records)):
            row = {column.name: values[i] for column, values in zip(pane, whole, strict=True)}
            rows.append(
                {
                    k: json.loads(v) if v is not None and fields.is_json(pane_field(pane, k)) else v
                    for k, v in row.items()
                }
            )
    return pa.schema(pane), rows


def pane_field(pane: list[pa.Field], name: str) -> pa.Field:
    """Find a field of a pane by its name."""
    return next(column for column in pane if column.name == name)


@given(RECORDS, st.integers(0, 8))
def test_values_come_back_and_the_cut_does_not_matter(records: list[dict], at: int) -> None:
    schema, rows = put_together([records])
    for record, row in zip(records, rows, strict=True):
        assert {k: v for k, v in row.items() if v is not None} == {
            k: v for k, v in record.items() if v is not None
        }
    if 0 < at < len(records):
        other, again = put_together([records[:at], records[at:]])
        assert other.equals(schema, check_metadata=True)
        assert [json.dumps(row, sort_keys=True) for row in again] == [
            json.dumps(row, sort_keys=True) for row in rows
        ]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], pa.int64()),
        ([1, None, 0.5], pa.float64()),
        ([True, False], pa.bool_()),
        (["a", None], pa.string()),
        ([None], pa.null()),
        ([[1], [], None], pa.list_(pa.int64())),
        (
            [{"a": 1, "b": "x"}, {"b": "y", "a": None}],
            pa.struct([("a", pa.int64()), ("b", pa.string())]),
        ),
    ],
)
def test_a_common_type_is_a_column_of_it(values: list, kind: pa.DataType) -> None:
    schema, rows = put_together([[{"v": value}] for value in values])
    assert schema.field("v").type == kind and not fields.is_json(schema.field("v"))
    assert [row["v"] for row in rows] == values


@pytest.mark.parametrize(
    "values",
    [[1, "a"], [True, 1], [{"a": 1}, {"b": 1}], [{}], [2**63], [2**53 + 1, 0.5], [[1], ["a"]]],
)
def test_without_one_it_is_json(values: list) -> None:
    for blocks in ([[{"v": value}] for value in values], [[{"v": value} for value in values]]):
        schema, rows = put_together(blocks)
        assert fields.is_json(schema.field("v"))
        assert [row["v"] for row in rows] == values


def test_too_many_fields_become_one() -> None:
    many = [{f"f{i}": i} for i in range(fields.MAX_FIELDS + 1)]
    for blocks in ([many], [many[:100], many[100:]]):
        schema, rows = put_together(blocks)
        assert schema.names == ["fields"]
        assert [row["fields"] for row in rows] == many


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
    table = pa.table(fields.convert(block, list(staged), [wanted]), schema=pa.schema([wanted]))
    with pa.ipc.new_file(str(tmp_path / "block.arrow"), table.schema) as out:
        out.write_table(table)
    assert fields.record(table, [wanted], 0) == record
