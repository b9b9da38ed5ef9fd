"""Finds the fewest documents, by their tokens, without which a pane is not blocked.

The excess of a set S of groups is Σ_{g in S} c_g − q_S n, over n mentions; DR is the greatest
excess of any S, divided by n. Without the documents R, DR is at most δ only if for each S

    Σ_{d in R} (e_d − δ n_d) ≥ e − δ n

where e is the excess and n the mentions, of the window or of a document d. For one S this is a
knapsack: least tokens that cover an amount. Taking documents by (e_d − δ n_d) / tokens, the greedy
order, solves its relaxation, where a document may go in part (Dantzig, Operations Research 5,
1957). That is the bound: whatever is removed to bring DR as low takes as many tokens at least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenflow.schemas.ledger import State, Sums

Floats = npt.NDArray[np.float64]
MOST_SHARE = 0.5  # of the pane's documents or tokens; if more would go, the whole pane goes
PUT_BACK = 1000  # removed documents that are tried again, the least efficient first
ROUNDS = 16  # attributes that block, and sets of groups that are named too often, one after another


@dataclass(frozen=True)
class PaneAttribute:
    """An attribute of a pane of D documents.

    Attributes:
        counts: Mentions by document and group (D, M).
        target: Share that each group should have (M,).
        earlier: Sums of the panes before in the rolling window.
        state: The state that sums of the whole window have.
    """

    counts: Floats
    target: Floats
    earlier: Sums
    state: Callable[[Sums], State]

    def window(self, kept: npt.NDArray[np.bool_]) -> Sums:
        """Sums of the rolling window with some documents of the pane."""
        own = self.counts[kept]
        own = own[own.any(axis=1)]
        return Sums(
            documents=self.earlier.documents + len(own),
            counts=(np.array(self.earlier.counts) + own.sum(axis=0)).tolist(),
            products=(np.array(self.earlier.products) + own.T @ own).tolist(),
        )

    def blocks(self, kept: npt.NDArray[np.bool_]) -> bool:
        """Whether the pane is blocked with these documents."""
        return self.state(self.window(kept)) == "block"

    def over(self, kept: npt.NDArray[np.bool_]) -> tuple[Floats, float]:
        """What a mention of each group adds to the excess (M,), and DR."""
        counts = np.array(self.window(kept).counts, float)
        n = max(counts.sum(), 1.0)
        named = counts > self.target * n
        drawn = named - self.target[named].sum()
        return drawn, float(counts @ drawn) / n


@dataclass(frozen=True)
class Removal:
    """Documents without which a pane is not blocked.

    `least_tokens`: No removal that brings DR as low takes fewer tokens.

    `gone`: Which documents (D,).
    """

    gone: npt.NDArray[np.bool_]
    least_tokens: float


def fewest(attributes: Mapping[str, PaneAttribute], tokens: Sequence[int]) -> Removal | None:
    """Choose documents of a blocked pane.

    Args:
        attributes: The attributes, over the same D documents.
        tokens: Tokens of each document (D,).

    Returns:
        The documents. Put back in the reverse of the order in which they were chosen, each alone
        blocks the pane again (of more than PUT_BACK, the last ones). None where the pane stays
        blocked whatever goes.
    """
    cost = np.maximum(np.array(tokens, float), 1.0)
    kept = np.ones(len(cost), bool)
    chosen: list[int] = []
    for _ in range(ROUNDS):
        named = next((each for each in attributes.values() if each.blocks(kept)), None)
        if named is None:
            break
        more = _round(named, kept, cost)
        if not len(more):
            return None
        kept[more] = False
        chosen += more.tolist()
    else:
        return None
    for document in chosen[: -PUT_BACK - 1 : -1]:
        kept[document] = True
        if any(each.blocks(kept) for each in attributes.values()):
            kept[document] = False
    whole = np.ones(len(cost), bool)
    bounds = [_bound(each, kept, cost) for each in attributes.values() if each.blocks(whole)]
    return Removal(~kept, max(bounds, default=0.0))


def _gains(
    named: PaneAttribute, drawn: Floats, dr: float, documents: npt.NDArray[np.intp]
) -> tuple[Floats, float]:
    """What each document adds to the excess beyond `dr`, and what the earlier panes do."""
    worth = drawn - dr
    return named.counts[documents] @ worth, float(np.array(named.earlier.counts, float) @ worth)


def _greedy(gains: Floats, cost: Floats) -> npt.NDArray[np.intp]:
    """The documents that gain something, those that gain most for their cost first."""
    return np.argsort(-gains / cost, kind="stable")[: int((gains > 0).sum())]


def _round(named: PaneAttribute, kept: npt.NDArray[np.bool_], cost: Floats) -> npt.NDArray[np.intp]:
    """The documents to remove next for an attribute's sake, in greedy order; none if none helps."""
    there = np.flatnonzero(kept)
    drawn, dr = named.over(kept)
    aim, found = 0.0, there[:0]
    # Which order is best depends on the DR that is reached: from that of the first order on
    for _ in range(2):
        gains, _ = _gains(named, drawn, aim, there)
        order = there[_greedy(gains, cost[there])]
        number = _least(named, kept, order)
        if number is None:
            break
        if len(found) and cost[order[:number]].sum() >= cost[found].sum():
            break
        found = order[:number]
        left = kept.copy()
        left[found] = False
        counts = np.array(named.window(left).counts, float)
        aim = max(float(counts @ drawn) / max(counts.sum(), 1.0), 0.0)
    if len(found):
        return found
    # These groups alone do not end it: down to their share, then others are named too often
    gains, _ = _gains(named, drawn, 0.0, there)
    order = _greedy(gains, cost[there])
    number = int(np.searchsorted(np.cumsum(gains[order]), dr * sum(named.window(kept).counts)))
    return there[order[: number + 1]]


def _least(
    named: PaneAttribute, kept: npt.NDArray[np.bool_], order: npt.NDArray[np.intp]
) -> int | None:
    """How many of the first documents must go; None if all of them are too few."""

    def ends(number: int) -> bool:
        left = kept.copy()
        left[order[:number]] = False
        return not named.blocks(left)

    if not len(order) or not ends(len(order)):
        return None
    low, high = 0, len(order)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if ends(middle) else (middle, high)
    return high


def _bound(named: PaneAttribute, kept: npt.NDArray[np.bool_], cost: Floats) -> float:
    """The least tokens, a document in part allowed, that bring DR to what it is with `kept`."""
    drawn, _ = named.over(np.ones(len(cost), bool))
    _, reached = named.over(kept)
    gains, before = _gains(named, drawn, reached, np.arange(len(cost)))
    need = float(gains.sum()) + before
    order = _greedy(gains, cost)
    sums = np.cumsum(gains[order])
    if need <= 0 or not len(order):
        return 0.0
    number = int(np.searchsorted(sums, need))
    if number == len(order):  # rounding
        return float(cost[order].sum())
    part = (need - (sums[number - 1] if number else 0.0)) / gains[order[number]]
    return float(cost[order[:number]].sum() + part * cost[order[number]])
