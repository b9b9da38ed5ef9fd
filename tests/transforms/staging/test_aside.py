from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.schemas import documents
from evenflow.transforms.io.records import Documents
from evenflow.transforms.staging import aside
from evenflow.transforms.staging.block import Part, StagedBlock, documents_table
from evenflow.transforms.staging.shards import ShardLayout

LAYOUT = ShardLayout((), "body", "key", 100)


def staged(made: StagedBlock, ids: list[str], extra: pa.Array, name: str = "extra") -> StagedBlock:
    texts = [f"text {each}" for each in ids]
    found = Documents("f", ids, texts, list(range(len(ids))), {pa.field(name, extra.type): extra})
    reasons = pa.array(["why"] * len(ids))
    made.write(Part.ASIDE, documents_table(found, {documents.REASON: reasons}))
    return made


def test_one_file_of_a_pane_in_source_order(tmp_path: Path) -> None:
    none, empty = StagedBlock(tmp_path, "none"), StagedBlock(tmp_path, "empty")
    blocks = [
        staged(StagedBlock(tmp_path, "0"), ["b", "a"], pa.array([1, 2])),
        none,
        staged(empty, ["d"], pa.array([4])),
        staged(StagedBlock(tmp_path, "1"), ["c"], pa.array([3])),
    ]
    empty.drop([0])
    shard = aside.write(blocks, tmp_path, 4, LAYOUT)
    assert shard is not None and (shard.name, shard.rows) == ("part-00000004-aside.parquet", 3)
    rows = pq.read_table(tmp_path / shard.name).to_pylist()
    assert rows[0] == {"key": "b", "body": "text b", "reason": "why", "extra": 1, "_extra": None}
    assert [row["key"] for row in rows] == ["b", "a", "c"]
    assert aside.write([none, empty], tmp_path, 5, LAYOUT) is None


def test_a_field_of_the_input_that_is_called_reason_stays(tmp_path: Path) -> None:
    block = staged(StagedBlock(tmp_path, "0"), ["a"], pa.array(["mine"]), "reason")
    shard = aside.write([block], tmp_path, 0, LAYOUT)
    assert shard is not None
    assert pq.read_table(tmp_path / shard.name).to_pylist() == [
        {"key": "a", "body": "text a", "reason'": "why", "reason": "mine", "_extra": None}
    ]
