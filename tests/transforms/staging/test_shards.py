from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.schemas import documents
from evenflow.transforms.io.records import Documents
from evenflow.transforms.staging import shards
from evenflow.transforms.staging.block import Part, StagedBlock, documents_table

ATTRIBUTES = (documents.Attribute("gender", ("female", "male")),)


def block(first: int, texts: list[str], extra: pa.Array | None = None) -> pa.Table:
    places = list(range(first, first + len(texts)))
    others = {} if extra is None else {pa.field("url", extra.type): extra}
    ones = pa.array([1] * len(texts), pa.int32())
    return documents_table(
        Documents("f", list(map(str, places)), texts, places, others),
        dict.fromkeys(documents.mention_fields(ATTRIBUTES[0]), ones),
    )


def write(folder: Path, texts: list[str], cuts: list[int], rows: int) -> list[Path]:
    folder.mkdir(parents=True)
    edges = [0, *sorted(cut % (len(texts) + 1) for cut in cuts), len(texts)]
    staged = []
    for number, (begin, end) in enumerate(pairwise(edges)):
        staged.append(StagedBlock(folder, str(number)))
        own = texts[begin:end]
        staged[-1].write(Part.DOCUMENTS, block(begin, own, pa.array(own)))
    written = shards.write_shards(
        staged, folder, 7, shards.ShardLayout(ATTRIBUTES, "text", "id", rows)
    )
    return [folder / shard.name for shard in written]


@given(
    st.lists(st.text("ab", max_size=40), min_size=1, max_size=30),
    st.lists(st.integers(0, 100), max_size=4),
    st.integers(1, 12),
    st.sampled_from([1, 30, 1 << 20]),
)
def test_shards_hold_all_in_order_however_blocks_were_cut(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    cuts: list[int],
    rows: int,
    size: int,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "ROW_GROUP_BYTES", size)
        patch.setattr(shards, "ROW_GROUP", 5)
        folder = tmp_path_factory.mktemp("cut")
        one, other = (
            write(folder / "one", texts, [], rows),
            write(folder / "other", texts, cuts, rows),
        )
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]
    read = [pq.read_table(path) for path in one]
    assert [text for table in read for text in table["text"].to_pylist()] == texts
    assert [text for table in read for text in table["url"].to_pylist()] == texts
    assert all(table.num_rows == rows for table in read[:-1]) and read[-1].num_rows <= rows
    groups = [
        pq.ParquetFile(path).metadata.row_group(i)
        for path in one
        for i in range(pq.ParquetFile(path).num_row_groups)
    ]
    assert all(0 < group.num_rows <= 5 for group in groups)
    assert one[0].name == "part-00000007-0000.parquet"


def test_no_document_no_shard(tmp_path: Path) -> None:
    assert (
        shards.write_shards([], tmp_path, 0, shards.ShardLayout(ATTRIBUTES, "text", "id", 10)) == []
    )


def test_a_field_of_one_block_is_null_in_the_others(tmp_path: Path) -> None:
    staged = [StagedBlock(tmp_path, stem) for stem in ("0", "none", "1")]
    staged[0].write(Part.DOCUMENTS, block(0, ["a"]))
    staged[2].write(Part.DOCUMENTS, block(1, ["b"], pa.array([5])))
    [written] = shards.write_shards(
        staged, tmp_path, 0, shards.ShardLayout(ATTRIBUTES, "body", "key", 10)
    )
    table = pq.read_table(tmp_path / written.name)
    assert table.column_names == [
        *("key", "body", "url", "_extra", "mentions_gender_female", "mentions_gender_male")
    ]
    assert table["url"].to_pylist() == [None, 5]
    assert (written.rows, written.bytes) == (2, (tmp_path / written.name).stat().st_size)
