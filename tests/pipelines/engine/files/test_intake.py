"""An input that grows is gone on with; one that has changed is refused."""

import gzip
import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pane_entries import pane_entry

from evenflow.gates.ledger.files import read_entries, read_meta, write_meta
from evenflow.gates.ledger.history import History
from evenflow.pipelines.engine.files import cutting, intake
from evenflow.pipelines.engine.files.cutting import ChangedError
from evenflow.pipelines.engine.files.driver import Run, RunError
from evenflow.pipelines.engine.files.intake import Intake
from evenflow.pipelines.terminal.outcome import Observer
from evenflow.schemas.config import load
from evenflow.schemas.ledger import SourceRange
from evenflow.transforms.io import files
from evenflow.transforms.io.blocks import FileReader
from evenflow.transforms.io.record_digest import RecordDigest
from evenflow.transforms.storage.storage import at


class KilledError(Exception):
    """Stands for a kill."""


def lines(*names: str) -> bytes:
    return b"".join(
        json.dumps({"id": name, "text": f"She met him, {name}."}).encode() + b"\n" for name in names
    )


def write(path: Path, *names: str) -> None:
    """Write a file of documents, in the form that its name says."""
    if path.suffix == ".parquet":
        rows = [json.loads(line) for line in lines(*names).splitlines()]
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".gz":  # a member a document
        path.write_bytes(b"".join(gzip.compress(lines(name), mtime=0) for name in names))
    else:
        path.write_bytes(lines(*names))


def ids(output: Path) -> list[str]:
    """The ids in accepted/, in the order of the panes."""
    return [
        row["id"]
        for path in sorted((output / "accepted").iterdir())
        for row in pq.read_table(path).to_pylist()
    ]


def run(folder: Path, output: Path, panes: int | None = None, **more) -> None:
    """Run to the end, or to a kill after so many panes."""
    left = panes

    def count(progress) -> None:
        nonlocal left
        left = None if left is None else left - 1
        if left == 0:
            raise KilledError

    with suppress(KilledError):
        Run(
            [str(folder)], output, load(None, {"pane.docs": 2}), observer=Observer(count), **more
        ).go()


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "parquet"])
def test_what_was_added_is_read_whatever_was_killed(tmp_path: Path, kind: str) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    write(folder / f"b.{kind}", "b1", "b2", "b3")
    run(folder, output)
    write(folder / f"b.{kind}", "b1", "b2", "b3", "b4", "b5", "b6")
    write(folder / "a.jsonl", "a1")
    write(folder / "c.jsonl", "c1", "c2")
    run(folder, output, 1)
    assert read_meta(output)["finished"] is False
    write(folder / "c.jsonl", "c1", "c2", "c3")  # before the round was read to its end
    run(folder, output, 1)
    run(folder, output)
    assert ids(output) == ["b1", "b2", "b3", "a1", "b4", "b5", "b6", "c1", "c2", "c3"]
    run(folder, output)
    assert read_meta(output)["finished"] is True and len(read_entries(output)) == 6
    (folder / "a.jsonl").unlink()
    with pytest.raises(RunError, match=r"input\..*a\.jsonl: \d+ -> None"):
        run(folder, output)


def test_a_file_that_has_grown_and_changed_is_refused(tmp_path: Path) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    write(folder / "a.jsonl", "a1", "a2", "a3")
    run(folder, output)
    write(folder / "a.jsonl", "a1", "x2", "a3", "a4")
    with pytest.raises(ChangedError, match=r"a\.jsonl: changed since pane 0 read it"):
        run(folder, output)


@pytest.mark.parametrize("has_ctime", [True, False])
def test_files_of_one_size_that_change_places_are_refused(tmp_path: Path, has_ctime: bool) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for name in "abc":
        write(folder / f"{name}.jsonl", f"{name}1", f"{name}2")
        os.utime(folder / f"{name}.jsonl", ns=(1, 1))
    run(folder, output, 2)
    shutil.copy2(folder / "a.jsonl", tmp_path / "kept")  # as cp -p does
    shutil.copy2(folder / "c.jsonl", folder / "a.jsonl")
    shutil.copy2(tmp_path / "kept", folder / "c.jsonl")
    if not has_ctime:  # the file system has no inodes and no time of change: both look as before
        meta = read_meta(output)
        assert meta is not None
        for name, each in files.find([str(folder)]).items():
            meta["stored"][name][2] = each.identity
        write_meta(output, meta)
    with pytest.raises(ChangedError, match=r"a\.jsonl: changed since pane 0 read it"):
        run(folder, output)


def test_another_program_and_more_input_at_once(tmp_path: Path) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    write(folder / "a.jsonl", "a1", "a2")
    run(folder, output)
    meta = read_meta(output)
    assert meta is not None
    meta["epochs"][0]["program"]["code"] = "of yesterday"
    write_meta(output, meta)
    write(folder / "a.jsonl", "a1", "a2", "a3")
    run(folder, output)
    assert ids(output) == ["a1", "a2", "a3"]
    assert [entry.epoch for entry in read_entries(output)] == [0, 1]


def test_made_ids_have_the_first_starts_folder(tmp_path: Path) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    (folder / "de").mkdir(parents=True)
    (folder / "de" / "a.jsonl").write_text('{"text": "She did."}\n')
    run(folder, output)
    (folder / "b.jsonl").write_text('{"text": "He did."}\n')
    run(folder, output)
    assert ids(output) == ["a.jsonl#0", f"{folder}/b.jsonl#0"]


def test_a_followed_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    clock = [0.0]
    steps = iter(range(100))

    def step(seconds: float) -> None:
        """What happens while the run waits."""
        clock[0] += seconds
        number = next(steps)
        if number == 0:
            write(folder / "a.jsonl", "a1")  # less than a pane: it waits
        elif number == 2:
            with (folder / "a.jsonl").open("ab") as file:
                file.write(lines("a2", "a3", "a4") + lines("a5")[:9])  # and half a line
        elif number == 4:
            with (folder / "a.jsonl").open("ab") as file:
                file.write(lines("a5")[9:])
            (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines("b1"))[:-9])  # not written yet
        elif number == 5:
            seen.append(ids(output))
            write(folder / "b.jsonl.gz", "b1")
            os.utime(folder / "b.jsonl.gz", (1, 1))
        elif number == 40:
            raise KilledError

    seen: list[list[str]] = []
    monkeypatch.setattr(intake.time, "sleep", step)
    monkeypatch.setattr(intake.time, "monotonic", lambda: clock[0])
    run(folder, output, follow=20.0)
    assert seen == [["a1", "a2", "a3", "a4"]]
    assert ids(output) == ["a1", "a2", "a3", "a4", "a5", "b1"]
    run(folder, output)
    assert len(read_entries(output)) == 3 and read_meta(output)["finished"] is True


def digest(file: str, segment: cutting.Segment) -> str:
    found = RecordDigest()
    for block in FileReader().segment(file, segment.first, segment.last, segment.offset):
        found.add(block)
    return found.hexdigest()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 4), st.integers(1, 5)),
        st.tuples(st.just("run"), st.integers(0, 4), st.just(0)),
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=60)
@given(STEPS, st.integers(1, 4), st.booleans())
@example(  # a file that was read in part, and before it another is added, twice killed
    [("add", 1, 1), ("add", 1, 1), ("run", 1, 0), ("add", 0, 1), ("run", 1, 0)], 1, False
)
def test_every_record_is_read_once_whatever_grows_and_is_killed(
    tmp_path_factory: pytest.TempPathFactory, steps: list, docs: int, follows: bool
) -> None:
    folder = tmp_path_factory.mktemp("grows")
    output, config = at(f"memory://{uuid4().hex}"), load(None, {"pane.docs": docs})
    (folder / "2.jsonl").touch()
    written: dict[str, int] = {}

    def read(most: int | None) -> None:
        """Do what a start does, without panes' files; end after so many panes."""
        known = read_meta(output) or {"settings": {"input": {}}, "finished": False}
        entries = History(output)
        looks = Intake([str(folder)], output, 5.0 if follows else None)
        found = looks.look(known)
        looks.compare(found, entries, known)
        rest = looks.rest(found, entries, known)
        facts = {"stored": looks.facts(), "earlier": rest.earlier}
        meta = {"settings": {"input": rest.input}, **facts}
        write_meta(
            output,
            {**meta, "finished": known["finished"] and known["settings"] == meta["settings"]},
        )
        for number, pane in enumerate(cutting.panes(rest.names, config, rest.begin)):
            if number == most:
                return
            ranges = [
                SourceRange(
                    file=each.file,
                    first=each.first,
                    last=each.last,
                    offset=each.offset,
                    sha256=digest(each.file, each),
                )
                for each in pane.segments
            ]
            entries.commit(pane_entry(pane.number, source=ranges))
        write_meta(output, {**meta, "finished": True})

    for kind, one, two in steps:
        if kind == "add":
            name = str(folder / f"{one}.jsonl")
            with Path(name).open("ab") as file:
                for _ in range(two):
                    file.write(b'{"text": "%d"}\n' % written.get(name, 0))
                    written[name] = written.get(name, 0) + 1
        else:
            read(one)
    read(None)
    covered = sorted(
        (each.file, i)
        for entry in History(output)
        for each in entry.source
        for i in range(each.first, each.last + 1)
    )
    assert covered == sorted((name, i) for name, count in written.items() for i in range(count))
