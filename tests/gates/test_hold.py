"""Holds and releases of the gate."""

from pathlib import Path

import pytest
from pane_entries import pane_entry

from evenflow.gates import hold
from evenflow.gates.ledger.files import LedgerError
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.config import load
from evenflow.schemas.ledger import Folder, PaneEntry, State, Verdict

HALT = load(None, {"gate.on_block": "halt"})


def pane(number: int, folder: Folder) -> PaneEntry:
    """An entry of a pane that went to a folder."""
    state: State = "block" if folder == "quarantine" else "open"
    return pane_entry(number, folder=folder, verdict=Verdict(state=state, reason="DR is high"))


def test_a_blocked_pane_holds_under_halt_until_it_is_released(tmp_path: Path) -> None:
    good, bad = pane(0, "accepted"), pane(1, "quarantine")
    assert hold.held_reason(tmp_path, Totals.of([good]), HALT) is None
    assert hold.held_reason(tmp_path, Totals.of([good, bad]), None) is None
    assert (
        hold.held_reason(tmp_path, Totals.of([good, bad]), HALT) == "pane 1 is blocked: DR is high"
    )
    hold.add_event(tmp_path, "release", "looked at it", 2)
    assert hold.held_reason(tmp_path, Totals.of([good, bad]), HALT) is None
    # A release lets the panes be that were there, not the next.
    assert (
        hold.held_reason(tmp_path, Totals.of([good, bad, pane(2, "quarantine")]), HALT)
        == "pane 2 is blocked: DR is high"
    )


def test_a_hold_by_hand_stands_until_a_release(tmp_path: Path) -> None:
    hold.add_event(tmp_path, "hold", "new source", 1)
    assert "new source" in (
        hold.held_reason(tmp_path, Totals.of([pane(0, "accepted")]), None) or ""
    )
    hold.add_event(tmp_path, "release", "checked", 1)
    assert hold.held_reason(tmp_path, Totals.of([pane(0, "accepted")]), None) is None
    assert [(word.number, word.action, word.reason) for word in hold.read_events(tmp_path)] == [
        (0, "hold", "new source"),
        (1, "release", "checked"),
    ]


def test_a_reason_is_needed_and_a_broken_word_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        hold.add_event(tmp_path, "hold", " ", 0)
    (tmp_path / "ledger" / "holds").mkdir(parents=True, exist_ok=True)
    (tmp_path / "ledger" / "holds" / "00000000.json").write_text("{", encoding="utf-8")
    with pytest.raises(LedgerError, match=r"00000000\.json"):
        hold.read_events(tmp_path)
