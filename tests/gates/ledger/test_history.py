"""The ledger as a sequence: like a list, at any length, and after a kill between two steps."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import report_ledgers
from pane_entries import pane_entry
from places import ROOT

from evenflow.gates.ledger import history, segments, spans
from evenflow.gates.ledger.files import LedgerError, read_entries, write_entry
from evenflow.gates.ledger.history import History
from evenflow.gates.ledger.totals import Totals
from evenflow.pipelines.pages.report import report
from evenflow.schemas.ledger import PaneEntry, StreamPane
from evenflow.transforms.storage.directory import Directory
from evenflow.transforms.storage.storage import at

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]

EVERY = 8
MINUTE = 60_000


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small segments."""
    monkeypatch.setattr(segments, "EVERY", EVERY)


def minutes(count: int) -> list[PaneEntry]:
    """Panes of a stream, one for each minute."""
    panes = report_ledgers.entries(count)
    for entry in panes:
        entry.stream = StreamPane(span=entry.pane * MINUTE, part=0, positions={})
    return panes


def written(root: Path, entries: list[PaneEntry]) -> History:
    """A ledger with these entries."""
    (root / "ledger").mkdir(parents=True)
    (root / "gate").mkdir()
    found = History(root, repair=True)
    for entry in entries:
        found.commit(entry)
    return found


def digests(root: Path) -> dict[str, str]:
    """The digests of the ledger's files."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((root / "ledger").rglob("*.*"))
    }


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 16, 21])
def test_it_is_what_a_list_would_be(tmp_path: Path, count: int) -> None:
    wanted = report_ledgers.entries(count)
    for found in (written(tmp_path, wanted), History(tmp_path)):
        assert (
            list(found) == read_entries(tmp_path) == wanted
            and len(found) == count
            and bool(found) == bool(wanted)
        )
        assert found[1:] == wanted[1:] and found[::-2] == wanted[::-2] and found[99:] == []
        assert not wanted or (found[-1], found[0], found[count // 2]) == (
            wanted[-1],
            wanted[0],
            wanted[count // 2],
        )
        with pytest.raises(IndexError):
            found[count]
        assert found.totals == Totals.of(wanted)
    assert len(list((tmp_path / "ledger").glob("[0-9]*.json"))) == count % EVERY
    assert history.recount(tmp_path) == (count, [])


@pytest.mark.parametrize("step", ["segment", "checkpoint", "unlink"])
def test_a_kill_between_the_steps_is_repaired_with_the_same_bytes(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    panes = report_ledgers.entries(EVERY + 3)
    written(tmp_path / "whole", panes)
    found = written(tmp_path / "out", panes[: EVERY - 1])

    class KilledError(Exception):
        pass

    def kill(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        name = {"segment": "write_segment", "checkpoint": "write_checkpoint"}.get(step)
        patch.setattr(segments, name, kill) if name else patch.setattr(Directory, "remove", kill)
        with pytest.raises(KilledError):
            found.commit(panes[EVERY - 1])
    assert list(History(tmp_path / "out")) == panes[:EVERY]  # a reader beside it sees all
    again = History(tmp_path / "out", repair=True)
    for entry in panes[EVERY:]:
        again.commit(entry)
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")


def test_what_is_missing_or_broken_is_said(tmp_path: Path) -> None:
    written(tmp_path, report_ledgers.entries(2 * EVERY + 3))
    (tmp_path / "ledger" / f"{2 * EVERY + 1:08d}.json").unlink()
    with pytest.raises(LedgerError, match=r"00000018\.json: pane 18 where pane 17 was expected"):
        History(tmp_path)
    (tmp_path / "ledger" / f"{2 * EVERY + 2:08d}.json").unlink()
    (tmp_path / segments.segment_name(EVERY)).write_bytes(b"PAR1")
    with pytest.raises(LedgerError, match=r"000000000008-000000000015\.parquet: not a segment"):
        list(History(tmp_path))


def test_an_entry_with_half_of_a_utf_16_pair_is_read(tmp_path: Path) -> None:
    panes = minutes(EVERY + 1)
    for entry in panes:
        entry.attributes["gender"].heavy[0].id = "half \ud800"
    written(tmp_path, panes)
    assert list(History(tmp_path)) == panes


def test_a_reader_that_fails_stays_where_it_was_and_goes_on_later(tmp_path: Path) -> None:
    panes = minutes(3 * EVERY)
    writer = written(tmp_path, panes[: EVERY - 2])
    reader = History(tmp_path)
    assert not reader.follow()
    for entry in panes[EVERY - 2 : 2 * EVERY + 3]:
        writer.commit(entry)
    checkpoint = tmp_path / segments.CHECKPOINT
    whole = checkpoint.read_bytes()
    for broken in (b"", whole[:100]):
        checkpoint.write_bytes(broken)
        with pytest.raises(LedgerError, match="not a checkpoint"):
            reader.follow()
        assert len(reader) == EVERY - 2 and reader.totals == Totals.of(panes[: EVERY - 2])
        assert [each.first for each in reader.single_spans(range(EVERY - 2))] == list(
            range(EVERY - 2)
        )
    checkpoint.write_bytes(whole)
    assert reader.follow() and not reader.follow()
    assert reader.totals == writer.totals and list(reader) == list(writer)
    assert reader.spans() == writer.spans() == History(tmp_path).spans()


def test_verify_finds_a_checkpoint_that_says_otherwise_and_makes_it_anew(
    tmp_path: Path, call: Call
) -> None:
    written(tmp_path, report_ledgers.entries(2 * EVERY + 3))
    path = tmp_path / "ledger" / "checkpoint.json"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"documents": ', b'"documents": 1', 1))
    ended = call("gate", "verify", tmp_path, "--json")
    assert ended.status == 1 and ended.json["wrong"] != []
    path.write_bytes(b"{")
    ended = call("gate", "status", tmp_path)
    assert ended.status == 1 and "checkpoint.json: not a checkpoint" in ended.err
    ended = call("gate", "verify", tmp_path, "--rebuild")
    assert ended.status == 0 and path.read_bytes() == whole
    assert (
        ended.out
        == "19 panes, every entry is there and can be read\nthe checkpoint agrees with a recount\n"
    )


def test_panes_are_grouped_by_hours_and_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panes = minutes(60 * 30 + 7)
    single = list(map(spans.from_entry, panes))
    hours = written(tmp_path, panes).spans()
    assert hours == spans.grouped(single, spans.HOUR)
    assert [each.panes for each in hours] == [60] * 30 + [7] and [
        each.time for each in hours[:2]
    ] == [0, 60 * MINUTE]
    days = spans.grouped(hours, spans.DAY)
    assert [(each.first, each.last) for each in days] == [(0, 1439), (1440, len(panes) - 1)]
    assert days == spans.grouped(single, spans.DAY)
    assert sum(each.documents for each in days) == sum(entry.documents for entry in panes)
    monkeypatch.setattr(report, "MOST_SINGLE", 100)
    report.build(tmp_path)
    told = json.loads((tmp_path / "report.json").read_text())
    assert (
        len(told["groups"]) == 31
        and len(told["by_pane"]) == 100
        and told["by_pane"][-1]["pane"] == len(panes) - 1
    )
    assert (
        told["panes"] == len(panes)
        and sum(each["states"].get("warn", 0) for each in told["groups"]) == told["states"]["warn"]
    )


def test_a_million_panes_sort(tmp_path: Path) -> None:
    (tmp_path / "ledger").mkdir()
    names = [segments.segment_name(first) for first in (0, 999_992, 1_000_000, 123_456_784)]
    assert names == sorted(names)
    for pane in (99_999_999, 100_000_000):  # beyond eight digits: by their numbers
        write_entry(tmp_path, pane_entry(pane))
    assert history.entry_numbers(at(tmp_path)) == [99_999_999, 100_000_000]


def test_another_process_follows(tmp_path: Path) -> None:
    panes = report_ledgers.entries(2 * EVERY + 3)
    writer = written(tmp_path, panes[:3])
    reader = History(tmp_path)
    for entry in panes[3:]:
        assert not reader.follow()
        writer.commit(entry)
        assert reader.follow() and reader.totals == writer.totals


def test_a_checkpoint_of_format_1_is_made_anew_from_its_entries(tmp_path: Path) -> None:
    panes = report_ledgers.entries(EVERY + 3)
    written(tmp_path, panes)
    path = tmp_path / "ledger" / "checkpoint.json"
    new = path.read_bytes()
    path.write_text(json.dumps({"panes": EVERY, "coverage": {}, "recent_bias": []}))
    assert History(tmp_path).totals == Totals.of(panes)
    assert history.recount(tmp_path) == (EVERY + 3, [])
    history.rebuild(tmp_path, None)
    assert path.read_bytes() == new


@pytest.mark.parametrize("mode", ["substitute", "reweight"])
def test_a_ledger_of_the_version_before_weights_is_read(
    tmp_path: Path, call: Call, mode: str
) -> None:
    """tests/data/older_ledgers.json: what that version wrote of six documents in mode `mode`."""
    older = json.loads((ROOT / "tests/data/older_ledgers.json").read_text())[mode]
    for name, data in (("00000000", older["entry"]), ("meta", older["meta"])):
        Directory(tmp_path).write(f"ledger/{name}.json", json.dumps(data).encode())
    [entry] = read_entries(tmp_path)
    repair = entry.attributes["gender"].repair
    assert repair is not None and repair.mode == mode and "weights" not in repair.model_dump()
    assert older["entry"]["attributes"]["gender"]["repair"].get("weights", 0) != 0
    assert (
        entry.attributes["gender"].sums.counts
        == (older["entry"]["attributes"]["gender"]["sums"]["counts"])
    )
    status = call("gate", "status", tmp_path, "--json")
    assert status.status == 0 and status.json["panes"] == 1, status.err
    assert call("gate", "report", tmp_path).status == 0
