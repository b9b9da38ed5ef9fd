"""Titles of works in a review without capitals: «'when a man loves a woman' , 'leaving las vegas'», «what women want ( 4/10 )».

Whoever stands in a title is nobody whom the review tells of.
"""

from __future__ import annotations

import re

LONGEST = 60  # characters of a title
# A phrase between single marks, parted from what is around it by blanks or stops.
OPENS = re.compile(r"(?:^|[\s(])['‘`](?=\w)[^'’‘`\n]*(?:\w['’]\w[^'’‘`\n]*)*$")
CLOSES = re.compile(r"[^'’‘`\n]*?(?:\w['’]\w[^'’‘`\n]*?)*(?<=[\w.!?])['’](?=$|[\s,.;:)])")
# «( 4/10 )», «( 1997 )», «( ***1/2 )» behind a title that begins a line or an entry of a list.
RATED = re.compile(r"(?:\s+[\w'’&:-]+){0,5}\s*\(\s*(?:\d[\d.]*\s*/\s*\d+|(?:19|20)\d\d|[*]+[\d/]*)\s*[),]")
ENTRY = re.compile(r"(?:^\W*|\s[-–*•]\s+|\)\s*,\s+)(?:[\w'’&:-]+\s+){0,5}$")
# «mohr ( suicide kings , paulie )»: what somebody has been in.
BRACKET = re.compile(r"([\w'’.-]+)\s+\(\s*(?:[^(),]{1,40}\s+,\s+)*((?:[\w'’-]+\s+){0,4})$")
ENDS_ENTRY = re.compile(r"(?:\s+[\w'’-]+){0,4}\s*[,)]")
IN_NO_TITLE = frozenset(
    ("who", "whom", "is", "are", "was", "were", "his", "her", "their", "played", "as", "some", "two", "three")
)


def is_in_title(text: str, start: int, end: int, first: int, last: int) -> bool:
    """Whether a noun text[first:last] of a sentence text[start:end] stands in a title."""
    before = text[max(start, first - LONGEST) : first]
    after = text[last : min(end, last + LONGEST)]
    if (
        ("'" in before or "‘" in before or "`" in before)
        and OPENS.search(before)
        and CLOSES.match(text, last, min(end, last + LONGEST))
    ):
        return True
    return "(" in after and RATED.match(after) is not None and ENTRY.search(before) is not None


def is_among_works(text: str, start: int, end: int, first: int, last: int) -> str:
    """The word before a bracket in which a noun text[first:last] stands in a list without articles; empty if none does."""
    begin = max(start, first - LONGEST)
    match = BRACKET.search(text, begin, first) if text.find("(", begin, first) >= 0 else None
    if match is None or ENDS_ENTRY.match(text, last, end) is None:
        return ""
    said = match[2].split()
    return "" if not IN_NO_TITLE.isdisjoint(said) or (said and said[0] in ("a", "an")) else match[1]
