"""Cutting panes, chunks of panes, and the graph on files."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pane_entries import pane_entry

from evenflow.pipelines.files import cutting, graph, workers
from evenflow.pipelines.panes import closing
from evenflow.schemas.config import Config, load
from evenflow.schemas.ledger import PaneEntry, SourceRange
from evenflow.transforms.io import blocks, files
from evenflow.transforms.io.scan import pack, scan, unpack

SIZES = st.lists(st.lists(st.integers(0, 3000), max_size=12), min_size=1, max_size=4)


def written(folder: Path, sizes: list[list[int]]) -> dict[str, int]:
    for number, lengths in enumerate(sizes):
        (folder / f"{number}.jsonl").write_bytes(
            b"".join(b"x" * length + b"\n" for length in lengths)
        )
    return files.match([str(folder)])


def cut(
    names: dict[str, int], config: Config, after: PaneEntry | None = None, most: int = 1 << 20
) -> list[cutting.Pane]:
    """Panes from a scan of the files in parts of so many bytes."""
    found = [scanned for part in cutting.parts(names, after, most) for scanned in scan(part)]
    return list(cutting.cut(names, unpack(pack(found)), config, after))


@given(SIZES, st.integers(1, 9))
def test_panes_cover_every_record_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, sizes, docs: int
) -> None:
    names = written(tmp_path_factory.mktemp("cut"), sizes)
    panes = cut(names, load(None, {"pane.docs": docs}))
    covered = [
        (segment.file, i)
        for pane in panes
        for segment in pane.segments
        for i in range(segment.first, segment.last + 1)
    ]
    assert covered == [
        (name, i) for name, lengths in zip(names, sizes, strict=True) for i in range(len(lengths))
    ]
    assert [pane.number for pane in panes] == list(range(len(panes)))
    counts = [sum(segment.last - segment.first + 1 for segment in pane.segments) for pane in panes]
    assert all(count == docs for count in counts[:-1])
    assert not panes or panes[-1].stored == sum(names.values())


def test_a_pane_ends_before_it_grows_beyond_its_bytes(tmp_path: Path) -> None:
    names = written(tmp_path, [[400_000] * 6 + [1_500_000] + [10]])
    panes = cut(names, load(None, {"pane.mib": 1}))
    assert [pane.size for pane in panes] == [800_000, 800_000, 800_000, 1_500_000, 10]


def one_by_one(names: dict[str, int], config: Config) -> list[tuple]:
    """Panes by a loop over the records: number, segments, bytes."""
    panes: list[tuple] = []
    segments: list[cutting.Segment] = []
    docs = size = 0
    for file in names:
        first, at, offset = 0, 0, 0 if file.endswith(".jsonl") else None
        for block in blocks.read_blocks(file):
            for index, weight in enumerate(block.weights()):
                most = config.pane.mib * (1 << 20)
                if docs and (docs >= (config.pane.docs or 0) or size + weight > most):
                    if at > first:
                        segments.append(cutting.Segment(file, first, at - 1, len(segments), offset))
                    panes.append((len(panes), tuple(segments), size))
                    docs, size, segments, first, offset = 0, 0, [], at, block.byte(index)
                at, docs, size = at + 1, docs + 1, size + weight
            if block.fault is not None:
                at, docs = at + 1, docs + 1
        if at > first:
            segments.append(cutting.Segment(file, first, at - 1, len(segments), offset))
    return [*panes, (len(panes), tuple(segments), size)] if segments else panes


FILES = st.lists(
    st.tuples(
        st.sampled_from([".jsonl", ".jsonl.gz", ".parquet", ".txt"]),
        st.lists(st.integers(0, 60), max_size=30),
        st.booleans(),
    ),
    min_size=1,
    max_size=5,
)


@settings(deadline=None)
@given(FILES, st.integers(1, 9), st.integers(1, 300), st.integers(1, 120), st.data())
def test_panes_do_not_depend_on_parts_blocks_and_restarts(
    tmp_path_factory: pytest.TempPathFactory,
    made: list[tuple[str, list[int], bool]],
    docs: int,
    size: int,
    most: int,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("same")
    for number, (kind, lengths, broken) in enumerate(made):
        path = folder / f"{number}{kind}"
        lines = b"".join(b"x" * length + b"\n" for length in lengths)
        if kind == ".parquet":
            table = pa.table({"text": ["x" * length for length in lengths]})
            pq.write_table(table, path, row_group_size=4)
        else:
            path.write_bytes(gzip.compress(lines, mtime=0) if kind.endswith("gz") else lines)
        if broken and kind in (".parquet", ".jsonl.gz"):
            path.write_bytes(path.read_bytes()[:-12])
    names = files.match([str(folder)])
    config = load(None)
    config = config.model_copy(
        update={"pane": config.pane.model_copy(update={"docs": docs, "mib": size / (1 << 20)})}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", data.draw(st.integers(10, 200)))
        expected = one_by_one(names, config)
        found = cut(names, config, None, most)
        assert plain(found) == expected
        if found:
            last = data.draw(st.sampled_from(found))
            read = [
                SourceRange(file=each.file, first=each.first, last=each.last, offset=each.offset)
                for each in last.segments
            ]
            after = pane_entry(last.number, source=read)
            assert plain(cut(names, config, after, most)) == expected[last.number + 1 :]


def plain(panes: list[cutting.Pane]) -> list[tuple]:
    """Panes without how far the files are read, which is about right only."""
    return [(pane.number, pane.segments, pane.size) for pane in panes]


@given(st.lists(st.integers(1, 50), max_size=30))
def test_chunks_keep_panes_in_order_and_bounded(sizes: list[int]) -> None:
    panes = [cutting.Pane(number, (), size, 0) for number, size in enumerate(sizes)]
    chunks = list(workers.chunks(iter(panes), 60))
    assert [pane for chunk in chunks for pane in chunk] == panes
    assert all(len(chunk) == 1 or sum(pane.size for pane in chunk) <= 60 for chunk in chunks)


def test_a_step_that_fails_raises_its_own_error(tmp_path: Path) -> None:
    config = load(None)
    context = graph.GraphContext(config.model_dump(), str(tmp_path / "staged"))
    pane = cutting.Pane(0, (cutting.Segment(str(tmp_path / "gone.jsonl"), 0, 5, 0),), 1, 1)
    with pytest.raises(FileNotFoundError, match=r"gone\.jsonl"):
        graph.run_graph([pane], context)


def test_the_graph_leaves_a_pane_ready(tmp_path: Path) -> None:
    lines = [json.dumps({"id": str(i), "text": f"She saw him {i} times."}) for i in range(7)]
    (tmp_path / "in.jsonl").write_text(
        "\n".join([*lines[:3], "nonsense", *lines[3:]]), encoding="utf-8"
    )
    config = load(None)
    [pane] = cut(files.match([str(tmp_path / "in.jsonl")]), config)
    context = graph.GraphContext(config.model_dump(), str(tmp_path / "staged"))
    spent = graph.run_graph([pane], context)
    ready = closing.read_ready(tmp_path / "staged" / "00000000")
    assert (ready.figures.documents, ready.figures.sentences, ready.figures.dead_reasons) == (
        7,
        7,
        {"not JSON": 1},
    )
    assert ready.figures.attributes["gender"].counts == [7, 7]
    assert [shard.rows for shard in ready.shards] == [7] and ready.dead_letters is not None
    left = sorted(path.name for path in (tmp_path / "staged" / "00000000").iterdir())
    assert left == [
        "000000.sha256",
        "part-00000000-0000.parquet",
        "part-00000000.jsonl",
        "ready.json",
    ]
    assert {"read", "annotate", "stage", "shards", "beam"} == spent.keys()
