from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.schemas import documents
from evenflow.transforms.staging import aside
from evenflow.transforms.staging.shards import ShardLayout, write_block

LAYOUT = ShardLayout((), "body", "key", 100)


def block(path: Path, ids: list[str], extra: pa.Array, name: str = "extra") -> Path:
    columns = [
        (documents.ID, pa.array(ids)),
        (documents.TEXT, pa.array([f"text {each}" for each in ids], pa.large_string())),
        (documents.ORDINAL, pa.array(range(len(ids)), pa.int64())),
        (documents.REASON, pa.array(["why"] * len(ids))),
        (pa.field(name, extra.type), extra),
    ]
    write_block(
        pa.Table.from_arrays(
            [values for _, values in columns], schema=pa.schema([key for key, _ in columns])
        ),
        path,
    )
    return path


def test_one_file_of_a_pane_in_source_order(tmp_path: Path) -> None:
    paths = [
        block(tmp_path / "0.aside", ["b", "a"], pa.array([1, 2])),
        block(tmp_path / "1.aside", ["c"], pa.array([3])),
    ]
    shard = aside.write([*paths[:1], tmp_path / "none.aside", *paths[1:]], tmp_path, 4, LAYOUT)
    assert shard is not None and (shard.name, shard.rows) == ("part-00000004-aside.parquet", 3)
    rows = pq.read_table(tmp_path / shard.name).to_pylist()
    assert rows[0] == {"key": "b", "body": "text b", "reason": "why", "extra": 1}
    assert [row["key"] for row in rows] == ["b", "a", "c"] and not paths[0].exists()
    assert aside.write([tmp_path / "none.aside"], tmp_path, 5, LAYOUT) is None


def test_a_field_of_the_input_that_is_called_reason_stays(tmp_path: Path) -> None:
    shard = aside.write(
        [block(tmp_path / "0.aside", ["a"], pa.array(["mine"]), "reason")], tmp_path, 0, LAYOUT
    )
    assert shard is not None
    assert pq.read_table(tmp_path / shard.name).to_pylist() == [
        {"key": "a", "body": "text a", "reason'": "why", "reason": "mine"}
    ]
