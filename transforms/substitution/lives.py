"""Sentences of an encyclopaedia or an obituary that begin with a pronoun: a real person, whose name stands elsewhere.

«She was survived by her son.», «He is also the patron saint of the Royal Engineers.», «He was a scholar of Ancient Law»;
but «She graduated from college last year» may be said of anybody.
"""

from __future__ import annotations

import re

from evenflow.transforms import english

SIGNS = english.words("signs_of_a_life")
QUOTE = r"(?:['\"“‘`]+\s*)?"
NAME = (
    rf"{QUOTE}(?:the\s+)?{QUOTE}(?!(?:I|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|English|French)\b)[A-Z][\w'’.-]+"
)
LONG_NAME = rf"{NAME}(?:\s+(?:of\s+|and\s+|the\s+)*[A-Z][\w'’.-]+)+"
OF_A_LIFE = re.compile(
    rf"\b(?:(?:was|is)\s+survived\s+by|patron\s+saint|best\s+known\s+(?:for|as)\b[^.]*[A-Z]|"
    rf"(?:gained\s+popularity|rose\s+to\s+(?:prominence|fame)|came\s+to\s+prominence)|"
    rf"found(?:ing\s+\w+|er)\s+of\s+{NAME}|plays?\s+for\s+{NAME}|played\s+for\s+{NAME}|"
    rf"(?:scholar|member|signatory|laureate|fellow)\s+(?:in|of)\s+{LONG_NAME}|"
    rf"(?:was|were)\s+(?:capped|knighted|beatified|canonized|interred)|remembered\s+(?:for|as)\b[^.]*[A-Z]|"
    rf"(?:appeared|starred)\s+(?:as\s+[^.,]+\s+)?in\s+{NAME}|directed\s+{NAME}|(?:was\s+)?succeeded\s+(?:by\s+)?{NAME}|"
    rf"(?:lived|lives)\s+in\s+[A-Z]\w+\s*,\s*[A-Z]\w+\s*[(,]|(?:reigned|commanded)\s+[^.]*{NAME}|buried\s+(?:in|at)\s+{LONG_NAME})"
)


def is_told(text: str, start: int, end: int, words: frozenset[str]) -> bool:
    """Whether a sentence text[start:end] of these words, which begins with a pronoun, tells of a real person's life."""
    return not SIGNS.isdisjoint(words) and OF_A_LIFE.search(text, start, end) is not None
