"""What stands before a mention, as patterns of one shape: one of some words, then up to a few
others, then the mention.

Each is searched for in a short part of a sentence that ends where the mention begins.
"""

from __future__ import annotations

import re

from evenflow.transforms.text.words import COMPOUND

POSSESSIVES = "my|your|his|her|our|their"
# What no noun phrase goes on over.
CLAUSE_WORDS = "at|in|on|for|with|from|by|as|into|than|like|if"


def after(words: str, others: int = 0, other: str = COMPOUND, but: str = "") -> re.Pattern[str]:
    """Matches where one of the words stands before, with at most so many others between.

    words: alternatives of a regular expression, case ignored. other: what each of the others is;
    but: alternatives that none of them may be.
    """
    barred = rf"(?!(?:{but})\b)" if but else ""
    between = rf"(?:{barred}{other}\s+){{0,{others}}}" if others else ""
    return re.compile(rf"\b(?:{words})\s+{between}$", re.IGNORECASE)
