"""All shards of an output have one schema, which later rounds and panes of a topic only widen."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import evenflow
from evenflow.gates.ledger.files import read_meta
from evenflow.pipelines.engine.panes import columns
from evenflow.schemas.config import ConfigError, load
from evenflow.transforms.io import fitting

TEXT = "She met her brother. He met his sister."


def records(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"text": TEXT, **fields} for _ in range(count)]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def run(inputs: Path, out: Path, config: dict[str, Any] | None = None) -> Any:
    given = {"pane.docs": 10, **(config or {})}
    return evenflow.Gate(given, attributes=["gender"]).run(inputs, out)


def shards(out: Path) -> list[Path]:
    return sorted((out / "accepted").iterdir())


def read(out: Path) -> list[dict[str, Any]]:
    """The records of all shards, without ids and what is computed."""
    computed = ("id", "mentions_gender_female", "mentions_gender_male")
    tables = [pq.read_table(path) for path in shards(out)]
    rows = [fitting.restored(row, each.schema) for each in tables for row in each.to_pylist()]
    return [{k: v for k, v in row.items() if k not in computed} for row in rows]


def test_fields_that_differ_from_file_to_file_have_one_schema(tmp_path: Path) -> None:
    """Of another type, missing, or an object with other keys: each was another schema before."""
    rows = [
        records(10, stars=4, n=1, meta={"a": 1}),
        records(10, stars=4.5, n="three", meta={"b": "x"}),
        records(10, lang="en"),
    ]
    for number, each in enumerate(rows):
        write(tmp_path / f"in/{number}.jsonl", each)
    result = run(tmp_path / "in", tmp_path / "out")
    assert result["panes"] == 3
    [schema] = {pq.read_schema(path).serialize().to_pybytes() for path in shards(tmp_path / "out")}
    found = pa.ipc.read_schema(pa.py_buffer(schema))
    assert found.names[2:7] == ["stars", "n", "meta", "lang", "_extra"]
    assert ds.dataset(shards(tmp_path / "out")).to_table().num_rows == 30
    assert read(tmp_path / "out") == [row for each in rows for row in each]
    [version] = read_meta(tmp_path / "out")["schema"]  # type: ignore[index]
    assert version["columns"]["n"] == "json" and version["columns"]["stars"] == "double"


def test_a_later_round_widens_what_old_readers_still_read(tmp_path: Path) -> None:
    write(tmp_path / "in/a.jsonl", records(10, n=1))
    run(tmp_path / "in", tmp_path / "out")
    before = pq.read_schema(shards(tmp_path / "out")[0])
    write(tmp_path / "in/b.jsonl", records(10, n="two", lang="en"))
    run(tmp_path / "in", tmp_path / "out")
    versions = read_meta(tmp_path / "out")["schema"]  # type: ignore[index]
    assert [(each["pane"], sorted(each["columns"])) for each in versions] == [
        (0, ["n"]),
        (1, ["lang", "n"]),
    ]
    old = ds.dataset(shards(tmp_path / "out"), schema=before).to_table()
    assert old["n"].to_pylist() == [1] * 10 + [None] * 10
    assert old["_extra"].to_pylist() == [None] * 10 + ['{"n":"two"}'] * 10
    whole = evenflow.accepted(tmp_path / "out")
    assert whole.to_table()["lang"].to_pylist() == [None] * 10 + ["en"] * 10
    assert whole.extra == 10


def test_what_fits_no_column_is_counted_and_told(tmp_path: Path) -> None:
    write(tmp_path / "in/a.jsonl", [*records(15, n=1), *records(5, n="five", more=[1])])
    config = {"fields.schema": {"n": "int", "tags": ["text"], "o": {"a": "float"}}}
    result = run(tmp_path / "in", tmp_path / "out", config)
    assert result["extra"] == {"documents": 5, "fields": {"more": 5, "n": 5}}
    table = pq.read_table(shards(tmp_path / "out")[1])
    assert table.schema.field("tags").type == pa.list_(pa.string())
    assert table.schema.field("o").type == pa.struct([("a", pa.float64())])
    assert table["_extra"].to_pylist()[-1] == '{"more":[1],"n":"five"}'
    said = (
        "5 documents have fields that fit no column and are JSON text in _extra: more 5, n 5;"
        " fields.schema sets the columns"
    )
    assert said in (tmp_path / "out/report.html").read_text()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"n": "integer"}, "text, int, float, bool, json, [TYPE] or {KEY: TYPE} was expected"),
        ({"n": ["json"]}, "was expected, not the text 'json'"),
        ({"n": {}}, "was expected"),
        ("n", "columns with their types were expected"),
    ],
)
def test_a_type_that_there_is_not_is_named(given: Any, told: str) -> None:
    with pytest.raises(ConfigError) as error:
        load(None, {"fields.schema": given}, [], [])
    assert told in str(error.value) and "fields.schema" in str(error.value)


PLAIN = st.sampled_from([None, True, 0, 2**53 + 1, -(2**70), 0.5, "", "a"])
VALUE = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)
FILES = st.lists(
    st.lists(
        st.dictionaries(st.sampled_from(["n", "_extra", "mentions"]), VALUE), min_size=1, max_size=4
    ),
    min_size=1,
    max_size=3,
)


def pruned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: pruned(each) for key, each in value.items() if each is not None}
    return [pruned(each) for each in value] if isinstance(value, list) else value


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FILES, st.booleans())
def test_every_record_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[dict[str, Any]]], later: bool
) -> None:
    """Written in two rounds or one, with whatever fields: no value is lost, all in one data set."""
    root = tmp_path_factory.mktemp("back")
    for number, each in enumerate(rows):
        write(root / f"in/{number}.jsonl", [{"text": TEXT, **row} for row in each])
        if later or number == len(rows) - 1:
            run(root / "in", root / "out", {"pane.docs": 2})
    wanted = [{"text": TEXT, **pruned(row)} for each in rows for row in each]
    assert [pruned(row) for row in read(root / "out")] == wanted
    assert ds.dataset(shards(root / "out")[::-1]).to_table().num_rows == len(wanted)


def test_versions_of_a_topic_are_by_pane() -> None:
    """A pane that is made again finds what it found before, whatever later panes have added."""
    n, lang = pa.field("n", pa.int64()), pa.field("lang", pa.string())
    one = columns.noted({}, 0, [n])
    two = columns.noted({"schema": one}, 3, [pa.field("n", pa.string()), lang])
    assert [each["pane"] for each in two] == [0, 3]
    assert columns.columns({"schema": two}, 2) == [n]
    assert columns.columns({"schema": two}, 3) == [n, lang]
    assert columns.noted({"schema": two}, 3, [lang]) == two
    assert columns.noted({"schema": two}, 5, [lang]) == two
    assert columns.columns({}, 0) is None
