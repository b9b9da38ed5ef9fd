"""What a substitution consists of: the sets of mentions that hang together, their edits, and why
one is barred.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evenflow.transforms.labels.finder import Mention

# Reasons for which a mention is left as it is: those that its form tells, and those that a judge
# gives.
EVEN = "even already"
NO_COUNTERPART = "no counterpart of the role"
LONG = "sentence too long"
FOREIGN = "not English"
OVERLAP = "overlaps another mention"
DOUBTED = "too unsure"


class Edit(NamedTuple):
    """text[start:end] becomes replacement."""

    start: int
    end: int
    replacement: str


class Refusal(NamedTuple):
    """A mention that is left as it is, with its reason."""

    mention: Mention
    reason: str


@dataclass(slots=True)
class Item:
    """A word of one group in a sentence: a mention, or a word that is no label but must change with
    one (mention None).

    kind: pronoun, noun, plural, adjective, title or other. barred: why the word may not change, if
    its form says so. replacements: by target group, the word as it would stand in the text, empty
    where it falls away. choices: by target group, what may stand there too, as lists write it;
    canonical: how a list writes the word itself.
    """

    start: int
    end: int
    word: str
    group: str
    kind: str
    sentence: int
    mention: Mention | None
    barred: str = ""
    replacements: dict[str, str] = field(default_factory=dict)
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    canonical: str = ""
    # Where the word ends with the blank after it, if a replacement by nothing takes that too
    gap: int = 0

    def bar(self, reason: str) -> None:
        """Say why the word may not change; the first reason stays."""
        self.barred = self.barred or reason


@dataclass(frozen=True)
class Set:
    """Mentions of one group that hang together and change together or not at all.

    edits: by target group, over the document's text, in its order, none overlapping; empty where
    the set may not change. confidence: the probability (0 to 1) that its exchange is right, as far
    as it was judged. sentences: their places in the list given; spans: their (start, end). barred:
    mentions that keep the set as it is, each with its reason. judged: whether more than the first
    stage gave the confidence.
    """

    attribute: str
    source: str
    edits: Mapping[str, Sequence[Edit]]
    confidence: float
    sentences: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    mentions: tuple[Mention, ...]
    barred: tuple[Refusal, ...] = ()
    judged: bool = False

    @property
    def targets(self) -> tuple[str, ...]:
        """The groups that the set could go to, in the list's order."""
        return tuple(self.edits)

    @property
    def reason(self) -> str:
        """The gravest reason for which the set is barred or unsure; empty where there is none."""
        return self.barred[0].reason if self.barred else ""


def placed(
    sentences: Sequence[tuple[int, int]], mentions: Iterable[Mention], words: Mapping[str, str]
) -> list[Item]:
    """Mentions as items, for now as nouns, each in its sentence; one that lies in none falls away.

    Args:
        sentences: (start, end) in order.
        mentions: Of one list, in order.
        words: The folded word of each label.
    """
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
    """Those of some edits, given in order, that lie in text[start:end], by offsets into it."""
    begun = edits[bisect_left(edits, (start,)) : bisect_left(edits, (end,))]
    return [Edit(a - start, b - start, replacement) for a, b, replacement in begun if b <= end]


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text with its edits; every character outside them stays.

    Raises ValueError for edits that overlap or lie outside the text.
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
