"""What a substitution consists of: the sets of mentions that hang together, their edits, and why one is barred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evenflow.transforms.labels import Mention

# Reasons for which a mention is left as it is.
DATE = "date or year"
HISTORY = "history or politics"
NAMED = "named person"
REFERS = "refers to a named person"
UNSURE = "unsure who is meant"
SENSE = "another sense"
GENERIC = "generic"
IDIOM = "idiom"
QUOTATION = "quotation"
EVEN = "even already"
COMPARED = "groups are compared"
DOCTRINE = "law or doctrine"
NO_COUNTERPART = "no counterpart of the role"
LONG = "sentence too long"
BOUND = "bound to a barred mention"
FOREIGN = "not English"
WORK = "named work or organisation"
ADDRESS = "code or address"
OVERLAP = "overlaps another mention"
DOUBTED = "too unsure"
BIOLOGY = "biology"
REPORTED = "real people of the news"


class Edit(NamedTuple):
    """text[start:end] becomes replacement."""

    start: int
    end: int
    replacement: str


class Bar(NamedTuple):
    """A mention that is left as it is, with its reason."""

    mention: Mention
    reason: str


@dataclass(slots=True)
class Item:
    """A word of one group in a sentence: a mention, or a word that is no label but must change with one (mention None).

    kind: pronoun, noun, plural, adjective, title or other. weight: the confidence that the word itself may change.
    reason: why that is less than 1, if so. replacements: by target group, the word as it would stand in the text, empty
    where it falls away. choices: by target group, what may stand there too, as lists write it; canonical: how a list writes
    the word itself.
    """

    start: int
    end: int
    word: str
    group: str
    kind: str
    sentence: int
    mention: Mention | None
    weight: float = 1.0
    reason: str = ""
    replacements: dict[str, str] = field(default_factory=dict)
    particular: bool = False  # whether it is a certain person or thing («the rabbi»), not a group in general
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    canonical: str = ""
    gap: int = 0  # where the word ends with the blank after it, if a replacement by nothing takes that too

    def lower(self, weight: float, reason: str) -> None:
        """Take the confidence down to a weight, keeping the gravest reason."""
        if weight < self.weight:
            self.weight, self.reason = weight, reason


@dataclass(frozen=True)
class Set:
    """Mentions of one group that hang together and change together or not at all.

    edits: by target group, over the document's text, in its order, none overlapping; empty where the set may not change.
    confidence: 0 to 1. sentences: their places in the list given. barred: each mention that bars the set, with its reason.
    The set is eligible at a strictness of at most its confidence.
    """

    attribute: str
    source: str
    edits: Mapping[str, Sequence[Edit]]
    confidence: float
    sentences: tuple[int, ...]
    mentions: tuple[Mention, ...]
    barred: tuple[Bar, ...]

    @property
    def targets(self) -> tuple[str, ...]:
        """The groups that the set could go to, in the list's order."""
        return tuple(self.edits)

    @property
    def reason(self) -> str:
        """The gravest reason for which the set is barred or unsure; empty where there is none."""
        return self.barred[0].reason if self.barred else ""


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text with its edits; every character outside them stays.

    Raises ValueError for edits that overlap or lie outside the text.
    """
    out: list[str] = []
    at = 0
    for start, end, replacement in sorted(edits):
        if not at <= start <= end <= len(text):
            raise ValueError(f"the edit of {start} to {end} overlaps another or lies outside a text of {len(text)} characters")
        out.append(text[at:start])
        out.append(replacement)
        at = end
    out.append(text[at:])
    return "".join(out)
