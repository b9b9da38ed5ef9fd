"""The verdict on a pane and attribute: from the rolling score's lower bound, with hysteresis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evenflow.schemas.ledger import STATES, Score, State, Verdict


@dataclass(frozen=True)
class Thresholds:
    """warn, block: DR from which the lower bound warns or blocks. min_mentions: below, there is no verdict.

    hysteresis: how far the bound must fall below a threshold to leave the state that the threshold gave.
    """

    warn: float
    block: float
    min_mentions: int
    hysteresis: float


def decide(rolling: Score, thresholds: Thresholds, previous: State | None) -> Verdict:
    """The verdict from the rolling score; previous is the state of the pane before, None for the first."""
    if rolling.low is None or rolling.mentions < thresholds.min_mentions:
        seen = f"{rolling.mentions} mentions in {rolling.documents} documents"
        return Verdict(state="open", reason=f"too little to judge: {seen}; {thresholds.min_mentions} mentions are needed")
    levels: tuple[tuple[State, float], ...] = (("block", thresholds.block), ("warn", thresholds.warn))
    for state, threshold in levels:
        held = previous is not None and STATES.index(previous) >= STATES.index(state)
        least = threshold - thresholds.hysteresis if held else threshold
        if rolling.low >= least:
            reason = f"rolling DR is at least {rolling.low:.3f}, {state} begins at {threshold:g}"
            if rolling.low < threshold:
                reason += f" and ends below {least:g}"
            return Verdict(state=state, reason=reason)
    return Verdict(state="open", reason=f"rolling DR may be as low as {rolling.low:.3f}, below warn at {thresholds.warn:g}")


def worst(states: Iterable[State]) -> State:
    """The gravest of some states; open for none."""
    return max(("open", *states), key=STATES.index)
