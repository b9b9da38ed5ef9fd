"""Verdicts: on a pane's attribute, on what could be read, and on what the LLM answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evenflow.schemas.ledger import STATES, Score, State, Verdict
from evenflow.transforms.io.records import UNREADABLE
from evenflow.transforms.llm.budget import SPENT, count_asked

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
    seen = f"{_number(rolling.mentions, thing)} in {_number(rolling.documents, 'document')}"
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


def reading_verdict(dead: Mapping[str, int], documents: int, most: float) -> Verdict:
    """Decide on what could be read of a pane.

    Args:
        dead: Number of records that became dead letters, by kind of reason.
        documents: Number of records that became documents.
        most: Largest share of dead letters, 0 to 1. With 1, nothing is blocked.

    Returns:
        Block if a file could not be read to its end or the share of dead letters is too large;
        otherwise open.
    """
    lost, unread = sum(dead.values()), dead.get(UNREADABLE, 0)
    reasons = [f"{_number(unread, 'file')} could not be read to the end"] if unread else []
    if lost > most * (lost + documents):
        share = f"{lost / (lost + documents):.1%} of {_number(lost + documents, 'record')}"
        reasons.append(f"{share} became dead letters ({_ranked(dead)}), {most:.1%} at most may")
    if not reasons or most == 1:
        return Verdict(
            state="open",
            reason=f"{_number(lost, 'dead letter')} of {_number(lost + documents, 'record')}",
        )
    return Verdict(state="block", reason="; ".join(reasons))


def llm_verdict(llm: Mapping[str, Mapping[str, Any]], most: float, state: State) -> Verdict:
    """Decide on an LLM: whether it answered enough of a pane's questions.

    A question that the budget left out is no failure of the LLM.

    Args:
        llm: What the questions cost, by prompt (the client's Stats).
        most: Largest share of questions that may fall back to the embedded model, 0 to 1.
        state: State of a pane with more fallbacks.

    Returns:
        The given state if too many questions fell back; otherwise open.
    """
    reasons: Counter[str] = Counter()
    for cost in llm.values():
        reasons.update(
            {reason: count for reason, count in cost["fallbacks"].items() if reason != SPENT}
        )
    lost = reasons.total()
    asked = count_asked(llm)
    share = f"{lost} of {_number(asked, 'question')} to the LLM fell back to the embedded model"
    if lost <= most * asked:
        return Verdict(state="open", reason=share)
    return Verdict(state=state, reason=f"{share} ({_ranked(reasons)}), {most:.1%} at most may")


def worst(states: Iterable[State]) -> State:
    """The worst of some states; open if there are none."""
    return STATES[max(map(STATES.index, states), default=STATES.index("open"))]


def _ranked(counts: Mapping[str, int]) -> str:
    """Counts with their reasons, the most frequent first."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {reason}" for reason, count in ranked)


def _number(count: int, thing: str) -> str:
    """A number of things, in words."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _distinct(bound: float, threshold: float) -> str:
    """A bound with as many digits as distinguish it from a threshold, at least three."""
    if bound == threshold:
        return f"{bound:g}"
    for digits in (3, 4, 5):
        if round(bound, digits) != round(threshold, digits):
            return f"{bound:.{digits}f}"
    return f"{bound:.6f}"
