import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
import zstandard
from commands import Call
from hypothesis import given
from hypothesis import strategies as st

import evenflow
from evenflow.gates.ledger import reviews
from evenflow.pipelines.accepted.rows import fitted, union
from evenflow.transforms.io.fields import JSON

pytest_plugins = ["commands"]
HE = "He met his father and his uncle."
# Pane by pane: another type, a field that is missing, an object with another field
FIELDS: list[dict[str, Any]] = [
    {"n": 1, "stars": 4, "meta": {"a": 1}},
    {"n": 2, "stars": 4.5, "meta": {"b": "x"}},
    {"n": "three", "lang": "en", "meta": None},
]


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three panes that are accepted, of documents whose fields differ, then a blocked one."""
    out = tmp_path_factory.mktemp("rows") / "out"
    rows = [
        {"id": f"{pane}-{n}", "text": "She met her brother. He met his sister.", **fields}
        for pane, fields in enumerate(FIELDS)
        for n in range(40)
    ]
    rows += [{"id": f"3-{n}", "text": HE * 3, "n": 4} for n in range(40)]
    config = {"pane.docs": 40, "gate.warn": 0.1, "gate.block": 0.15}
    result = evenflow.Gate(config, attributes=["gender"]).run(rows, out)
    assert (result["blocked"], result["accepted"]) == ([3], 120)
    return out


def test_shards_of_different_columns_are_one_data_set(output: Path) -> None:
    rows = evenflow.accepted(output)
    table = rows.to_table()
    assert (len(rows), table.num_rows) == (120, 120)
    assert rows.as_json == ["n"]
    assert table.schema.field("n").metadata == JSON
    assert table.schema.field("stars").type == pa.float64()
    found = [table.slice(at, 1).to_pylist()[0] for at in (0, 40, 80)]
    assert [json.loads(each["n"]) for each in found] == [1, 2, "three"]
    assert [each["stars"] for each in found] == [4.0, 4.5, None]
    assert [each["meta"] for each in found] == [{"a": 1, "b": None}, {"a": None, "b": "x"}, None]
    assert [each["lang"] for each in found] == [None, None, "en"]
    assert rows.to_pandas(["id", "lang"]).columns.tolist() == ["id", "lang"]
    assert sum(1 for _ in rows) == 120
    assert pc.sum(rows.to_table(["mentions_gender_male"])[0]).as_py() == 360
    assert "120 rows in 3 files" in repr(rows)
    with pytest.raises(KeyError):
        rows.to_table(["nothing"])
    assert len(evenflow.accepted(output, slice(1, 2))) == 40


def test_what_people_decided_counts(output: Path) -> None:
    reviews.add(output, "accept", range(3, 4), "read")
    reviews.add(output, "reject", range(1), "the wrong source")
    try:
        assert [each.pane for each in evenflow.accepted(output).files] == [1, 2, 3]
    finally:
        reviews.add(output, "undo", range(4), "as it was")


@pytest.mark.parametrize("name", ["rows", "a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_export(call: Call, output: Path, tmp_path: Path, name: str) -> None:
    to = tmp_path / name
    told = call("gate", "export", output, "--to", to, "--json").json
    assert (told["rows"], told["as_json"]) == (120, ["n"])
    if to.is_dir():
        # As pandas, duckdb and load_dataset read it: all files at once
        assert ds.dataset(to / "data").to_table().num_rows == 120
        assert "data_files: data/*.parquet" in (to / "README.md").read_text()
    else:
        raw = to.read_bytes()
        if name.endswith("gz"):
            raw = gzip.decompress(raw)
        elif name.endswith("zst"):
            raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
        lines = [json.loads(line) for line in raw.splitlines()]
        assert [lines[at]["n"] for at in (0, 40, 80)] == [1, 2, "three"]
        assert len(lines) == 120 and [*lines[0]][:2] == ["id", "text"]  # as they came
    again = call("gate", "export", output, "--to", to)
    assert again.status == 2 and "it is there already" in again.err
    assert list(tmp_path.iterdir()) == [to]


def test_an_export_of_nothing_has_no_row(call: Call, output: Path, tmp_path: Path) -> None:
    (tmp_path / "none.part").mkdir()  # of an export that was killed
    assert call("gate", "export", output, "--to", tmp_path / "none", "--pane", "3").status == 0
    assert ds.dataset(tmp_path / "none/data").to_table().num_rows == 0


def test_other_libraries_read_it(output: Path) -> None:
    polars = pytest.importorskip(
        "polars", reason="readers: run `.venv/bin/pip install polars duckdb datasets`"
    )
    duckdb = pytest.importorskip(
        "duckdb", reason="readers: run `.venv/bin/pip install polars duckdb datasets`"
    )
    rows = evenflow.accepted(output)
    assert isinstance(frame := rows.to_polars(), polars.DataFrame) and len(frame) == 120
    batches = rows.reader()
    assert duckdb.sql("select count(*), count(lang) from batches").fetchall() == [(120, 40)]
    assert batches is not None


def test_datasets_reads_it(call: Call, output: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip(
        "datasets", reason="readers: run `.venv/bin/pip install polars duckdb datasets`"
    )
    rows = evenflow.accepted(output)
    assert len(rows.to_huggingface()) == 120
    assert sum(1 for _ in rows.to_huggingface(streaming=True)) == 120
    call("gate", "export", output, "--to", tmp_path / "rows")
    loaded = datasets.load_dataset(str(tmp_path / "rows"), cache_dir=str(tmp_path / "cache"))
    assert loaded["train"].num_rows == 120


VALUES = st.lists(
    st.one_of(
        st.lists(st.integers(-9, 9), min_size=1),
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
        st.lists(st.text(), min_size=1),
        st.lists(st.booleans(), min_size=1),
        st.lists(st.lists(st.integers(0, 9)), min_size=1),
        st.lists(st.fixed_dictionaries({}, optional={"a": st.integers(0, 9)}), min_size=1),
        st.just(None),
    ),
    min_size=1,
    max_size=4,
)


@given(VALUES)
def test_no_value_is_lost(shards: list[list[Any] | None]) -> None:
    batches = [
        pa.RecordBatch.from_pydict(
            {"i": [0]} if each is None else {"i": [0] * len(each), "x": each}
        )
        for each in shards
    ]
    schema = union([each.schema for each in batches])
    for batch, values in zip(batches, shards, strict=True):
        out = fitted(batch, schema)
        assert out.schema == schema
        if "x" not in schema.names:
            continue
        found = out.column("x").to_pylist()
        if schema.field("x").metadata:
            found = [None if each is None else json.loads(each) for each in found]
        for mine, theirs in zip(found, values or [None], strict=True):
            if isinstance(theirs, dict):
                mine = {key: each for key, each in (mine or {}).items() if each is not None}
            assert mine == theirs
