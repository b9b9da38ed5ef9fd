"""A verdict from a score and its thresholds, with hysteresis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evenflow.schemas.ledger import STATES, Score, State, Verdict
from evenflow.schemas.words import counted

DIGITS = 9  # of a threshold less hysteresis: 0.45 - 0.02 is 0.43, not 0.43000000000000005


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of an attribute's verdict.

    Attributes:
        warn: DR from which the lower bound warns.
        block: DR from which the lower bound blocks.
        min_mentions: Least number of mentions for a verdict.
        hysteresis: How far the bound must fall below a threshold to end the state that the
            threshold caused.
    """

    warn: float
    block: float
    min_mentions: int
    hysteresis: float

    def end(self, threshold: float) -> float:
        """The bound below which the state of a threshold ends.

        Args:
            threshold: DR from which the state begins.

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
    name: str = "rolling DR",
    thing: str = "mention",
) -> Verdict:
    """Decide on a pane's attribute from the lower bound of its rolling score, with hysteresis.

    Without enough mentions, or without an interval, there are too few to judge, even after another
    state. Without evidence, no pane is blocked and no state is kept. The rolling score includes the
    earlier panes, so they too had little evidence.

    Args:
        rolling: Score of the pane together with earlier ones.
        thresholds: Thresholds of the attribute.
        previous: State of the pane before; None for the first pane.
        name: What the score is called.
        thing: What it is a share of.

    Returns:
        The verdict with its reason.
    """
    seen = f"{counted(rolling.mentions, thing)} in {counted(rolling.documents, 'document')}"
    if rolling.mentions < thresholds.min_mentions:
        return Verdict(
            state="too few",
            reason=f"too little to judge: {seen}; {thresholds.min_mentions} {thing}s are needed",
        )
    if rolling.low is None:
        return Verdict(state="too few", reason=f"too little to judge: {seen} give no interval")
    levels: tuple[tuple[State, float], ...] = (
        ("block", thresholds.block),
        ("warn", thresholds.warn),
    )
    for state, threshold in levels:
        low = _distinct(rolling.low, threshold)
        if rolling.low >= threshold:
            return Verdict(
                state=state,
                reason=f"{name} is at least {low}, {state} begins at {threshold:g}",
            )
        end = thresholds.end(threshold)
        lasting = previous is not None and STATES.index(previous) >= STATES.index(state)
        if lasting and rolling.low >= end:
            return Verdict(
                state=state,
                reason=f"{name} may be as low as {low}, {state} ends below {end:g}",
            )
    low = _distinct(rolling.low, thresholds.warn)
    return Verdict(
        state="open", reason=f"{name} may be as low as {low}, below warn at {thresholds.warn:g}"
    )


def worst(states: Iterable[State]) -> State:
    """The worst of some states; open if there are none."""
    return STATES[max(map(STATES.index, states), default=STATES.index("open"))]


def _distinct(bound: float, threshold: float) -> str:
    """A bound with as many digits as distinguish it from a threshold, at least three."""
    if bound == threshold:
        return f"{bound:g}"
    for digits in (3, 4, 5):
        if round(bound, digits) != round(threshold, digits):
            return f"{bound:.{digits}f}"
    return f"{bound:.6f}"
