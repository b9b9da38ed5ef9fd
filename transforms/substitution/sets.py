"""The parts of a substitution: sets of mentions that change together, their edits and refusals."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evenflow.transforms.labels.finder import Mention

# Reasons why a mention stays: those of its form, and that of a judge
EVEN = "even already"
NO_COUNTERPART = "no counterpart of the role"
LONG = "sentence too long"
FOREIGN = "not English"
PROTECTED = "repair.protect names it"
OVERLAP = "overlaps another mention"
DOUBTED = "too unsure"
STEREOTYPE = "may be a stereotype"
SILENT, FAILED = "the judge cannot say", "the judge failed"
HALF = "another mention of the same person would stay"
NAMED = "a name before may be the person's"


class Edit(NamedTuple):
    """A change: text[start:end] becomes the replacement."""

    start: int
    end: int
    replacement: str


class Refusal(NamedTuple):
    """A mention that stays as it is."""

    mention: Mention
    reason: str


@dataclass(slots=True)
class Item:
    """A word of one group: a mention, or a word that is no label but must change with one.

    Attributes:
        kind: pronoun, noun, plural, adjective, title, collective or other.
        mention: The mention, None for a word that is no label.
        refusal: Why the word may not change, empty where its form allows it.
        replacements: By target group, the word as it would stand in the text, empty where the item
            is removed.
        gap: Where the word ends with the blank after it, if a removal takes that too; otherwise 0.
    """

    start: int
    end: int
    word: str
    group: str
    kind: str
    sentence: int
    mention: Mention | None
    refusal: str = ""
    replacements: dict[str, str] = field(default_factory=dict)
    gap: int = 0

    def refuse(self, reason: str) -> None:
        """Record why the word may not change; the first reason stays."""
        self.refusal = self.refusal or reason


@dataclass(frozen=True)
class Set:
    """Mentions of one group that change together or not at all.

    Attributes:
        edits: By target group: edits of the document's text, in its order, without overlaps. Empty
            where the set may not change.
        confidence: The probability (0 to 1) that its exchange is right, as far as it was judged.
        sentences: The numbers of its sentences in the list given.
        refusals: The mentions that keep the set as it is, with their reasons.
    """

    attribute: str
    source: str
    edits: Mapping[str, Sequence[Edit]]
    confidence: float
    sentences: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    mentions: tuple[Mention, ...]
    refusals: tuple[Refusal, ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """The groups that the set could go to, in the list's order."""
        return tuple(self.edits)

    @property
    def reason(self) -> str:
        """The first reason for which the set is refused or unsure; empty where there is none."""
        return self.refusals[0].reason if self.refusals else ""


def place_mentions(
    sentences: Sequence[tuple[int, int]], mentions: Iterable[Mention], words: Mapping[str, str]
) -> list[Item]:
    """Make items of mentions, for now as nouns."""
    starts = [start for start, _ in sentences]
    out: list[Item] = []
    for each in mentions:
        place = bisect_right(starts, each.start) - 1
        if place >= 0 and each.end <= sentences[place][1]:
            out.append(
                Item(each.start, each.end, words[each.label], each.group, "noun", place, each)
            )
    return out


def within(edits: Sequence[Edit], start: int, end: int) -> list[Edit]:
    """Select the edits that lie in text[start:end].

    Returns:
        These edits, by offsets into the part.
    """
    begun = edits[bisect_left(edits, (start,)) : bisect_left(edits, (end,))]
    return [Edit(a - start, b - start, replacement) for a, b, replacement in begun if b <= end]


def apply(text: str, edits: Sequence[Edit]) -> str:
    """Apply edits to a text; every character outside them stays.

    Args:
        edits: The edits, in any order.

    Raises:
        ValueError: Edits overlap or lie outside the text.
    """
    out: list[str] = []
    at = 0
    for start, end, replacement in sorted(edits):
        if not at <= start <= end <= len(text):
            raise ValueError(
                f"the edit of {start} to {end} overlaps another or lies outside a text of"
                f" {len(text)} characters"
            )
        out.append(text[at:start])
        out.append(replacement)
        at = end
    out.append(text[at:])
    return "".join(out)
