"""Cutting panes, chunks of panes, and the graph on files."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.pipelines.files import cutting, graph, workers
from evenflow.pipelines.panes import closing
from evenflow.schemas.config import load
from evenflow.transforms.io import blocks, files
from evenflow.transforms.storage.storage import at

SIZES = st.lists(st.lists(st.integers(0, 3000), max_size=12), min_size=1, max_size=4)


def written(folder: Path, sizes: list[list[int]]) -> dict[str, int]:
    for number, lengths in enumerate(sizes):
        (folder / f"{number}.jsonl").write_bytes(
            b"".join(b"x" * length + b"\n" for length in lengths)
        )
    return files.match([str(folder)])


@given(SIZES, st.integers(1, 9))
def test_panes_cover_every_record_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, sizes, docs: int
) -> None:
    names = written(tmp_path_factory.mktemp("cut"), sizes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", 2000)
        panes = list(cutting.cut(names, load(None, {"pane.docs": docs})))
        patch.setattr(blocks, "BLOCK_BYTES", 1 << 20)
        again = cutting.cut(names, load(None, {"pane.docs": docs}))
        assert [pane.segments for pane in again] == [pane.segments for pane in panes]
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
    panes = list(cutting.cut(names, load(None, {"pane.mib": 1})))
    assert [pane.size for pane in panes] == [800_000, 800_000, 800_000, 1_500_000, 10]


@given(st.lists(st.integers(1, 50), max_size=30))
def test_chunks_keep_panes_in_order_and_bounded(sizes: list[int]) -> None:
    panes = [cutting.Pane(number, (), size, 0) for number, size in enumerate(sizes)]
    chunks = list(workers.chunks(iter(panes), 60))
    assert [pane for chunk in chunks for pane in chunk] == panes
    assert all(len(chunk) == 1 or sum(pane.size for pane in chunk) <= 60 for chunk in chunks)


def test_a_step_that_fails_raises_its_own_error(tmp_path: Path) -> None:
    config = load(None)
    context = graph.GraphContext(config.model_dump(), closing.Staging(at(tmp_path), "run"))
    pane = cutting.Pane(0, (cutting.Segment(str(tmp_path / "gone.jsonl"), 0, 5, 0),), 1, 1)
    with pytest.raises(FileNotFoundError, match=r"gone\.jsonl"):
        graph.run_graph([pane], context)


def test_the_graph_leaves_a_pane_ready(tmp_path: Path) -> None:
    lines = [json.dumps({"id": str(i), "text": f"She saw him {i} times."}) for i in range(7)]
    (tmp_path / "in.jsonl").write_text(
        "\n".join([*lines[:3], "nonsense", *lines[3:]]), encoding="utf-8"
    )
    config = load(None)
    [pane] = cutting.cut(files.match([str(tmp_path / "in.jsonl")]), config)
    context = graph.GraphContext(config.model_dump(), closing.Staging(at(tmp_path), "run"))
    spent = graph.run_graph([pane], context)
    folder = context.staging.find(0)
    assert folder is not None
    ready = closing.read_ready(at(tmp_path), folder)
    assert ready.checks.success
    assert (ready.figures.documents, ready.figures.sentences, ready.figures.dead_reasons) == (
        7,
        7,
        {"not JSON": 1},
    )
    assert ready.figures.attributes["gender"].counts == [7, 7]
    assert [shard.rows for shard in ready.shards] == [7] and ready.dead_letters is not None
    left = sorted(path.name for path in (tmp_path / folder).iterdir())
    assert left == [
        "000000.sha256",
        "part-00000000-0000.parquet",
        "part-00000000.jsonl",
        "ready.json",
    ]
    assert {"start checks", "read", "annotate", "stage", "shards", "beam"} == spent.keys()
