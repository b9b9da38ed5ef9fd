"""Loads word lists: YAML files that map the labels of an attribute to its groups.

    attribute: marital                  # the name in configuration, columns and reports: letters,
                                        # digits, _ and -
    source: where the labels come from  # text, optional
    licence: CC0                        # text, optional
    review: read by two people          # text, optional: who has looked at the labels
    language: en eng                    # optional: codes of its language, the usual one first
    groups:                             # two groups or more: a name (as above), a list of labels
      married: [husband, wife, newly wed]
      single:
        - bachelor
        - {label: May, case: exact}     # case matters for this label
    target: {married: 0.5, single: 0.5} # optional: shares of the mentions; equal ones without it
    population: {married: 0.6, single: 0.4}  # optional: shares of the people who live, and
    population_source: census of 2020   # who says so, and of which year
    pairs:                              # optional: counterparts for substitution, one label of
      - [husband, bachelor]             # each group, in the order of the groups
    provenance:                         # optional: where single labels come from
      newly wed: proposed by a colleague
    prefixes: [ال]                      # optional: what is written before a label, to the word
    suffixes: [은, 는]                  # optional: what is written behind a label, to the word
    ignore: [其他]                      # optional: words that contain a label and name nobody

Instead, `groups: [female, male]` with `pairs: [[she, he], …]` lists the labels by their pairs
alone. A label may stand in several pairs; the first one gives its default counterpart. Blanks in a
label match any blanks in a text. Two labels that differ only in case, in the shape of apostrophes
or hyphens, or in the encoding of marks are the same label. YAML does not read yes, no, on, off and
numbers as text: put them in quotes.

All defects are reported at once, each with file, line and label.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from evenflow.schemas.errors import UsageError
from evenflow.wordlists.nodes import Defect, read
from evenflow.wordlists.parsing import ListReader, nearest
from evenflow.wordlists.spelling import LongestMatch, is_unspaced

SHIPPED = ("gender", "age", "religion")  # measured by default
# Measured where they are named: the published tables, before words joined and left
ORIGINAL = ("gender-table12", "age-table13", "religion-table14")
# Measured where they are named: proposed, and not reviewed by people
PROPOSED = ("profession", "nationality", "disability", "sexual_orientation")
# Of gender lists gender_CODE, which are proposed too
LANGUAGES = ("es", "fr", "de", "it", "pt", "nl", "pl", "ru", "tr", "hi", "ar", "zh", "ja", "ko")
NAMED = (*SHIPPED, *ORIGINAL, *PROPOSED, *(f"gender_{code}" for code in LANGUAGES))


class WordListError(UsageError):
    """One or more defects of a word list, one on each line: "file:line: label: what is wrong"."""


class Finder(Protocol):
    """Finds the mentions of an attribute in a way of its own.

    Attributes:
        made_with: What decides what it finds: versions and digests.
    """

    name: str
    made_with: str

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Find start, end and label's index of each mention, in a document's order."""
        ...


@dataclass(frozen=True)
class WordList:
    """An attribute with its groups and labels.

    Attributes:
        labels: Label as listed → index of its group.
        exact: The labels whose case matters.
        counterparts: Label → labels of the other groups that it was paired with, in the list's
            order; empty without pairs.
        review: Who has looked at the labels.
        pairs: The pairs as listed, a label of each group in their order.
        provenance: Label → where it comes from, where the list says so.
        target: Group → share of the mentions that it should have by default; empty: equal shares.
        population: Group → share of the people who live; empty where the list does not say.
        population_source: Who says so, and of which year.
        finder: Finds the mentions, where labels are not found as words between blanks: those of a
            plug-in, whose labels are its groups, and those of scripts without blanks and of
            languages with particles.
        language: Codes of its language, with blanks between them; empty where it does not say.
        only: Codes of the languages of the texts that it is searched in; none: it is searched in
            all.
        guess: It is not searched in texts that are surely of another of these languages than its
            own, of any other where there are none; None: it is searched in all.
    """

    attribute: str
    groups: tuple[str, ...]
    labels: dict[str, int]
    exact: frozenset[str]
    counterparts: dict[str, tuple[str, ...]]
    source: str
    licence: str
    path: str
    review: str = ""
    pairs: tuple[tuple[str, ...], ...] = ()
    provenance: dict[str, str] = field(default_factory=dict)
    target: dict[str, float] = field(default_factory=dict)
    population: dict[str, float] = field(default_factory=dict)
    population_source: str = ""
    finder: Finder | None = None
    language: str = ""
    only: tuple[str, ...] = ()
    guess: tuple[str, ...] | None = None

    @property
    def references(self) -> dict[str, list[float]]:
        """Shares that a score may be read against, (M,) each: equal ones, and the population's."""
        even = {"even": [1 / len(self.groups)] * len(self.groups)}
        shares = [self.population[group] for group in self.groups] if self.population else []
        return even | ({"population": shares} if shares else {})

    @property
    def role_map(self) -> Path:
        """Where its role map is, whether it exists or not.

        A list without one of its own takes that of its attribute beside it.
        """
        listed = Path(self.path)
        own = listed.with_name(f"roles_{listed.stem}.yaml")
        return own if own.is_file() else listed.with_name(f"roles_{self.attribute}.yaml")

    @property
    def fixed(self) -> str:
        """Why no label can be exchanged for one of another group; empty if some may be."""
        if self.finder is not None and not self.finder.name:
            return f"{self.path}: only words between blanks are exchanged, and it has others"
        if self.finder is not None:
            return f"{self.path} finds mentions and has no words to put in their place"
        if self.counterparts or self.role_map.is_file():
            return ""
        return (
            f"nothing in {self.path} says which label stands for which of another group; give it"
            f" pairs, or put roles into {self.role_map}"
        )


def load(name_or_path: str | Path) -> WordList:
    """Loads a shipped list by its name in NAMED, or a list by path.

    Raises:
        WordListError: The file cannot be read or has defects; the message has all of them.
    """
    name = str(name_or_path)
    return _shipped(name) if name in NAMED else _read(Path(name_or_path).expanduser())


@cache
def _shipped(name: str) -> WordList:
    """A shipped list, read once."""
    return _read(Path(__file__).parent / f"{name}.yaml")


def _read(path: Path) -> WordList:
    """The list of a file; raises WordListError."""
    try:
        root, defects = read(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        near = nearest(str(path), NAMED)
        raise WordListError(
            f"{path}: {reason}; give a path, or one of {', '.join(NAMED)}{near}"
        ) from error
    reader = ListReader(defects)
    if root is not None and root.kind == "mapping":
        reader.read(root)
    elif not defects:
        what = "a word list is a mapping with the keys attribute and groups"
        defects.append(Defect(root.line if root else 1, "file", what))
    if defects:
        ordered = sorted(defects, key=lambda defect: defect.line)
        lines = [
            f"{path}{f':{each.line}' if each.line else ''}: {each.label}: {each.what}"
            for each in ordered
        ]
        raise WordListError("\n".join(lines))
    labels = {text: listed.group for text, listed in reader.labels.items()}
    return WordList(
        attribute=reader.keys["attribute"].text,
        groups=tuple(reader.groups),
        labels=labels,
        exact=frozenset(text for text, listed in reader.labels.items() if listed.exact),
        counterparts={label: tuple(others) for label, others in reader.counterparts.items()},
        **{
            key: reader.keys[key].text.strip() if key in reader.keys else ""
            for key in ("source", "licence", "review", "population_source", "language")
        },
        path=str(path),
        pairs=tuple(dict.fromkeys(reader.pairs)),
        provenance=reader.provenance,
        target=reader.target,
        population=reader.population,
        finder=LongestMatch(labels, **reader.words)
        if any(reader.words.values()) or any(map(is_unspaced, labels))
        else None,
        only=(),
        guess=None,
    )
