"""Bytes of rows whose values are shared: each row's text counts."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from evenflow.transforms.io.blocks import BLOCK_BYTES, read_blocks
from evenflow.transforms.io.sizes import table_bytes

LONG, ROWS = "a" * 100_000, 400
TEXTS = pa.array([LONG] * ROWS)
SHARED = pa.DictionaryArray.from_arrays(pa.array([0] * ROWS), pa.array([LONG]))
FORMS: dict[str, Any] = {
    "dictionary": SHARED,
    "runs": pc.run_end_encode(TEXTS),
    "view": TEXTS.cast(pa.string_view()),
    "large": TEXTS.cast(pa.large_string()),
    "list": pa.ListArray.from_arrays(pa.array(range(ROWS + 1), pa.int32()), SHARED),
    "struct": pa.StructArray.from_arrays([SHARED], ["a"]),
    "fixed": pa.FixedSizeListArray.from_arrays(SHARED, 1),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("first", [0, 100])
def test_every_row_counts_its_text(form: str, first: int) -> None:
    rows = pa.table({"text": FORMS[form]}).slice(first)
    least = len(rows) * len(LONG)
    assert least <= table_bytes(rows) < 1.1 * least


@pytest.mark.parametrize("form", ["dictionary", "list"])
def test_a_block_is_bounded_by_the_lengths_of_its_texts(tmp_path: Path, form: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": FORMS[form]}), path)
    assert path.stat().st_size < 100_000
    blocks = list(read_blocks(str(path)))
    assert sum(block.size for block in blocks) == ROWS
    assert max(sum(block.weights()) for block in blocks) <= BLOCK_BYTES


def test_views_in_parquet_are_read_as_texts(tmp_path: Path) -> None:
    path, texts = tmp_path / "a.parquet", pa.array(["She left.", None, "a" * 100])
    views = texts.cast(pa.string_view())
    lists = pa.ListArray.from_arrays(pa.array(range(4), pa.int32()), views)
    table = {"text": views, "lists": lists, "struct": pa.StructArray.from_arrays([lists], ["a"])}
    pq.write_table(pa.table(table), path)
    (block,) = read_blocks(str(path))
    assert block.rows is not None
    assert "view" not in str(block.rows.schema)
    assert block.rows.take(pa.array([0, 1, 2])).to_pylist() == pa.table(table).to_pylist()
