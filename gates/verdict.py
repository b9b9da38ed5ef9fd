"""The verdict on a pane and attribute: from the rolling score's lower bound, with hysteresis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evenflow.schemas.ledger import STATES, Score, State, Verdict
from evenflow.transforms.io.records import UNREADABLE
from evenflow.transforms.llm.budget import SPENT

DIGITS = 9  # of a threshold less hysteresis: 0.45 - 0.02 is 0.43, not 0.43000000000000005


@dataclass(frozen=True)
class Thresholds:
    """warn, block: DR from which the lower bound warns or blocks. min_mentions: below, there is no
    verdict.

    hysteresis: how far the bound must fall below a threshold to leave the state that the threshold
    gave; never more than half the threshold, so that a state can always be left.
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
    """The verdict from the rolling score; previous is the state of the pane before, None for the
    first.

    Without enough mentions, or without an interval, the pane is open whatever was before: nothing
    is held back, and no state kept, on evidence that is not there. The rolling score has looked
    back on the panes before, so they had too little as well.
    """
    seen = f"{_number(rolling.mentions, 'mention')} in {_number(rolling.documents, 'document')}"
    if rolling.mentions < thresholds.min_mentions:
        few = f"too little to judge: {seen}; {thresholds.min_mentions} mentions are needed"
        return Verdict(state="open", reason=few, judged=False)
    if rolling.low is None:
        return Verdict(
            state="open", reason=f"too little to judge: {seen} give no interval", judged=False
        )
    levels: tuple[tuple[State, float], ...] = (
        ("block", thresholds.block),
        ("warn", thresholds.warn),
    )
    for state, threshold in levels:
        if rolling.low >= threshold:
            said = (
                f"rolling DR is at least {_beside(rolling.low, threshold)}, {state} begins at"
                f" {threshold:g}"
            )
            return Verdict(state=state, reason=said)
        least = thresholds.leave(threshold)
        held = previous is not None and STATES.index(previous) >= STATES.index(state)
        if held and rolling.low >= least:
            low = _beside(rolling.low, threshold)
            return Verdict(
                state=state,
                reason=f"rolling DR may be as low as {low}, {state} ends below {least:g}",
            )
    low = _beside(rolling.low, thresholds.warn)
    return Verdict(
        state="open", reason=f"rolling DR may be as low as {low}, below warn at {thresholds.warn:g}"
    )


def of_reading(dead: Mapping[str, int], documents: int, most: float) -> Verdict:
    """The verdict on what could be read: block for any file that breaks off, and for too great a
    share of dead letters.

    dead: records that became no documents, by kind of reason. documents: those that did. most:
    share of the records (0 to 1); with 1 nothing is blocked for it.
    """
    lost, unread = sum(dead.values()), dead.get(UNREADABLE, 0)
    said = [f"{_number(unread, 'file')} could not be read to the end"] if unread else []
    if lost > most * (lost + documents):
        kinds = ", ".join(
            f"{count} {reason}"
            for reason, count in sorted(dead.items(), key=lambda item: (-item[1], item[0]))
        )
        share = f"{lost / (lost + documents):.1%} of {_number(lost + documents, 'record')}"
        said.append(f"{share} became dead letters ({kinds}), {most:.1%} at most may")
    if not said or most == 1:
        return Verdict(
            state="open",
            reason=f"{_number(lost, 'dead letter')} of {_number(lost + documents, 'record')}",
        )
    return Verdict(state="block", reason="; ".join(said))


def of_asking(llm: Mapping[str, Mapping[str, Any]], most: float, state: State) -> Verdict:
    """The verdict on an LLM: state where too great a share of its questions fell back to the
    embedded model.

    llm: what asking cost, by prompt (inference_stats.Stats). most: share of the questions (0 to 1).
    What a budget left unasked is no failure of the LLM.
    """
    reasons: Counter[str] = Counter()
    for cost in llm.values():
        reasons.update(
            {reason: count for reason, count in cost["fallbacks"].items() if reason != SPENT}
        )
    lost, asked = (
        reasons.total(),
        sum(each["questions"] - each["fallbacks"].get(SPENT, 0) for each in llm.values()),
    )
    told = f"{lost} of {_number(asked, 'question')} to the LLM fell back to the embedded model"
    if lost <= most * asked:
        return Verdict(state="open", reason=told)
    kinds = ", ".join(
        f"{count} {reason}"
        for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    )
    return Verdict(state=state, reason=f"{told} ({kinds}), {most:.1%} at most may")


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
