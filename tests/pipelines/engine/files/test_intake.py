"""An input that grows is gone on with; one that has changed is refused."""

import gzip
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kill_driver import digests
from packs import PACKS
from pane_entries import pane_entry
from put_out import letters, rows

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
        found = [json.loads(line) for line in lines(*names).splitlines()]
        pq.write_table(pa.Table.from_pylist(found), path)
    elif path.suffix == ".gz":  # a member a document
        path.write_bytes(b"".join(gzip.compress(lines(name), mtime=0) for name in names))
    elif path.suffix == ".zst":  # a frame a document
        path.write_bytes(b"".join(pa.compress(lines(name), "zstd", asbytes=True) for name in names))
    elif path.suffix == ".csv":
        texts = [f"{name},She met him\n" for name in names]
        path.write_text("".join(["id,text\n", *texts]), encoding="utf-8")
    else:
        path.write_bytes(lines(*names))


def ids(output: Path) -> list[str]:
    """The ids in accepted/, in the order of the panes."""
    return [row["id"] for row in rows(output)]


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


@pytest.mark.parametrize("kind", ["jsonl", "csv", "jsonl.gz", "jsonl.zst", "parquet"])
def test_a_ledger_is_the_same_wherever_a_run_was_killed(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder / f"a.{kind}", "a1", "a2", "a3", "a4")  # a pane begins the next file
    write(folder / f"b.{kind}", "b1", "b2", "b3")  # and another the file behind it in its middle
    write(folder / f"c.{kind}", "c1", "c2", "c3")
    run(folder, tmp_path / "whole")
    whole = digests(tmp_path / "whole")
    for panes in range(1, 5):
        output = tmp_path / f"out-{panes}"
        run(folder, output, panes)
        run(folder, output)
        assert digests(output) == whole


def test_a_file_that_has_grown_and_changed_or_is_gone_is_refused(tmp_path: Path) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    write(folder / "a.jsonl", "a1", "a2", "a3")
    run(folder, output)
    write(folder / "a.jsonl", "a1", "x2", "a3", "a4")
    with pytest.raises(ChangedError, match=r"a\.jsonl: changed since pane 0 read it"):
        run(folder, output)
    (folder / "a.jsonl").unlink()
    write(folder / "b.jsonl", "b1")
    with pytest.raises(RunError, match=r"input\..*a\.jsonl: \d+ -> None"):
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
        for name, each in files.find([str(folder)]).files.items():
            meta["stored"][name][2] = each.identity
        write_meta(output, meta)
    with pytest.raises(ChangedError, match=r"a\.jsonl: changed since pane 0 read it"):
        run(folder, output)


def noted(folder: Path, output: Path, **more) -> list[str]:
    """What a run to the end has to say."""
    notes: list[str] = []
    Run([str(folder)], output, load(None), observer=Observer(note=notes.append), **more).go()
    return notes


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_half_last_line_waits_for_the_run_that_finds_it_whole(tmp_path: Path, kind: str) -> None:
    path, output = tmp_path / f"a.{kind}", tmp_path / "out"
    write(path, "a1", "a2", "a3")
    data = path.read_bytes()
    half = data.index(b"a3") + 2  # within a string of JSON, and before the row's comma
    path.write_bytes(data[:half])
    (note,) = noted(path, output)
    size = half - data[:half].rindex(b"\n") - 1
    assert f"{path}: the last line ({size} bytes)" in note and "--final" in note
    assert ids(output) == ["a1", "a2"] and not letters(output)
    assert noted(path, output) == [note]  # nothing has come: nothing is read, and it says so again
    path.write_bytes(data[:-1])  # whole, and still without an end
    assert noted(path, output) == []
    assert ids(output) == ["a1", "a2", "a3"]
    path.write_bytes(data)
    with path.open("ab") as file:
        file.write(data.splitlines(keepends=True)[-1].replace(b"a3", b"a4"))
    assert noted(path, output) == []
    assert ids(output) == ["a1", "a2", "a3", "a4"] and not letters(output)


@PACKS
def test_half_a_member_waits_for_the_run_that_finds_it_whole(
    tmp_path: Path, kind: str, pack: Callable[[bytes], bytes]
) -> None:
    """A file that is still being written, or copied."""
    path, output = tmp_path / f"a.jsonl.{kind}", tmp_path / "out"
    first, second, third = pack(lines("a1", "a2")), pack(lines("a3", "a4")), pack(lines("a5"))
    path.write_bytes(first[:-3])
    (note,) = noted(path, output)
    assert f"the last compressed member ({len(first) - 3} bytes) has no end" in note
    assert "--final" in note and not read_entries(output)
    for half in (8, len(second) - 1):
        path.write_bytes(first + second[:half])
        (note,) = noted(path, output)
        assert f"({half} bytes)" in note
        assert ids(output) == ["a1", "a2"] and not letters(output)
    path.write_bytes(first + second + third[:-1])
    assert len(noted(path, output)) == 1
    assert ids(output) == ["a1", "a2", "a3", "a4"]
    assert len(noted(path, output, final=True)) == 0
    (letter,) = letters(output)
    assert "cannot be read further" in letter["reason"]


def test_half_a_record_in_quotes_waits_though_it_ends_with_a_line_break(tmp_path: Path) -> None:
    path, output = tmp_path / "a.csv", tmp_path / "out"
    path.write_text('id,text\n1,She.\n2,"He left.\n')
    (note,) = noted(path, output)
    assert "the last line (12 bytes)" in note
    assert ids(output) == ["1"] and not letters(output)
    path.write_text('id,text\n1,She.\n2,"He left.\nShe came."\n')
    assert noted(path, output) == []
    assert ids(output) == ["1", "2"] and not letters(output)


def test_a_half_last_line_that_is_final_is_a_dead_letter(tmp_path: Path) -> None:
    path, output = tmp_path / "a.jsonl", tmp_path / "out"
    path.write_bytes(lines("a1", "a2")[:-5])
    (tmp_path / "b.jsonl").write_bytes(lines("b1")[:9])
    (note,) = noted(tmp_path / "*.jsonl", output)
    assert "so do those of 1 more files" in note
    assert noted(tmp_path / "*.jsonl", output, final=True) == []
    assert sorted(each["bytes"] for each in letters(output)) == [9, len(lines("a2")) - 5]
    assert noted(tmp_path / "*.jsonl", output) == []  # it stays read
    path.write_bytes(lines("a1", "a2"))
    with pytest.raises(ChangedError, match="its last line had no end when pane 1 read it"):
        noted(tmp_path / "*.jsonl", output)


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
