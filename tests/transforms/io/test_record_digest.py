"""The digest of a range of records depends on their values alone, not on the blocks."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenflow.transforms.io import blocks
from evenflow.transforms.io.record_digest import RecordDigest


def digest(path: Path, first: int = 0, last: int = 1 << 40) -> str:
    """Digest a range of a file's records."""
    found = RecordDigest()
    for block in blocks.FileReader().segment(str(path), first, last, None):
        found.add(block)
    return found.hexdigest()


def table(**changes) -> pa.Table:
    """Make a table of 50 rows, with some columns changed."""
    columns = {
        "id": [str(i) for i in range(50)],
        "text": ["She said.", None, "é"] * 16 + ["a", "b"],
        "n": pa.array([1, None] * 25, pa.int32()),
        "when": pa.array(range(50), pa.timestamp("ms")),
        "tags": [["x"], [], None, ["y", None], ["z"]] * 10,
        "meta": [{"lang": "en"}, None] * 25,
    }
    return pa.table(columns | changes)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_it_does_not_depend_on_the_blocks(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    if name.endswith(".parquet"):
        pq.write_table(table(), path)
    else:
        data = "".join(json.dumps({"text": "x" * i}) + "\n" for i in range(300)).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    whole, part = digest(path), digest(path, 7, 30)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 100)
    monkeypatch.setattr(blocks, "BLOCK_RECORDS", 3)
    assert (digest(path), digest(path, 7, 30)) == (whole, part)
    assert whole != part


@pytest.mark.parametrize(
    "change",
    [
        {"text": ["She said.", None, "e"] * 16 + ["a", "b"]},
        {"text": [None, "She said.", "é"] * 16 + ["a", "b"]},
        {"n": pa.array([1, 0] * 25, pa.int32())},
        {"tags": [["x"], [], None, ["y", None], ["Z"]] * 10},
        {"meta": [{"lang": "en"}, {"lang": None}] * 25},
    ],
)
def test_another_value_is_another_digest(tmp_path: Path, change: dict) -> None:
    one, two = tmp_path / "one.parquet", tmp_path / "two.parquet"
    pq.write_table(table(), one)
    pq.write_table(table(**change), two)
    assert digest(one) != digest(two)


def test_a_table_s_values_count_not_its_encoding(tmp_path: Path) -> None:
    one, two = tmp_path / "one.parquet", tmp_path / "two.parquet"
    pq.write_table(table(), one)
    pq.write_table(table(), two, compression="zstd", use_dictionary=False, row_group_size=7)
    assert digest(one) == digest(two)
