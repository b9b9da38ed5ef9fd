"""Reports: edited texts that name whom they quote, and the articles that several of them stand in one after the other."""

from __future__ import annotations

import re

from evenflow.transforms import english

SHORT = 400  # characters up to which a text is not taken for a report: what names nobody there has named nobody before either
SAYING = ("says", "said", "say", "adds", "added", "told", "explains", "warns", "argues", "writes")
TRIED = 20  # places of one verb that are looked at; a report has a source among the first
REACH = 24  # characters on either side of a verb of saying in which its source stands
TITLE = r"(?:(?:Dr|Prof|Professor|Mr|Mrs|Ms|Sir|Senator)\.?\s+)?"
SOURCE_BEFORE = re.compile(r"(?<![\w'’-])(?!(?:I|It|He|She|They|We|You|This|That|The|And|But|As|What|Who)\b)[A-Z][\w'’-]+,?\s+$")
SOURCE_AFTER = re.compile(rf"\s+{TITLE}(?!(?:I|It|He|She|They|We|You|The)\b)[A-Z][a-z]")
# «…, the scientists say», «…," he says», «…," says the panel».
SPEAKER_BEFORE = re.compile(
    r"[\"”’,]\s+s?he\s+$|[\"”]\s+$|"
    r"\b(?:scientists?|researchers?|police|officials?|experts?|analysts?|authorities|study|report|spokes(?:wo)?man)\s+$"
)
# Words for those who make news and for where it comes from; a story with dialogue has few of them.
NEWSMAKERS = english.words("newsmakers")
FEWEST = 2
# Two lines without anything part an article from the next.
BREAK = re.compile(r"\n[ \t\r]*\n[ \t\r]*\n")


def is_report(text: str) -> bool:
    """Whether a text, written with capitals, tells by name who says something («…, says Kornberg», «…," he says»)."""
    if len(text) <= SHORT:
        return False
    for verb in SAYING:
        at = text.find(verb)
        for _ in range(TRIED):
            if at < 0:
                break
            end = at + len(verb)
            if SOURCE_AFTER.match(text, end) or SOURCE_BEFORE.search(text, max(0, at - REACH), at):
                return True
            if SPEAKER_BEFORE.search(text, max(0, at - REACH), at):
                return True
            at = text.find(verb, end)
    return False


def breaks(text: str) -> list[int]:
    """Where the articles of a text begin, the first at 0."""
    return [0, *(match.end() for match in BREAK.finditer(text))]
