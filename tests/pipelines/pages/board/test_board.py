"""What the board reads and shows, without a browser: ranges, search, dead letters, bad ledgers."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from uuid import uuid4

import board_ledgers
import pytest
import report_ledgers
from board_ledgers import MINUTE
from report_ledgers import HOSTILE

from evenflow import Gate as Gate_
from evenflow.gates import hold, triggers
from evenflow.gates.ledger import reviews, segments
from evenflow.gates.ledger.files import canonical, entry_name
from evenflow.gates.ledger.history import History
from evenflow.pipelines.pages.board.follow import Board, Gate, names
from evenflow.pipelines.pages.board.lately import Lately
from evenflow.pipelines.pages.board.letters import PAGE, letters
from evenflow.pipelines.pages.board.pages import Pages
from evenflow.pipelines.pages.board.search import search
from evenflow.pipelines.pages.board.window import window
from evenflow.transforms.storage.storage import at

PANES = 50


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small segments."""
    monkeypatch.setattr(segments, "EVERY", 16)
    monkeypatch.setattr("evenflow.pipelines.pages.board.follow.BLOCK", 4)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """An output of 50 panes, the last two as files of their own."""
    return board_ledgers.long(tmp_path / "out", PANES)


def gate_of(output: Path) -> Gate:
    """The gate of an output, as the board would follow it."""
    return Gate("out", at(output), Lately(8)).ready()


def iso(minute: float) -> str:
    """A time of the stream's START, minutes later."""
    hours, rest = divmod(minute, 60)
    return f"2026-01-01T{int(hours):02d}:{int(rest):02d}"


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ({}, 0, 49),
        ({"last": "10"}, 40, 49),
        ({"last": "all"}, 0, 49),
        ({"last": "0"}, 49, 49),
        ({"from": "5", "to": "20"}, 5, 20),
        ({"from": "45", "to": "999"}, 45, 49),
        ({"to": "3"}, 0, 3),
        ({"since": iso(10), "until": iso(12)}, 10, 12),
        ({"since": iso(10.5)}, 10, 49),
        ({"until": iso(30)}, 0, 30),
        ({"since": "2025-01-01T00:00"}, 0, 49),
        ({"since": iso(15) + "Z", "until": iso(32) + "+00:00"}, 15, 32),
    ],
)
def test_a_range_of_panes(output: Path, query: dict[str, str], first: int, last: int) -> None:
    shown = window(gate_of(output), query)
    assert (shown.first, shown.last, shown.problem) == (first, last, "")
    assert [each.first for each in shown.panes] == list(range(first, last + 1))
    assert shown.rows[-1].first == last


def test_panes_are_the_same_whatever_was_kept(output: Path) -> None:
    gate, fresh = gate_of(output), gate_of(output)
    for first, last in ((9, 9), (20, 31), (5, 40), (0, 49), (46, 49), (2, 3)):
        found = gate.single(first, last)
        assert [each.first for each in found] == list(range(first, last + 1))
        assert fresh.history is not None
        assert found == fresh.history.single_spans(range(first, last + 1))


@pytest.mark.parametrize(
    "query",
    [
        {"from": "x"},
        {"from": "-1"},
        {"from": "٣"},
        {"from": "9" * 40},
        {"from": "7", "to": "3"},
        {"from": "50"},
        {"since": "yesterday"},
        {"since": iso(600)},
        {"until": "2020-01-01"},
        {"since": "9999-12-31T23:59", "until": "0001-01-01"},
        {"last": "<b>"},
    ],
)
def test_a_range_that_makes_no_sense_is_said(output: Path, query: dict[str, str]) -> None:
    shown = window(gate_of(output), query)
    assert shown.problem and (shown.first, shown.last) == (0, 49)


def test_many_panes_are_merged_by_hours(output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenflow.pipelines.pages.board.window.SINGLE", 20)
    monkeypatch.setattr("evenflow.pipelines.pages.board.window.LAST", 30)
    monkeypatch.setattr("evenflow.gates.ledger.spans.HOUR", 10 * MINUTE)
    for number in range(PANES, PANES + 20):
        board_ledgers.commit(output, number)
    gate = gate_of(output)
    shown = window(gate, {"from": "35", "to": "61"})
    assert len(shown.panes) < 27 and sum(each.panes for each in shown.panes) >= 27
    assert shown.panes[0].first <= 35 and shown.panes[-1].last >= 61
    assert window(gate, {}).first <= 40


def test_what_is_committed_later_is_followed_through_a_compaction(output: Path) -> None:
    gate = gate_of(output)
    writer = History(at(output), repair=True)
    seen = set()
    for number in range(PANES, PANES + 40):
        before = gate.version
        assert not gate.look() and gate.version == before
        writer.commit(board_ledgers.at_minute(report_ledgers.entries(1)[0], number))
        assert gate.look() and gate.version != before
        seen.add(gate.version)
        assert gate.history is not None and len(gate.history) == number + 1
        assert [each.first for each in gate.recent] == list(range(number - 29, number + 1))
        assert [each.last for each in gate.history.spans()][-1] == number
    assert len(seen) == 40 and gate.history is not None
    assert gate.history.totals == History(at(output)).totals
    assert gate.history.spans() == History(at(output)).spans()


@pytest.mark.parametrize(
    "content", [b"", b'{"pane": 50, "ver', b"\xff\0", b'{"pane": 50, "flavour": "sweet"}', b"[]"]
)
def test_a_broken_entry_is_said_and_read_once_it_is_whole(output: Path, content: bytes) -> None:
    gate = gate_of(output)
    (output / entry_name(PANES)).write_bytes(content)
    assert gate.look() and gate.error is not None and entry_name(PANES) in gate.error
    assert not gate.look()
    shown = Pages(board_of(gate), False).gate_page("out", {})
    assert "cannot be read now" in shown and "Panes <small>50</small>" in shown
    (output / entry_name(PANES)).unlink()
    board_ledgers.commit(output, PANES)
    assert gate.look() and gate.error is None
    assert gate.history is not None and len(gate.history) == PANES + 1


def board_of(gate: Gate) -> Board:
    """A board with this gate."""
    board = Board({gate.name: gate.storage})
    board.gates[gate.name] = gate
    return board


def test_a_directory_that_vanishes_and_comes_back(output: Path) -> None:
    gate = gate_of(output)
    pages = Pages(board_of(gate), False)
    shutil.rmtree(output)
    assert gate.look() and gate.error == "there is no such directory yet"
    assert "there is no such directory yet" in pages.glance()
    assert "Panes <small>50</small>" in pages.gate_page("out", {})
    board_ledgers.long(output, 5)  # another run
    assert gate.look() and gate.error is None
    assert gate.history is not None and len(gate.history) == 5
    never = Gate("never", at(output / "never"), Lately(1)).ready()
    assert never.history is None and never.error
    page = Pages(board_of(never), False)
    assert (
        "Waiting: <bdi>there is no such directory yet" in page.gate_page("never", {})
        and never.name in page.glance()
    )


def test_an_output_in_a_store_is_followed_too() -> None:
    storage = at(f"memory://{uuid4().hex}/out")
    panes = [board_ledgers.at_minute(each, each.pane) for each in report_ledgers.entries(20)]
    gate = Gate("out", storage, Lately(8)).ready()
    assert gate.error is None and gate.history is not None and not len(gate.history)
    writer = History(storage, repair=True)
    for entry in panes:
        writer.commit(entry)
    assert gate.look() and len(gate.history) == 20 and not gate.look()
    hold.add_event(storage, "hold", "looked at", 20, "Ada")
    assert gate.look() and gate.held is not None and gate.committed is not None
    shown = Pages(board_of(gate), False).gate_page("out", {"from": "3", "to": "9"})
    assert "Panes that are shown: 3 to 9" in shown


def test_a_segment_that_is_damaged_spoils_one_gate_alone(output: Path, tmp_path: Path) -> None:
    other = board_ledgers.long(tmp_path / "other", 20)
    (output / segments.segment_name(32)).write_bytes(b"not Parquet")
    pages = Pages(Board(names([at(output), at(other)])), False)
    glance = pages.glance()
    pages.gate("out"), pages.gate("other")
    glance = pages.glance()
    assert "not a segment of the ledger" in glance and "20 panes" in glance


def test_holds_and_other_files_change_the_page(output: Path) -> None:
    gate = gate_of(output)
    hold.add_event(output, "hold", "looked at", PANES, "Ada, by the board")
    assert gate.look() and gate.held is not None and "Ada, by the board on" in gate.held
    assert "held" in Pages(board_of(gate), False).glance()
    outcome = triggers.ActionOutcome(
        rule="nightly",
        pane=3,
        reason="by hand",
        outcome="failed",
        attempts=2,
        seconds=1.0,
        message="exit <i>",
        figures={"crows_pairs": {"figure": 0.61, "low": 0.5, "high": None}},
    )
    triggers.finish(at(output), outcome)
    assert gate.look()
    page = Pages(board_of(gate), False).gate_page("out", {})
    assert "exit &lt;i&gt;" in page and "crows_pairs" in page and "0.610 (0.500" in page


def test_a_document_is_found_with_what_was_changed_and_why(output: Path) -> None:
    entry = board_ledgers.at_minute(report_ledgers.entries(1)[0], PANES)
    rows = [{"id": "a"}, {"id": "b<", "text": "A brother came.", "sentence": {"id": "b<"}}]
    entry = board_ledgers.documents(output, entry, rows)
    (output / entry_name(PANES)).write_bytes(canonical(entry.model_dump()))
    later = board_ledgers.documents(
        output, board_ledgers.at_minute(report_ledgers.entries(1)[0], PANES + 1), [{"id": "z"}]
    )
    (output / entry_name(PANES + 1)).write_bytes(canonical(later.model_dump()))
    gate = gate_of(output)
    found = search(gate, "b<")
    assert [(each.pane, each.folder, each.text) for each in found.places] == [
        (PANES, entry.folder, "A brother came.")
    ]
    assert found.looked == (PANES, PANES + 1) and found.further is None
    [row] = found.sentences
    assert row["changed"] and [each["reason"] for each in row["sets"]] == [None, "too unsure"]
    page = Pages(board_of(gate), False).document("out", "b<", None)
    assert "A <del>sister</del><ins>brother</ins> came." in page and "too unsure" in page
    assert not search(gate, "nobody", seconds=60).places
    bounded = search(gate, "nobody", seconds=-1)
    assert bounded.looked == (PANES + 1, PANES + 1) and bounded.further == PANES
    # Files of the other panes do not exist: they are named, and the search goes on
    assert len(search(gate, "nobody", seconds=60).unread) == PANES


def test_dead_letters_are_text(tmp_path: Path) -> None:
    entry = report_ledgers.entries(1)[0]
    raws = [b"\xff\0<script>", b"x" * 5000, *[b"%d" % number for number in range(PAGE)]]
    entry = board_ledgers.dead(tmp_path, entry, raws, "not <b>JSON")
    storage = at(tmp_path)
    assert entry.dead_letters is not None
    first, second, *_ = found = letters(storage, entry.dead_letters.name, 0)
    assert len(found) == PAGE and first["raw"] == "\\xff\0<script>" and second["cut"]
    assert len(letters(storage, entry.dead_letters.name, 1)) == 2
    assert letters(storage, entry.dead_letters.name, 2) == []
    path = tmp_path / "dead-letter" / entry.dead_letters.name
    path.write_bytes(b'{"raw_base64": "!", "bytes": 1}\n[]\n{"cut')
    assert [each["reason"] for each in letters(storage, path.name, 0)] == [
        "this line is no dead letter"
    ] * 3


@pytest.mark.parametrize("name", ["../secret", "..", "", "a\0b", "/etc/passwd", "a\\b"])
def test_a_ledger_names_no_file_elsewhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("{}")
    (tmp_path / "dead-letter").mkdir()
    with pytest.raises(OSError, match="not the name of a file"):
        letters(at(tmp_path), name, 0)


def test_half_of_a_utf_16_pair_breaks_no_page(tmp_path: Path) -> None:
    panes = report_ledgers.entries(3)
    for each in panes[2].attributes.values():
        each.heavy[0].id = each.verdict.reason = "half \ud800"
    report_ledgers.write(tmp_path / "out", panes, report_ledgers.settings())
    pages = Pages(Board(names([at(tmp_path / "out")])), False)
    for html in (pages.gate_page("out", {}), pages.glance(), pages.pane("out", 2)):
        html.encode()
    assert "half \\ud800" in pages.pane("out", 2)


def test_gates_have_names_that_fit_an_address() -> None:
    given = ["/a/out", "/b/out/", "memory://x/<b> ü", "/", "/c/..."]
    assert list(names([at(each) for each in given])) == ["out", "out-2", "b", "gate", "gate-2"]


def test_among_all_gates_a_pane_that_waits_is_drawn_however_old_it_is(tmp_path: Path) -> None:
    """A gate of 36 panes: the third waits for a decision, the fifth is rejected."""
    texts = ["She met her brother. He met his sister."] * 10
    bad = ["He met his father and his uncle."] * 10
    rows = [*texts * 2, *bad, *texts, *bad, *texts * 31]
    out = tmp_path / "out"
    config = {"pane.docs": 10, "pane.rolling": 1, "gate.min_mentions": 10}
    config |= {"gate.warn": 0.05, "gate.block": 0.1}
    made = Gate_(config, attributes=["gender"]).run(rows, out)
    assert (made["panes"], made["blocked"]) == (36, [2, 4])
    reviews.add(out, "reject", range(4, 5), "read")
    board = Board({"out": at(out)})
    board.gates["out"].ready()
    page = Pages(board, False).glance()
    assert page.count('<i class="mark t-block') == 1 and 'title="Pane 2: block.' in page
    assert page.count('<i class="mark') == 31
    assert "1 earlier pane that waits, and the last 30 of 36 panes" in page


def test_a_page_is_drawn_once_for_all_viewers(output: Path) -> None:
    gate = gate_of(output)
    pages = Pages(board_of(gate), False)
    assert pages.gate_page("out", {}) is pages.gate_page("out", {"nonsense": "1"})
    assert pages.glance() is pages.glance()
    board_ledgers.commit(output, PANES)
    gate.look()
    assert "Panes <small>51</small>" in pages.gate_page("out", {})


def test_text_from_outside_stays_text(tmp_path: Path) -> None:
    root, panes = tmp_path / "out", report_ledgers.hostile(3)
    rows = [
        {"id": text, "text": text, "sentence": {"id": text, "sent_text": text, "text_cda": text}}
        for text in HOSTILE
    ]
    panes[2] = board_ledgers.documents(root, panes[2], rows)
    panes[2] = board_ledgers.dead(root, panes[2], [each.encode() for each in HOSTILE], HOSTILE[0])
    report_ledgers.write(root, panes, report_ledgers.settings())
    pages = Pages(Board(names([at(root)])), False)
    shown = [pages.gate_page("out", {}), pages.glance(), pages.pane("out", 2)]
    shown += [pages.letters("out", 2, 0), pages.document("out", HOSTILE[0], None)]
    for page in shown:
        assert "&lt;script&gt;alert" in page or page is shown[1]
        assert not any(each in page for each in ("<script>alert", "<img", 'href="javascript'))


def test_two_threads_share_what_either_made() -> None:
    kept, both = Lately[list[int]](2), threading.Barrier(2)
    found: list[list[int]] = []

    def use(number: int) -> None:
        found.append(kept.get("key", lambda: [number + 0 * both.wait(10)]))

    threads = [threading.Thread(target=use, args=(number,)) for number in (1, 2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 2 and found[0] is found[1] and kept.peek("key") is found[0]
