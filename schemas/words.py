"""Numbers in words."""

from __future__ import annotations


def counted(count: int, thing: str) -> str:
    """Format a count of things: 1 pane, 2 panes.

    Args:
        count: How many.
        thing: The noun, in the singular.

    Returns:
        The text.
    """
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
