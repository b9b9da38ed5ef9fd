"""Figures of judges: shares with intervals."""

from __future__ import annotations

from evenflow.transforms import wilson


def share(right: int, n: int) -> str:
    """Format a share with its 95 % interval (Wilson, 1927)."""
    if not n:
        return "none of 0"
    low, high = wilson.interval(right / n, n)
    return f"{right / n:.2f} [{low:.2f}, {high:.2f}] ({right} of {n})"
