"""Whose words a quotation is: those of a named source and titles of works stay, the rest is text as any other.

«"Mom, where is the charger?" I yelled», a resident, a clerk: nobody who could be asked has said so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from evenflow.transforms.substitution import leads, protection, sets
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.wordsets import WordSets

# Confidence that is left to a source's words, to people there who are anybody («a woman and her dog»), and to the words of
# somebody without a name.
OF_SOURCE, RETOLD, OF_NOBODY = 0.3, 0.55, 0.8
ANYBODY = leads.after(r"an?|any|every|each|some|another|most|many|two|three|four|five|\d+", 3)
BACK = 6  # sentences before a quotation in which its speaker may have been named
REPORT = 400  # characters from which a text that says «he said» has most likely named him somewhere
# «…,» says Tensorer; «…,» he says.
SAYS = (
    r"(?:says?|said|adds?|added|told|tells?|asks?|asked|explains?|explained|argues?|argued|notes?|noted|warns?|warned|"
    r"writes?|wrote)"
)
BY_NAME = re.compile(rf"\s*,?\s*{SAYS}\s+(?!I\b|The\b|A\b|My\b)[A-Z]\w")
REPORTED = re.compile(rf"\s*,?\s*(?:(?:s?he|they)\s+(?:also\s+)?{SAYS}\b|(?:says|adds|argues|explains|notes|warns)\b)")
WORD = re.compile(r"[^\W\d_][\w'’-]*")
SMALL = frozenset(("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"))
ENDS = ".,!?…-–—"
INNER_MARKS = re.compile(r"[,;:.!?]\s")
MARKS = '"“”«»'
LONGEST_TITLE = 6  # words


class Quoting:
    """The quotations of one text.

    sentences: (start, end) in order. words: of the sentences.
    """

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]], words: WordSets):
        self._text = text
        self._sentences = sentences
        self._words = words
        self.spans = protection.quotations(text)
        self._known: dict[tuple[int, int], bool] = {}

    def check(self, items: Sequence[Item], here: Sequence[Item]) -> None:
        """Lower the confidence of a sentence's items that are quoted. items: all of the text; here: the sentence's."""
        for item in here if self.spans else ():
            span = protection.around(self.spans, item.start, item.end)
            if span is None:
                continue
            if span not in self._known:
                self._known[span] = self._is_said_by_nobody(span, items)
            if self._known[span]:
                item.lower(OF_NOBODY, sets.QUOTATION)
            else:
                said = is_sentence(self._text, *span) if self._words.caseless else is_utterance(self._text, *span)
                item.lower(RETOLD if said and self._speaks_in_general(item, here) else OF_SOURCE, sets.QUOTATION)

    def _is_said_by_nobody(self, span: tuple[int, int], items: Sequence[Item]) -> bool:
        """Whether a quotation is what somebody says, and nobody is named who may be the one, or is spoken of."""
        start, end = span
        if self._words.caseless or not is_utterance(self._text, start, end):
            return False
        if self._of_report or BY_NAME.match(self._text, end):
            return False
        titled = [item.end for item in items if item.kind == "title" and item.weight >= 0.5]
        for place in self._near(start, end):
            for person in self._words.named(place):
                if person.sure and not any(at <= person.start <= at + 2 or person.start <= at <= person.end for at in titled):
                    return False
        return True

    @cached_property
    def _of_report(self) -> bool:
        """Whether the text is a report: its sources have a name, if only in what was cut off."""
        text = self._text
        return len(text) > REPORT and any(BY_NAME.match(text, end) or REPORTED.match(text, end) for _, end in self.spans)

    def _near(self, start: int, end: int) -> range:
        first = self._words.place_of(start)
        return range(max(0, first - BACK), min(len(self._sentences), self._words.place_of(end) + 2))

    def _speaks_in_general(self, item: Item, here: Sequence[Item]) -> bool:
        """Whether a quoted item is somebody whom the speaker does not know either, or goes on with such a one."""
        for other in here:
            together = other.group == item.group and other.start <= item.start and other.kind in ("noun", "plural")
            if together and protection.within(self.spans, other.start, item.end):
                return ANYBODY.search(self._text, max(0, other.start - 40), other.start) is not None
        return False


def is_sentence(text: str, start: int, end: int) -> bool:
    """Whether the quotation text[start:end] of a text without capitals is said by somebody, no title («" roxbury guys "»)."""
    said = text[start:end].strip(MARKS).strip()
    return said[-1:] in ENDS or len(WORD.findall(said)) > LONGEST_TITLE


def is_utterance(text: str, start: int, end: int) -> bool:
    """Whether the quotation text[start:end], with its marks, is something said, no title of a work and no cited phrase."""
    said = text[start:end].strip(MARKS).strip()
    words = WORD.findall(said)
    if not words:
        return False
    large = all(word[0].isupper() for word in words if word not in SMALL)
    titled = len(words) > 3 or (len(words) > 1 and not INNER_MARKS.search(said))
    if large and titled and said[-1] not in "!?" and not said.isupper():
        return False
    before = text[max(0, start - 3) : start].rstrip()
    led = not before or before[-1] in ",:.!?…—–-" or "\n" in text[max(0, start - 3) : start]
    if not said[0].isupper() and not led:
        return False
    return said[-1] in ENDS or (len(words) > 3 and said[0].isupper())
