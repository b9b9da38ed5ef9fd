"""Verdicts on what could be read, and on what the LLM answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from evenflow.schemas.ledger import State, Verdict
from evenflow.schemas.words import counted
from evenflow.transforms.io.records import UNREADABLE
from evenflow.transforms.llm import SPENT, count_asked
from evenflow.transforms.wilson import interval

SURE = 20  # records from which the share of dead letters counts as it is


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
    reasons = [f"{counted(unread, 'file')} could not be read to the end"] if unread else []
    records = lost + documents
    # Of few records, one lost by chance is a large share
    surely = records >= SURE or (records and interval(lost / records, records)[0] > most)
    if lost > most * records and surely:
        share = f"{lost:,} of {counted(records, 'record')} unreadable"
        reasons.append(f"{share} ({_ranked(dead)}); limit {most:.1%}")
    if not reasons or most == 1:
        return Verdict(
            state="open",
            reason=f"{counted(lost, 'dead letter')} of {counted(lost + documents, 'record')}",
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
        reasons.update(cost["fallbacks"])
    left = reasons.pop(SPENT, 0)
    lost = reasons.total()
    asked = count_asked(llm)
    share = f"{lost} of {counted(asked, 'question')} to the LLM fell back to the embedded model"
    if left:
        share += f"; the budget left out {left:,} more"
    if lost <= most * asked:
        return Verdict(state="open", reason=share)
    return Verdict(state=state, reason=f"{share} ({_ranked(reasons)}), limit {most:.1%}")


def _ranked(counts: Mapping[str, int]) -> str:
    """Counts with their reasons, the most frequent first."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {reason}" for reason, count in ranked)
