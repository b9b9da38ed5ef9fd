"""Cutting panes, making them, and the graph on files."""

import gzip
import json
from pathlib import Path
from uuid import uuid4

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

from evenflow.gates import hold
from evenflow.pipelines.engine import make
from evenflow.pipelines.engine.files import cutting, graph
from evenflow.pipelines.engine.files.cutting import FileReads
from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.engine.panes import closing
from evenflow.pipelines.engine.panes.epochs import RunError
from evenflow.pipelines.engine.runners import making
from evenflow.schemas.config import Config, load
from evenflow.transforms.io import blocks, files
from evenflow.transforms.io.scan import pack, scan, unpack
from evenflow.transforms.storage.storage import Storage, at


def written(folder: Path, sizes: list[list[int]]) -> dict[str, int]:
    for number, lengths in enumerate(sizes):
        (folder / f"{number}.jsonl").write_bytes(
            b"".join(b"x" * length + b"\n" for length in lengths)
        )
    return files.match([str(folder)])


def cut(
    names: dict[str, int], config: Config, begin: cutting.Begin = cutting.START, most: int = 1 << 20
) -> list[cutting.Pane]:
    """Panes from a scan of the files in parts of so many bytes."""
    found = [scanned for part in cutting.parts(names, begin, most) for scanned in scan(part)]
    return list(cutting.cut(unpack(pack(found)), config, begin))


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz"])
def test_progress_within_a_file_follows_its_records(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    data = b"".join(b"%032x\n" % (7**n % 2**128) for n in range(1000))
    path.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    size = path.stat().st_size
    (other := path.with_name(f"b.{suffix}")).write_bytes(path.read_bytes())
    panes = cut({str(path): size, str(other): size}, load(None, {"pane.docs": 250}))
    # One that ends with a file has read all of that file, and nothing of the next
    assert [round(each.stored / size, 2) for each in panes] == [0.25, 0.5, 0.75, 1] * 2


def test_a_pane_ends_before_it_grows_beyond_its_bytes(tmp_path: Path) -> None:
    names = written(tmp_path, [[400_000] * 6 + [1_500_000] + [10]])
    panes = cut(names, load(None, {"pane.mib": 1}))
    assert [pane.size for pane in panes] == [800_000, 800_000, 800_000, 1_500_000, 10]


def test_a_pane_of_short_records_is_bounded_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "MOST_RECORDS", 100)
    panes = cut(written(tmp_path, [[1] * 250]), load(None))
    assert [pane.segments[0].last for pane in panes] == [99, 199, 249]


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
                        segments.append(cutting.Segment(file, first, at - 1, offset))
                    panes.append((len(panes), tuple(segments), size))
                    docs, size, segments, first, offset = 0, 0, [], at, block.byte(index)
                at, docs, size = at + 1, docs + 1, size + weight
            if block.fault is not None:
                at, docs = at + 1, docs + 1
        if at > first:
            segments.append(cutting.Segment(file, first, at - 1, offset))
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
        found = cut(names, config, most=most)
        assert plain(found) == expected
        if found:
            last = data.draw(st.sampled_from(found))
            segment = last.segments[-1]
            begin = cutting.Begin(last.number + 1, {segment.file: segment})
            left = {name: size for name, size in names.items() if name >= segment.file}
            assert plain(cut(left, config, begin, most)) == expected[last.number + 1 :]


def plain(panes: list[cutting.Pane]) -> list[tuple]:
    """Panes without how far the files are read, which is about right only."""
    return [(pane.number, pane.segments, pane.size) for pane in panes]


def corpus(path: Path) -> None:
    lines = [json.dumps({"id": str(i), "text": f"She saw him {i} times."}) for i in range(7)]
    path.write_text("\n".join([*lines[:3], "nonsense", *lines[3:]]), encoding="utf-8")


IN_PROCESS = ["--runner=FnApiRunner"]


def test_a_step_that_fails_raises_its_own_error(tmp_path: Path) -> None:
    staging = closing.Staging(at(tmp_path), uuid4().hex)
    context = make.GraphContext(load(None).model_dump(), staging, FileReads())
    with pytest.raises(FileNotFoundError, match=r"gone\.jsonl"):
        list(
            graph.made({str(tmp_path / "gone.jsonl"): 5}, context, cutting.START, IN_PROCESS, print)
        )


def outputs(place: Storage) -> dict[str, bytes]:
    """What readers use, without times."""
    folders = ("accepted", "quarantine", "dead-letter", "sentences", "ledger")
    return {
        each.name: place.read(each.name)
        for folder in folders
        for each in place.tree(folder)
        if each.name != "ledger/meta.json"
    }


@pytest.mark.parametrize("scope", ["pane", "run"])
def test_graph_and_store_give_what_a_run_in_a_directory_gives(tmp_path: Path, scope: str) -> None:
    rows = gzip.decompress((DATA / "speeches.jsonl.gz").read_bytes()).decode().splitlines()[:30]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text("\n".join([*rows[:9], "x", *rows[9:20]]))
    (tmp_path / "in" / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(rows[18:]).encode()))
    (tmp_path / "in" / "c.txt").write_text("She met her brother.")
    config = load(None, {"pane.docs": 7, "duplicates.scope": scope, "gate.most_dead": 1.0})
    store = at(f"memory://{uuid4().hex}/a b")
    whole = Run([str(tmp_path / "in")], tmp_path / "one", config).go()
    expected = outputs(at(tmp_path / "one"))
    assert len(whole.entries) == 5 and len(expected) > 10
    for output, options in (
        (store.below("local"), []),
        (at(tmp_path / "graph"), IN_PROCESS),
        (store.below("graph"), IN_PROCESS),
    ):
        done = Run([str(tmp_path / "in")], output, config, options=options).go()
        assert (done.new, outputs(output)) == (5, expected)
        assert list(output.tree("staged")) == []
        assert Run([str(tmp_path / "in")], output, config, options=options).go().new == 0


def test_a_graph_goes_on_after_a_committed_pane_and_halts(tmp_path: Path) -> None:
    rows = gzip.decompress((DATA / "speeches.jsonl.gz").read_bytes()).decode().splitlines()[:30]
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    overrides = {
        "pane.docs": 7,
        "gate.warn": 0.1,
        "gate.block": 0.15,
        "gate.min_mentions": 20,
        "gate.on_block": "halt",
    }
    config = load(None, overrides)
    for output, options in ((tmp_path / "one", []), (tmp_path / "graph", IN_PROCESS)):
        done = Run([str(tmp_path / "a.jsonl")], output, config, options=options).go()
        assert done.held is not None
        while done.held is not None:
            hold.add_event(output, "release", "looked at it", len(done.entries))
            done = Run([str(tmp_path / "a.jsonl")], output, config, options=options).go()
    one, other = outputs(at(tmp_path / "one")), outputs(at(tmp_path / "graph"))
    assert {k: v for k, v in one.items() if "holds" not in k} == {
        k: v for k, v in other.items() if "holds" not in k
    }


def test_a_worker_whose_driver_ended_makes_nothing_and_one_that_is_to_wait_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus(tmp_path / "in.jsonl")
    config = load(None)
    [pane] = cut(files.match([str(tmp_path / "in.jsonl")]), config)
    output = at(tmp_path / "out")
    staging = closing.Staging(output, uuid4().hex)
    step = making.MakePane(make.GraphContext(config.model_dump(), staging, FileReads()))
    step.process(pane)
    assert not staging.found(0)

    def go_on(seconds: float) -> None:
        assert not staging.found(0)
        output.write(staging.name(making.STATE), _state(0, False))

    monkeypatch.setattr("evenflow.pipelines.engine.runners.making.time.sleep", go_on)
    output.write(staging.name(making.STATE), _state(0, True))
    step.process(pane)
    assert staging.found(0)
    step.process(pane)  # a second try, and one of a pane that is committed
    output.write(staging.name(making.STATE), _state(1, False))
    output.remove([f"{staging.name('000000000000')}.json"])
    step.process(pane)
    assert not staging.found(0)
    output.write(staging.name(making.STATE), b'{"next": 1, "wait": false, "format": 3}')
    with pytest.raises(RunError, match="staged data have format 3"):
        step.process(pane)


def _state(following: int, wait: bool) -> bytes:
    """What a driver of this version tells its workers."""
    return orjson.dumps({"next": following, "wait": wait, "format": making.FORMAT})


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 60))
def test_small_files_are_scanned_together_and_large_ones_in_parts(
    sizes: list[int], most: int
) -> None:
    names = {f"{number}.jsonl": size for number, size in enumerate(sizes)}
    found = list(graph.splits(names, most=most))
    assert [part for split in found for part in split] == list(cutting.parts(names, most=most))
    assert all(sum(part.stored for part in split) <= most for split in found)
