"""Panes as the progress of a run sees them."""

from pane_entries import attribute_entry, pane_entry

from evenflow.pipelines.terminal.outcome import PaneProgress
from evenflow.schemas.ledger import PaneEntry, Score, State, Sums, Verdict

MB = 1_000_000


def pane(
    number: int, size: int, documents: int = 10, state: State = "open", dr: float | None = 0.25
) -> PaneEntry:
    score = Score(dr=dr, corrected=dr, low=None, high=None, mentions=9, documents=3)
    sums = Sums(documents=3, counts=[3, 6], products=[[9, 9], [9, 9]])
    attribute = attribute_entry(sums, score, verdict=Verdict(state=state, reason="why"))
    return pane_entry(
        number,
        input_bytes=size,
        text_bytes=size,
        documents=documents,
        dead=2,
        dead_reasons={"not JSON": 2},
        sentences=1,
        attributes={"gender": attribute},
        verdict=Verdict(state=state, reason="gender: \x1b[31mwhy"),
        folder="quarantine" if state == "block" else "accepted",
    )


def done(number: int, size: int, stored: int, total: int, **others) -> PaneProgress:
    return PaneProgress(pane(number, size, **others), 1.0, stored, total)
