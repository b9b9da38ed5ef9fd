"""Reads word lists: YAML files that map the labels of an attribute to its groups.

    attribute: marital                  # letters, digits, _ and -; the name in configuration,
    columns and reports source: where the labels come from  # text, optional licence: CC0
    # text, optional groups:                             # two groups or more, each a name (as
    above) with a list of labels
      married: [husband, wife, newly wed]
      single:
        - bachelor
        - {label: May, case: exact}     # case matters for this label
    pairs:                              # optional: counterparts for substitution, a label of each
    group in their order
      - [husband, bachelor]

Instead, `groups: [female, male]` with `pairs: [[she, he], …]` lists the labels by their pairs
alone. A label may stand in several pairs, the first is its default counterpart. Blanks in a label
stand for any blanks in a text. Case, the shape of apostrophes and hyphens, and how marks are
encoded make no other label. YAML reads yes, no, on, off and numbers as something else than text:
put them in quotes.

Every defect is reported with file, line and label, all of them at once.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from evenflow.wordlists import spelling
from evenflow.wordlists.nodes import Defect, Node, read

SHIPPED = ("gender", "age", "religion")
KEYS = ("attribute", "source", "licence", "groups", "pairs")
OPTIONS = ("label", "case")
LONGEST_SHOWN = 60  # characters of a label in a message
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")  # safe in column names, metrics and file names


class WordListError(ValueError):
    """One or more defects of a word list, a line each: file:line: label: what is wrong."""


@dataclass(frozen=True)
class WordList:
    """An attribute with its groups and labels.

    labels: label as listed -> index of its group. exact: the labels whose case matters.
    counterparts: label -> labels of the other groups it was paired with, in the list's order (empty
    without pairs).
    """

    attribute: str
    groups: tuple[str, ...]
    labels: dict[str, int]
    exact: frozenset[str]
    counterparts: dict[str, tuple[str, ...]]
    source: str
    licence: str
    path: str


@dataclass(frozen=True)
class _Listed:
    """A label where it stands."""

    text: str
    exact: bool
    group: int
    line: int


@dataclass
class _Collector:
    """Collects labels, counterparts and defects while walking the nodes."""

    defects: list[Defect]
    groups: list[str] = field(default_factory=list)
    labels: dict[str, _Listed] = field(default_factory=dict)
    spelled: dict[str, list[_Listed]] = field(default_factory=dict)
    counterparts: dict[str, dict[str, None]] = field(default_factory=dict)  # ordered sets

    def defect(self, line: int, label: str, what: str) -> None:
        self.defects.append(Defect(line, label, what))

    def label(self, node: Node, group: int) -> _Listed | None:
        """A label as it stands, or None after reporting a defect."""
        exact = False
        line = node.line
        if node.kind == "mapping":
            options = {key.text: value for key, value in node.entries}
            for key, _ in node.entries:
                if key.text not in OPTIONS:
                    self.defect(
                        key.line,
                        _shown(key),
                        f"unknown key of a label{_nearest(key.text, OPTIONS)}",
                    )
            case = options.get("case")
            exact = case is not None and case.text == "exact"
            if "label" not in options or (case is not None and not exact):
                self.defect(
                    line,
                    _shown(node),
                    "a label with options has the form {label: TEXT, case: exact}",
                )
                return None
            node = options["label"]
        if node.kind != "text":
            self.defect(line, _shown(node), "a label must be text; put it in quotes")
            return None
        text = unicodedata.normalize("NFC", node.text)
        what = _unfit(text)
        if what:
            self.defect(line, _shown(node), what)
            return None
        return _Listed(text, exact, group, line)

    def add(self, listed: _Listed, paired: bool) -> None:
        """Record a label in its group, or report whose double it is; a pair may repeat a label, a
        list may not.
        """
        doubles = self.spelled.setdefault(spelling.fold(listed.text), [])
        for other in doubles:
            if (
                listed.exact
                and other.exact
                and spelling.spell(listed.text) != spelling.spell(other.text)
            ):
                continue
            what = self._double(listed, other, paired)
            if what:
                self.defect(listed.line, listed.text, what)
            return
        doubles.append(listed)
        self.labels[listed.text] = listed

    def _double(self, listed: _Listed, other: _Listed, paired: bool) -> str:
        """What is wrong with a label that was listed before, if anything."""
        if other.group != listed.group:
            groups = (
                f"{self.groups[other.group]} (line {other.line}) and {self.groups[listed.group]}"
            )
            as_text = "" if other.text == listed.text else f" (there {other.text!r})"
            return f"in two groups, {groups}{as_text}"
        if other.text == listed.text and other.exact == listed.exact:
            return "" if paired else f"listed twice (first in line {other.line})"
        if other.text == listed.text:
            return f"listed with and without case: exact (line {other.line})"
        if other.text.lower() == listed.text.lower():
            return f"differs from {other.text!r} (line {other.line}) in case alone"
        return (
            f"no other label than {other.text!r} (line {other.line}): only characters differ that"
            " are read alike"
        )

    def named(self, text: str) -> _Listed | None:
        """The listed label that a pair means."""
        same = self.spelled.get(spelling.fold(text), [])
        return self.labels.get(text) or next((other for other in same if not other.exact), None)


def load(name_or_path: str | Path) -> WordList:
    """A shipped list by name (gender, age, religion), or a list by path.

    Raises WordListError with every defect, and for a file that cannot be read.
    """
    name = str(name_or_path)
    return _shipped(name) if name in SHIPPED else _read(Path(name_or_path).expanduser())


@cache
def _shipped(name: str) -> WordList:
    return _read(Path(__file__).parent / f"{name}.yaml")


def _read(path: Path) -> WordList:
    try:
        root, defects = read(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        near = _nearest(str(path), SHIPPED)
        raise WordListError(
            f"{path}: {reason}; give a path, or one of {', '.join(SHIPPED)}{near}"
        ) from error
    collector = _Collector(defects)
    top: dict[str, Node] = {}
    if root is not None and root.kind == "mapping":
        top = _keys(collector, root)
        _groups(collector, top)
        _pairs(collector, top)
    elif not defects:
        line = root.line if root else 1
        collector.defect(
            line, "file", "a word list is a mapping with the keys attribute and groups"
        )
    if defects:
        ordered = sorted(defects, key=lambda defect: defect.line)
        lines = [
            f"{path}{f':{each.line}' if each.line else ''}: {each.label}: {each.what}"
            for each in ordered
        ]
        raise WordListError("\n".join(lines))
    return WordList(
        attribute=top["attribute"].text,
        groups=tuple(collector.groups),
        labels={text: listed.group for text, listed in collector.labels.items()},
        exact=frozenset(text for text, listed in collector.labels.items() if listed.exact),
        counterparts={label: tuple(others) for label, others in collector.counterparts.items()},
        source=top["source"].text.strip() if "source" in top else "",
        licence=top["licence"].text.strip() if "licence" in top else "",
        path=str(path),
    )


def _keys(collector: _Collector, root: Node) -> dict[str, Node]:
    """The list's keys with their nodes; checks all but groups and pairs."""
    top: dict[str, Node] = {}
    for key, value in root.entries:
        if key.text not in KEYS:
            known = ", ".join(KEYS)
            collector.defect(
                key.line, _shown(key), f"unknown key{_nearest(key.text, KEYS)}; known are {known}"
            )
        elif key.text in top:
            collector.defect(
                key.line, key.text, f"a key given twice (first in line {top[key.text].line})"
            )
        else:
            top[key.text] = value
    for key in ("attribute", "groups"):
        if key not in top:
            collector.defect(root.line, key, "this key is missing")
    for key in ("source", "licence"):
        if key in top and top[key].kind != "text":
            collector.defect(top[key].line, key, "text was expected")
    attribute = top.get("attribute")
    if attribute is not None and not (
        attribute.kind in ("text", "other") and NAME.fullmatch(attribute.text)
    ):
        collector.defect(
            attribute.line,
            _shown(attribute),
            "an attribute's name has letters, digits, _ and - only",
        )
    return top


def _groups(collector: _Collector, top: dict[str, Node]) -> None:
    """Read the groups, and their labels where they have them."""
    node = top.get("groups")
    if node is None:
        return
    if node.kind not in ("mapping", "sequence"):
        collector.defect(
            node.line, "groups", "a mapping of groups to labels was expected, or names and pairs"
        )
        return
    names = [key for key, _ in node.entries] if node.kind == "mapping" else node.items
    seen: set[str] = set()
    for name in names:
        if name.kind not in ("text", "other") or not NAME.fullmatch(name.text):
            collector.defect(
                name.line, _shown(name), "a group's name has letters, digits, _ and - only"
            )
        elif name.text.lower() in seen:
            collector.defect(name.line, name.text, "a group named twice")
        seen.add(name.text.lower())
        collector.groups.append(_shown(name))
    if len(names) < 2:
        collector.defect(
            node.line,
            collector.groups[0] if names else "groups",
            "an attribute needs two groups or more",
        )
    for index, (key, value) in enumerate(node.entries if node.kind == "mapping" else ()):
        if value.kind == "sequence" and value.items:
            for item in value.items:
                listed = collector.label(item, index)
                if listed is not None:
                    collector.add(listed, paired=False)
        else:
            empty = not value.items and not value.text
            what = (
                "an empty group; it needs a list of labels"
                if empty
                else "a list of labels was expected"
            )
            collector.defect(key.line, _shown(key), what)


def _pairs(collector: _Collector, top: dict[str, Node]) -> None:
    """Read the pairs: as the labels' source where the groups are names alone, as references
    otherwise.
    """
    node, groups = top.get("pairs"), top.get("groups")
    if node is None or node.kind != "sequence" or not node.items:
        if node is not None:
            collector.defect(
                node.line, "pairs", "a list of pairs was expected, each a label of every group"
            )
        elif groups is not None and groups.kind == "sequence":
            collector.defect(
                groups.line, "groups", "groups without labels; give a mapping of labels, or pairs"
            )
        return
    size = len(collector.groups)
    for item in node.items:
        if item.kind != "sequence" or len(item.items) != size:
            has = f"; this has {len(item.items)}" if item.kind == "sequence" else ""
            what = (
                "odd counterparts: a pair has one label for each of"
                f" {', '.join(collector.groups)}{has}"
            )
            collector.defect(item.line, _shown(item), what)
            continue
        pair: list[str] = []
        for group, member in enumerate(item.items):
            listed = collector.label(member, group)
            if listed is None:
                continue
            if groups is not None and groups.kind == "sequence":
                collector.add(listed, paired=True)
            else:
                listed = _reference(collector, listed)
            if listed is not None:
                pair.append(listed.text)
        if len(pair) == size:
            for label in pair:
                others = collector.counterparts.setdefault(label, {})
                others.update((other, None) for other in pair if other != label)


def _reference(collector: _Collector, listed: _Listed) -> _Listed | None:
    """The label that a pair refers to, or None after reporting that it is not in the group it
    stands for.
    """
    known = collector.named(listed.text)
    if known is not None and known.group == listed.group:
        return known
    place = collector.groups[listed.group]
    of = (
        "not listed in any group"
        if known is None
        else f"of {collector.groups[known.group]} (line {known.line})"
    )
    collector.defect(
        listed.line, listed.text, f"odd counterparts: {of}, but in the place of {place}"
    )
    return None


def _unfit(text: str) -> str:
    """Why a text cannot be a label, or nothing."""
    if text != " ".join(text.split()):
        return "blanks before, after or more than one within a label"
    if any(spelling.is_ignored(c) or unicodedata.category(c) in ("Cc", "Cs") for c in text):
        return "an invisible character in a label"
    if not any(character.isalpha() for character in text):
        return "a label needs a letter"
    if not spelling.is_word(text[0]) or text[0] == "_":
        return "a label begins with a letter or digit"
    return ""


def _shown(node: Node) -> str:
    if node.kind not in ("text", "other"):
        return f"a {node.kind}"
    text = node.text if len(node.text) <= LONGEST_SHOWN else node.text[:LONGEST_SHOWN] + "…"
    return text if text and text.isprintable() and text == text.strip() else repr(text)


def _nearest(word: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(word.lower(), known, n=1, cutoff=0.5)
    return f" (did you mean {near[0]}?)" if near else ""
