"""Asks a language model, where small models are unsure, and counts what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SPENT = "budget spent"  # the reason of a question for which nothing was left


def count_asked(cost: Mapping[str, Mapping[str, Any]]) -> int:
    """Count the questions that a budget granted.

    Args:
        cost: What questions cost, by prompt (see `client.stats.Stats`).

    Returns:
        All questions but those for which nothing was left.
    """
    return sum(each["questions"] - each["fallbacks"].get(SPENT, 0) for each in cost.values())
