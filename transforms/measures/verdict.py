"""A verdict from a score and its thresholds, with hysteresis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evenflow.schemas.ledger import STATES, Score, State, Verdict
from evenflow.schemas.words import counted

DIGITS = 9  # of a threshold less hysteresis: 0.45 - 0.02 is 0.43, not 0.43000000000000005

UNSET = "no threshold is set"  # the end of a reason


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of an attribute's verdict.

    Attributes:
        warn: DR from which the lower bound warns; None: nothing is judged.
        block: DR from which the lower bound blocks; None where warn is.
        min_mentions: Least number of mentions for a verdict.
        hysteresis: How far the bound must fall below a threshold to end the state that the
            threshold caused.
        few: State of what has too few mentions.
    """

    warn: float | None
    block: float | None
    min_mentions: int
    hysteresis: float
    few: State = "not_judged"

    def end(self, threshold: float) -> float:
        """The bound below which the state of a threshold ends.

        Returns:
            The threshold less the hysteresis. The hysteresis counts as at most half the threshold,
            so that a state can always end.
        """
        drop = min(self.hysteresis, threshold / 2)
        return round(threshold - drop, DIGITS) if drop else threshold


def decide(
    rolling: Score,
    thresholds: Thresholds,
    previous: State | None,
    name: str = "",
    thing: str = "mention",
) -> Verdict:
    """Decide on a pane's attribute from the lower bound of its rolling score, with hysteresis.

    Without enough mentions, or without an interval, there are too few to judge, even after another
    state. Without evidence, no pane is blocked and no state is kept. The rolling score includes the
    earlier panes, so they too had little evidence.

    Args:
        rolling: Score of the pane together with earlier ones.
        previous: State of the pane before; None for the first pane.
        name: What the score is of; empty: rolling DR.
    """
    if thresholds.warn is None or thresholds.block is None:
        return Verdict(state="open", reason=f"{name or 'DR'} is measured; {UNSET}")
    bound = f"{name}: lower bound" if name else "lower bound"
    seen = f"{counted(rolling.mentions, thing)} in {counted(rolling.documents, 'document')}"
    if rolling.mentions < thresholds.min_mentions:
        return Verdict(
            state=thresholds.few,
            reason=f"too little to judge: {seen}; {thresholds.min_mentions} {thing}s are needed",
        )
    if rolling.low is None:
        return Verdict(state=thresholds.few, reason=f"too little to judge: {seen} give no interval")
    levels: tuple[tuple[State, float], ...] = (
        ("block", thresholds.block),
        ("warn", thresholds.warn),
    )
    for state, threshold in levels:
        low = _distinct(rolling.low, threshold)
        if rolling.low >= threshold:
            return Verdict(
                state=state,
                reason=f"{bound} {low} reaches {state} ({threshold:g})",
            )
        end = thresholds.end(threshold)
        lasting = previous is not None and STATES.index(previous) >= STATES.index(state)
        if lasting and rolling.low >= end:
            return Verdict(
                state=state,
                reason=f"{bound} {low} keeps {state}, which ends below {end:g}",
            )
    low = _distinct(rolling.low, thresholds.warn, 2)
    first = "warn" if thresholds.warn < thresholds.block else "block"
    return Verdict(state="open", reason=f"{bound} {low}, {first} at {thresholds.warn:g}")


def worst(states: Iterable[State]) -> State:
    """The worst of some states; open if there are none."""
    return STATES[max(map(STATES.index, states), default=STATES.index("open"))]


def _distinct(bound: float, threshold: float, least: int = 3) -> str:
    """A bound with as many digits as distinguish it from a threshold."""
    if bound == threshold:
        return f"{bound:g}"
    for digits in range(least, 6):
        if round(bound, digits) != round(threshold, digits):
            return f"{bound:.{digits}f}"
    return f"{bound:.6f}"
