"""Patterns of what stands before a mention: one of some words, then up to a few others.

Each is searched for in a short part of a sentence that ends where the mention begins.
"""

from __future__ import annotations

import re

from evenflow.transforms.text.words import COMPOUND

POSSESSIVES = "my|your|his|her|our|their"
# Words that no noun phrase continues over
CLAUSE_WORDS = "at|in|on|for|with|from|by|as|into|than|like|if"


def compile_lead(
    words: str, others: int = 0, other: str = COMPOUND, but: str = ""
) -> re.Pattern[str]:
    """Compile a pattern that finds one of some words shortly before the end of a text.

    Args:
        words: The words, as alternatives of a regular expression; case is ignored.
        others: How many other words may stand between at most.
        other: Pattern of one of these.
        but: Alternatives that none of these may be.

    Returns:
        The pattern.
    """
    excluded = rf"(?!(?:{but})\b)" if but else ""
    between = rf"(?:{excluded}{other}\s+){{0,{others}}}" if others else ""
    return re.compile(rf"\b(?:{words})\s+{between}$", re.IGNORECASE)
