"""A run on files: what it writes, how it goes on, and what stops it."""

import base64
import errno
import gzip
import hashlib
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import DATA
from put_out import letters, rows

from evenflow.gates.ledger.files import read_entries, read_meta, write_meta
from evenflow.pipelines.engine.files.cutting import ChangedError
from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.pages.report.report import build
from evenflow.pipelines.terminal.outcome import Observer
from evenflow.schemas.config import load
from evenflow.transforms.io.files import InputError
from evenflow.transforms.storage.storage import at

SPEECHES = DATA / "speeches.jsonl.gz"


class KilledError(Exception):
    pass


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = gzip.decompress(SPEECHES.read_bytes()).decode().splitlines()[:30]
    bad = [
        *("not json", "[1]", '{"id":"x"}', '{"id":"y","text":null}', '{"id":"z","text":"  "}'),
        '{"id":"s","text":"\\ud800"}',
    ]
    path = tmp_path / "in.jsonl"
    path.write_bytes(
        "\n".join([*rows[:10], *bad, *rows[10:]]).encode() + b'\n{"id":"u","text":"\xff"}\n'
    )
    return path


def digests(output: Path) -> dict[str, str]:
    folders = ("accepted", "quarantine", "dead-letter", "ledger")
    return {
        str(path.relative_to(output)): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in sorted((output / folder).iterdir())
        if path.name != "meta.json"
    }


def test_files_that_are_read_together_come_out_as_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tmp_path / "in"
    texts.mkdir()
    (texts / "a.jsonl").write_text(
        '{"id": "d.txt#0", "text": "The id of a text that is read later."}\n'
    )
    written = (
        *(b"She met her brother.", b"\xef\xbb\xbfHe and his father.", b"bad \xff"),
        *(b"The second of its id.", b" ", b"Her, him, her."),
    )
    (texts / "a1.jsonl").write_bytes(
        b'{"text": "He met his sister.", "n": 1}\n{"text": 5, "n": "x"}\n{"id": "b.txt#0"}\n'
    )
    (texts / "a2.jsonl").write_bytes(b'\xef\xbb\xbf{"text": "The aunt.", "n": "two"}\n\n{"text":\n')
    for name, raw in zip("bcxdye", written, strict=True):
        (texts / f"{name}.txt").write_bytes(raw)
    found = []
    for output in (tmp_path / "together", tmp_path / "alone"):
        Run([str(texts)], output, load(None)).go()
        found.append(digests(output))
        monkeypatch.setattr("evenflow.pipelines.engine.files.cutting.join_files", iter)
    assert found[0] == found[1]
    [entry] = read_entries(tmp_path / "together")
    assert entry.documents == 6
    dead = [(Path(each["file"]).name, each["ordinal"]) for each in letters(tmp_path / "together")]
    assert dead[:3] == [("a1.jsonl", 1), ("a1.jsonl", 2), ("a2.jsonl", 2)]
    heavy = [(each.id, each.counts) for each in entry.attributes["gender"].heavy]
    assert heavy[:2] == [("a1.jsonl#0", [1, 2]), ("b.txt#0", [2, 1])]
    texts_read = [row["text"] for row in rows(tmp_path / "together", entry.folder)]
    assert "He and his father." in texts_read


def test_every_record_is_in_one_place(corpus: Path, tmp_path: Path) -> None:
    config = load(
        None, {"pane.docs": 10, "gate.warn": 0.1, "gate.block": 0.15, "gate.min_mentions": 20}
    )
    outcome = Run([str(corpus)], tmp_path / "out", config).go()
    read = [row["id"] for row in rows(tmp_path / "out", "accepted", "quarantine")]
    dead = letters(tmp_path / "out")
    lines = corpus.read_bytes().splitlines()
    assert {letter["ordinal"] for letter in dead} == {10, 11, 12, 13, 14, 15, 36}
    assert all(
        base64.b64decode(letter["raw_base64"]) == lines[letter["ordinal"]] for letter in dead
    )
    good = [
        json.loads(line)["id"]
        for i, line in enumerate(lines)
        if i not in {letter["ordinal"] for letter in dead}
    ]
    assert sorted(read) == sorted(good)
    assert sum(entry.documents + entry.dead for entry in outcome.entries) == len(lines)
    assert "quarantine" in {entry.folder for entry in outcome.entries}


def test_same_bytes_whatever_the_workers_and_restarts(corpus: Path, tmp_path: Path) -> None:
    config = load(None, {"pane.docs": 10})
    Run([str(corpus)], tmp_path / "one", config).go()
    Run([str(corpus)], tmp_path / "two", config, workers=2).go()

    def kill(progress) -> None:
        raise KilledError

    for _ in range(10):
        try:
            Run([str(corpus)], tmp_path / "three", config, observer=Observer(kill)).go()
        except KilledError:
            continue
        break
    assert digests(tmp_path / "one") == digests(tmp_path / "two") == digests(tmp_path / "three")
    assert len(read_entries(tmp_path / "one")) == 4


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_field_that_a_computed_column_replaces_is_told_of(tmp_path: Path, kind: str) -> None:
    given = [{"text": f"She met him {i}.", "mentions_gender_female": "mine"} for i in range(4)]
    path = tmp_path / f"in.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(given), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    said: list[str] = []
    outcome = Run(
        [str(path)],
        tmp_path / "out",
        load(None, {"pane.docs": 2}),
        observer=Observer(note=said.append),
    ).go()
    assert [entry.replaced for entry in outcome.entries] == [{"mentions_gender_female": 2}] * 2
    assert [row["mentions_gender_female"] for row in rows(tmp_path / "out")] == [1] * 4
    [note] = said
    assert note.startswith("the input has mentions_gender_female: ")
    kept = [row["input_mentions_gender_female"] for row in rows(tmp_path / "out")]
    assert kept == [row["mentions_gender_female"] for row in given]


def test_parquet_gives_what_jsonl_gives_and_a_gate_reads_its_own_shards(
    corpus: Path, tmp_path: Path
) -> None:
    config = load(None, {"pane.docs": 10_000, "gate.most_dead": 1.0})
    Run([str(corpus)], tmp_path / "one", config).go()
    Run([str(tmp_path / "one" / "accepted")], tmp_path / "two", config).go()
    # What a gate counted before is a field of the input, under another name
    again = [
        {name: value for name, value in row.items() if not name.startswith("input_mentions_")}
        for row in rows(tmp_path / "two")
    ]
    assert rows(tmp_path / "one") == again


def test_duplicate_ids_are_dead_letters_and_are_not_counted(tmp_path: Path) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    one.write_text('{"id":"a","text":"She."}\n{"id":"b","text":"He."}\n', encoding="utf-8")
    two.write_text('{"id":"c","text":"Her."}\n{"id":"a","text":"His.","n":[1]}\n', encoding="utf-8")
    outcome = Run([str(tmp_path)], tmp_path / "out", load(None, {"gate.most_dead": 1.0})).go()
    [entry] = outcome.entries
    assert (entry.documents, entry.dead, entry.dead_reasons) == (3, 1, {"duplicate id": 1})
    assert entry.attributes["gender"].sums.counts == [2, 1]
    assert entry.attributes["gender"].labels == {"she": 1, "he": 1, "her": 1}
    assert [row["id"] for row in rows(tmp_path / "out")] == ["a", "b", "c"]
    [letter] = letters(tmp_path / "out")
    assert letter["file"] == str(two) and letter["ordinal"] == 1
    assert "1.jsonl, record 0" in letter["reason"]
    assert json.loads(base64.b64decode(letter["raw_base64"])) == {
        "id": "a",
        "text": "His.",
        "n": [1],
    }


def test_a_final_file_that_breaks_off_is_read_up_to_there(corpus: Path, tmp_path: Path) -> None:
    whole = gzip.compress(corpus.read_bytes())
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    outcome = Run(
        [str(tmp_path / "cut.jsonl.gz")], tmp_path / "out", load(None, {"pane.docs": 4}), final=True
    ).go()
    assert sum(entry.documents for entry in outcome.entries) > 0
    assert sum(entry.dead_reasons.get("unreadable file", 0) for entry in outcome.entries) == 1
    assert "cut off" in letters(tmp_path / "out")[-1]["reason"]


@pytest.mark.parametrize(
    "step",
    [
        "evenflow.transforms.staging.block.StagedBlock.write",
        "evenflow.gates.ledger.history.write_entry",
    ],
)
def test_a_full_disk_stops_the_run_and_it_goes_on_later(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    config = load(None, {"pane.docs": 10})
    Run([str(corpus)], tmp_path / "whole", config).go()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "shard")

    with monkeypatch.context() as patch:
        patch.setattr(step, full)
        with pytest.raises(OSError, match="No space left"):
            Run([str(corpus)], tmp_path / "out", config).go()
    Run([str(corpus)], tmp_path / "out", config).go()
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")


def test_the_output_inside_the_input_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"text":"She."}\n', encoding="utf-8")
    Run([str(tmp_path)], tmp_path / "out", load(None)).go()
    assert Run([str(tmp_path)], tmp_path / "out", load(None)).go().new == 0


def test_an_earlier_output_inside_the_input_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(documents("She 1.", "She 2."), encoding="utf-8")
    Run([str(tmp_path)], tmp_path / "first", load(None)).go()
    said: list[str] = []
    for _ in range(2):  # its own output is not named at the second start
        outcome = Run(
            [str(tmp_path)], tmp_path / "out", load(None), observer=Observer(note=said.append)
        ).go()
        assert [entry.documents for entry in outcome.entries] == [2]
    assert [note.partition(": ")[0] for note in said] == [str(tmp_path / "first")] * 2


def test_files_that_nothing_reads_are_said_noted_and_reported(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "in.JSONL").write_text(documents("She 1."), encoding="utf-8")
    for name in ("a.pdf", "b.pdf", "c.<b>"):
        (tmp_path / "in" / name).touch()
    said: list[str] = []
    observer = Observer(note=said.append)
    place, config = str(tmp_path / "in"), load(None)
    outcome = Run([place], tmp_path / "out", config, observer=observer).go()
    assert [entry.documents for entry in outcome.entries] == [1]
    assert said == ["3 files are left out, as no format: 2 .pdf, 1 .<b>"]
    known = read_meta(at(tmp_path / "out")) or {}
    assert known["left_out"] == {".pdf": 2, ".<b>": 1}
    page = Path(build(tmp_path / "out")).read_text(encoding="utf-8")
    assert "3 files are left out, as no format: 2 .pdf, 1 .&lt;b&gt;" in page
    assert json.loads((tmp_path / "out/report.json").read_text())["left_out"] == known["left_out"]
    config.strict_input = True
    with pytest.raises(InputError, match="strict_input"):
        Run([place], tmp_path / "out", config).go()
    (tmp_path / "in" / "c.<b>").unlink()
    config.strict_input = False
    assert Run([place], tmp_path / "out", config, observer=observer).go().new == 0


def test_shards_that_are_not_in_the_ledger_are_named_at_a_start(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(documents("She 1."), encoding="utf-8")
    Run([str(tmp_path / "in.jsonl")], tmp_path / "out", load(None)).go()
    accepted = tmp_path / "out" / "accepted"
    said: list[str] = []
    for name in ("part-00000000-0001.parquet", "part-00000009-0000.parquet", "mine.parquet"):
        (accepted / name).touch()
    Run(
        [str(tmp_path / "in.jsonl")],
        tmp_path / "out",
        load(None),
        observer=Observer(note=said.append),
    ).go()
    [note] = said
    assert note.startswith(f"{accepted / 'mine.parquet'}: not in the ledger")
    assert "(3 such files; evenflow gate verify --files names all)" in note


def test_progress_is_told_block_by_block(corpus: Path, tmp_path: Path) -> None:
    seen: list[int] = []
    Run(
        [str(corpus)],
        tmp_path / "out",
        load(None),
        observer=Observer(block=lambda figures: seen.append(figures.documents)),
    ).go()
    assert sum(seen) == 30


def documents(*texts: str) -> str:
    return "".join(json.dumps({"text": text}) + "\n" for text in texts)


def stop_after_a_pane(inputs: list[str], output: Path, docs: int = 2) -> None:
    def kill(progress) -> None:
        raise KilledError

    with pytest.raises(KilledError):
        Run(inputs, output, load(None, {"pane.docs": docs}), observer=Observer(kill)).go()


@pytest.mark.parametrize("keep_time", [False, True], ids=["another time", "the same time"])
def test_a_file_rewritten_at_the_same_size_is_refused(tmp_path: Path, keep_time: bool) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(documents("She 1.", "She 2.", "She 3.", "She 4."), encoding="utf-8")
    stop_after_a_pane([str(path)], tmp_path / "out")
    stat = path.stat()
    path.write_text(documents("She 3.", "She 4.", "She 1.", "She 2."), encoding="utf-8")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + (0 if keep_time else 10**9)))
    with pytest.raises(
        ChangedError,
        match=r"in\.jsonl: changed since pane 0 read it \(its records 0 to 1 are others now\)",
    ):
        Run([str(path)], tmp_path / "out", load(None, {"pane.docs": 2})).go()


def test_a_file_that_was_only_touched_is_gone_on_with(corpus: Path, tmp_path: Path) -> None:
    Run([str(corpus)], tmp_path / "whole", load(None, {"pane.docs": 10})).go()
    stop_after_a_pane([str(corpus)], tmp_path / "out", 10)
    os.utime(corpus, ns=(1, 1))
    Run([str(corpus)], tmp_path / "out", load(None, {"pane.docs": 10})).go()
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")
    assert read_meta(tmp_path / "out")["stored"][str(corpus)][1] == 1


def test_a_file_that_changes_while_the_last_pane_is_read_is_refused(tmp_path: Path) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    for path in (one, two):
        path.write_text(documents("She 1.", "She 2."), encoding="utf-8")

    def rewrite(progress) -> None:
        one.write_text(documents("She 3.", "She 4."), encoding="utf-8")
        os.utime(one, ns=(1, 1))

    with pytest.raises(ChangedError, match=r"1\.jsonl: changed"):
        Run(
            [str(tmp_path)],
            tmp_path / "out",
            load(None, {"pane.docs": 2}),
            observer=Observer(rewrite),
        ).go()
    assert read_meta(tmp_path / "out")["finished"] is False


def dead_ids(output: Path) -> list[tuple[str, str]]:
    return [
        (json.loads(base64.b64decode(each["raw_base64"]))["id"], each["reason"].split(" in ")[-1])
        for each in letters(output)
    ]


AWFUL, PLAIN = "Muslims are violent savages.", "She sold him a fish."


@pytest.mark.parametrize(
    "texts, aside", [((AWFUL, PLAIN), 1), ((PLAIN, AWFUL), 0), ((AWFUL, AWFUL), 1)]
)
def test_an_id_of_a_document_that_was_set_aside_is_a_duplicate_later(
    tmp_path: Path, texts: tuple[str, str], aside: int
) -> None:
    rows = [
        {"id": "a", "text": texts[0]},
        {"id": "b", "text": PLAIN},
        {"id": "a", "text": texts[1], "n": 1},
    ]
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    config = load(
        None,
        {"stereotypes.action": "remove", "stereotypes.threshold": 0.6, "gate.most_dead": 1.0},
        ["religion"],
    )
    [entry] = Run([str(path)], tmp_path / "out", config).go().entries
    assert entry.checks.failures == [] and entry.folder == "accepted"
    assert (entry.documents, 0 if entry.set_aside is None else entry.set_aside.rows) == (
        2 - aside,
        aside,
    )
    assert entry.dead_reasons == {"duplicate id": 1} and dead_ids(tmp_path / "out") == [
        ("a", f"{path}, record 0")
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_duplicates_across_panes_by_the_index(tmp_path: Path, workers: int) -> None:
    ids = ["a", "b", "c", "a", "d", "b", "e", "e"]
    path = tmp_path / "in.jsonl"
    path.write_text(
        "".join(json.dumps({"id": each, "text": "She did."}) + "\n" for each in ids),
        encoding="utf-8",
    )
    overrides = {"pane.docs": 2, "gate.most_dead": 1.0}
    plain = Run([str(path)], tmp_path / "pane", load(None, overrides)).go()
    assert [entry.dead for entry in plain.entries] == [0, 0, 0, 1]
    config = load(None, {**overrides, "duplicates.scope": "run"})
    Run([str(path)], tmp_path / "whole", config).go()
    assert [row["id"] for row in rows(tmp_path / "whole")] == ["a", "b", "c", "d", "e"]
    assert dead_ids(tmp_path / "whole") == [
        ("a", "pane 0"),
        ("b", "pane 0"),
        ("e", f"{path}, record 6"),
    ]

    def kill(progress) -> None:
        (tmp_path / "out" / "gate" / "ids.sqlite").unlink()  # it is made anew from the shards
        raise KilledError

    for _ in range(4):
        with pytest.raises(KilledError):
            Run([str(path)], tmp_path / "out", config, workers, observer=Observer(kill)).go()
    Run([str(path)], tmp_path / "out", config, workers).go()
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")


@pytest.mark.parametrize("case", ["no text is a string", "a truncated Parquet file"])
def test_a_pane_of_which_nothing_could_be_read_is_blocked(
    corpus: Path, tmp_path: Path, case: str
) -> None:
    path = tmp_path / "numbers.jsonl"
    path.write_text('{"id": "a", "text": 5}\n' * 37)
    if case != "no text is a string":
        Run([str(corpus)], tmp_path / "first", load(None, {"gate.most_dead": 1.0})).go()
        path = tmp_path / "cut.parquet"
        [whole] = (tmp_path / "first" / "accepted").iterdir()
        path.write_bytes(whole.read_bytes()[:-20])
    [entry] = Run([str(path)], tmp_path / "out", load(None, {})).go().entries
    assert (entry.folder, entry.verdict.state, entry.documents) == ("quarantine", "block", 0)
    said = (
        "37 of 37 records unreadable"
        if path.name == "numbers.jsonl"
        else "1 file could not be read to the end"
    )
    assert (
        entry.reading is not None
        and entry.verdict == entry.reading
        and entry.verdict.reason.startswith(said)
    )


def test_another_program_opens_an_epoch_that_the_entries_tell(corpus: Path, tmp_path: Path) -> None:
    stop_after_a_pane([str(corpus)], tmp_path / "out", 10)
    meta = read_meta(tmp_path / "out")
    assert meta is not None
    meta["epochs"][0]["program"]["code"] = "of yesterday"
    write_meta(tmp_path / "out", meta)
    said: list[str] = []
    outcome = Run(
        [str(corpus)],
        tmp_path / "out",
        load(None, {"pane.docs": 10}),
        observer=Observer(note=said.append),
    ).go()
    assert [entry.epoch for entry in outcome.entries] == [0, 1, 1, 1]
    [note] = said
    assert note.startswith("epoch 1 begins with pane 1: code: 'of yesterday' -> ")
    again = read_meta(tmp_path / "out")
    assert again is not None and [each["pane"] for each in again["epochs"]] == [0, 1]
    assert outcome.entries[1].program == again["epochs"][1]["program"]
