"""The verdict on a pane and attribute: from the rolling score's lower bound, with hysteresis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evenflow.schemas.ledger import STATES, Score, State, Verdict

DIGITS = 9  # of a threshold less hysteresis: 0.45 - 0.02 is 0.43, not 0.43000000000000005


@dataclass(frozen=True)
class Thresholds:
    """warn, block: DR from which the lower bound warns or blocks. min_mentions: below, there is no verdict.

    hysteresis: how far the bound must fall below a threshold to leave the state that the threshold gave; never more than
    half the threshold, so that a state can always be left.
    """

    warn: float
    block: float
    min_mentions: int
    hysteresis: float

    def leave(self, threshold: float) -> float:
        """The bound below which the state of a threshold ends."""
        drop = min(self.hysteresis, threshold / 2)
        return round(threshold - drop, DIGITS) if drop else threshold


def decide(rolling: Score, thresholds: Thresholds, previous: State | None) -> Verdict:
    """The verdict from the rolling score; previous is the state of the pane before, None for the first.

    Without enough mentions, or without an interval, the pane is open whatever was before: nothing is held back, and no state
    kept, on evidence that is not there. The rolling score has looked back on the panes before, so they had too little as well.
    """
    seen = f"{_number(rolling.mentions, 'mention')} in {_number(rolling.documents, 'document')}"
    if rolling.mentions < thresholds.min_mentions:
        return Verdict(state="open", reason=f"too little to judge: {seen}; {thresholds.min_mentions} mentions are needed")
    if rolling.low is None:
        return Verdict(state="open", reason=f"too little to judge: {seen} give no interval")
    levels: tuple[tuple[State, float], ...] = (("block", thresholds.block), ("warn", thresholds.warn))
    for state, threshold in levels:
        if rolling.low >= threshold:
            said = f"rolling DR is at least {_beside(rolling.low, threshold)}, {state} begins at {threshold:g}"
            return Verdict(state=state, reason=said)
        least = thresholds.leave(threshold)
        held = previous is not None and STATES.index(previous) >= STATES.index(state)
        if held and rolling.low >= least:
            low = _beside(rolling.low, threshold)
            return Verdict(state=state, reason=f"rolling DR may be as low as {low}, {state} ends below {least:g}")
    low = _beside(rolling.low, thresholds.warn)
    return Verdict(state="open", reason=f"rolling DR may be as low as {low}, below warn at {thresholds.warn:g}")


def worst(states: Iterable[State]) -> State:
    """The gravest of some states; open for none."""
    return max(("open", *states), key=STATES.index)


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _beside(bound: float, threshold: float) -> str:
    """A bound with as many digits as tell it from a threshold, three at least."""
    if bound == threshold:
        return f"{bound:g}"
    for digits in (3, 4, 5):
        if round(bound, digits) != round(threshold, digits):
            return f"{bound:.{digits}f}"
    return f"{bound:.6f}"
