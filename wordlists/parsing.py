"""Reads a word list from YAML nodes and collects every defect."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches

from evenflow.wordlists import spelling
from evenflow.wordlists.nodes import Defect, Node
from evenflow.wordlists.spelling import KOREAN, SCRIPTS, scripts

KEYS = (
    "attribute", "source", "licence", "review", "language", "groups", "target", "population",
    "population_source", "pairs", "provenance", "prefixes", "suffixes", "ignore",
)  # fmt: skip
WORDS = ("prefixes", "suffixes", "ignore")  # keys that are lists of words
SHARES_TOLERANCE = 1e-6  # of a target's sum, as in the configuration
OPTIONS = ("label", "case")
CASES = ("exact", "any")
LONGEST_CODE = 4  # letters of a label that means its capitals in a list of nothing else: “US”
LONGEST_SHOWN = 60  # characters of a label in a message
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")  # safe in column names, metrics and file names


@dataclass(frozen=True)
class Listed:
    """A label of a list."""

    text: str
    exact: bool
    group: int
    line: int


@dataclass
class ListReader:
    """Reads a word list."""

    defects: list[Defect]
    groups: list[str] = field(default_factory=list)
    labels: dict[str, Listed] = field(default_factory=dict)
    spelled: dict[str, list[Listed]] = field(default_factory=dict)
    counterparts: dict[str, dict[str, None]] = field(default_factory=dict)  # ordered sets
    pairs: list[tuple[str, ...]] = field(default_factory=list)
    provenance: dict[str, str] = field(default_factory=dict)
    target: dict[str, float] = field(default_factory=dict)
    population: dict[str, float] = field(default_factory=dict)
    keys: dict[str, Node] = field(default_factory=dict)
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _shouts: bool = False

    def read(self, root: Node) -> None:
        """Reads the list from its root node."""
        self._read_keys(root)
        self.words = {key: self._words(key) for key in WORDS}
        listed = [self.keys[key] for key in ("groups", "pairs") if key in self.keys]
        texts = [text for node in listed for text in _texts(node)]
        self._shouts = all(text.upper() == text for text in texts) and any(
            len(text) > LONGEST_CODE for text in texts
        )
        self._read_groups()
        self.target = self._shares("target")
        self.population = self._shares("population")
        if self.population and "population_source" not in self.keys:
            what = "the key population_source was expected: who says so, and of which year"
            self._defect_at(self.keys["population"].line, "population", what)
        self._read_pairs()
        self._read_provenance()

    def _defect(self, node: Node, what: str) -> None:
        """Records a defect of a node."""
        self._defect_at(node.line, _show(node), what)

    def _defect_at(self, line: int, label: str, what: str) -> None:
        """Records a defect of a label or key in a line."""
        self.defects.append(Defect(line, label, what))

    def _label(self, node: Node, group: int) -> Listed | None:
        """A label, or None after a defect is recorded."""
        case = None
        line = node.line
        if node.kind == "mapping":
            options = {key.text: value for key, value in node.entries}
            for key, _ in node.entries:
                if key.text not in OPTIONS:
                    self._defect(key, f"unknown key of a label{nearest(key.text, OPTIONS)}")
            case = options.get("case")
            if "label" not in options or (case is not None and case.text not in CASES):
                what = "a label with options has the form {label: TEXT, case: exact} or case: any"
                self._defect(node, what)
                return None
            node = options["label"]
        if node.kind != "text":
            self._defect_at(line, _show(node), "a label must be text; put it in quotes")
            return None
        text = unicodedata.normalize("NFC", node.text)
        what = label_problem(text, () if self.words["suffixes"] else {KOREAN})
        if what:
            self._defect_at(line, _show(node), what)
            return None
        # “IT” is not “it”; a list of words that has nothing but capitals does not mean them
        exact = text.isupper() and len(text) > 1 and not self._shouts
        return Listed(text, exact if case is None else case.text == "exact", group, line)

    def _add(self, listed: Listed, paired: bool) -> None:
        """Records a label in its group, or a defect if it is a duplicate.

        A pair may repeat a label; a list may not.
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
                self._defect_at(listed.line, listed.text, what)
            return
        doubles.append(listed)
        self.labels[listed.text] = listed

    def _double(self, listed: Listed, other: Listed, paired: bool) -> str:
        """What is wrong with a label that was listed before; empty if nothing is."""
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

    def _find(self, text: str) -> Listed | None:
        """The listed label that a pair means, or None."""
        same = self.spelled.get(spelling.fold(text), [])
        return self.labels.get(text) or next((other for other in same if not other.exact), None)

    def _read_keys(self, root: Node) -> None:
        """Reads the list's keys; checks all except groups and pairs."""
        top = self.keys
        for key, value in root.entries:
            if key.text not in KEYS:
                known = ", ".join(KEYS)
                self._defect(key, f"unknown key{nearest(key.text, KEYS)}; known are {known}")
            elif key.text in top:
                self._defect(key, f"a key given twice (first in line {top[key.text].line})")
            else:
                top[key.text] = value
        for key in ("attribute", "groups"):
            if key not in top:
                self._defect_at(root.line, key, "this key is missing")
        for key in ("source", "licence", "review", "language"):
            if key in top and top[key].kind != "text":
                self._defect_at(top[key].line, key, "text was expected")
        attribute = top.get("attribute")
        if attribute is not None and not (
            attribute.kind in ("text", "other") and NAME.fullmatch(attribute.text)
        ):
            self._defect(attribute, "an attribute's name has letters, digits, _ and - only")

    def _words(self, name: str) -> tuple[str, ...]:
        """The words of a key, with composed marks; none without the key."""
        node = self.keys.get(name)
        items = node.items if node is not None and node.kind == "sequence" else []
        if node is not None and (not items or any(item.kind != "text" for item in items)):
            self._defect_at(node.line, name, "a list of words was expected")
            return ()
        return tuple(unicodedata.normalize("NFC", item.text) for item in items)

    def _read_groups(self) -> None:
        """Reads the groups, with their labels if they have any."""
        node = self.keys.get("groups")
        if node is None:
            return
        if node.kind not in ("mapping", "sequence"):
            self._defect_at(
                node.line,
                "groups",
                "a mapping of groups to labels was expected, or names and pairs",
            )
            return
        names = [key for key, _ in node.entries] if node.kind == "mapping" else node.items
        seen: set[str] = set()
        for name in names:
            if name.kind not in ("text", "other") or not NAME.fullmatch(name.text):
                self._defect(name, "a group's name has letters, digits, _ and - only")
            elif name.text.lower() in seen:
                self._defect(name, "a group named twice")
            seen.add(name.text.lower())
            self.groups.append(_show(name))
        if len(names) < 2:
            self._defect_at(
                node.line,
                self.groups[0] if names else "groups",
                "an attribute needs two groups or more",
            )
        for index, (key, value) in enumerate(node.entries if node.kind == "mapping" else ()):
            if value.kind == "sequence" and value.items:
                for item in value.items:
                    listed = self._label(item, index)
                    if listed is not None:
                        self._add(listed, paired=False)
            else:
                empty = not value.items and not value.text
                what = (
                    "an empty group; it needs a list of labels"
                    if empty
                    else "a list of labels was expected"
                )
                self._defect(key, what)

    def _shares(self, name: str) -> dict[str, float]:
        """Reads a share for each group; empty without the key, or after a defect is recorded."""
        node = self.keys.get(name)
        if node is None:
            return {}
        shares: dict[str, float] = {}
        for key, value in node.entries if node.kind == "mapping" else ():
            with suppress(ValueError):
                shares[key.text] = float(value.text)
        total = sum(shares.values())
        if (
            set(shares) != set(self.groups)
            or not all(0 <= share <= 1 for share in shares.values())
            or not abs(total - 1) <= SHARES_TOLERANCE
        ):
            what = "a share from 0 to 1 of each group was expected, which sum to 1"
            self._defect_at(node.line, name, what)
            return {}
        return {group: shares[group] for group in self.groups}

    def _read_pairs(self) -> None:
        """Reads the pairs: as labels if the groups are only names, otherwise as references."""
        node, groups = self.keys.get("pairs"), self.keys.get("groups")
        if node is None or node.kind != "sequence" or not node.items:
            if node is not None:
                self._defect_at(
                    node.line, "pairs", "a list of pairs was expected, each a label of every group"
                )
            elif groups is not None and groups.kind == "sequence":
                self._defect_at(
                    groups.line,
                    "groups",
                    "groups without labels; give a mapping of labels, or pairs",
                )
            return
        size = len(self.groups)
        for item in node.items:
            if item.kind != "sequence" or len(item.items) != size:
                has = f"; this has {len(item.items)}" if item.kind == "sequence" else ""
                what = (
                    "odd counterparts: a pair has one label for each of"
                    f" {', '.join(self.groups)}{has}"
                )
                self._defect(item, what)
                continue
            pair: list[str] = []
            for group, member in enumerate(item.items):
                listed = self._label(member, group)
                if listed is None:
                    continue
                if groups is not None and groups.kind == "sequence":
                    self._add(listed, paired=True)
                else:
                    listed = self._reference(listed)
                if listed is not None:
                    pair.append(listed.text)
            if len(pair) == size:
                self.pairs.append(tuple(pair))
                for label in pair:
                    others = self.counterparts.setdefault(label, {})
                    others.update((other, None) for other in pair if other != label)

    def _read_provenance(self) -> None:
        """Reads where labels come from."""
        node = self.keys.get("provenance")
        if node is None:
            return
        if node.kind != "mapping":
            self._defect_at(node.line, "provenance", "a mapping of labels to text was expected")
            return
        for key, value in node.entries:
            known = self._find(key.text)
            if known is None or value.kind != "text":
                what = "not listed in any group" if known is None else "text was expected"
                self._defect(key, f"provenance: {what}")
            else:
                self.provenance[known.text] = value.text

    def _reference(self, listed: Listed) -> Listed | None:
        """The label that a pair refers to, or None after a defect."""
        known = self._find(listed.text)
        if known is not None and known.group == listed.group:
            return known
        place = self.groups[listed.group]
        of = (
            "not listed in any group"
            if known is None
            else f"of {self.groups[known.group]} (line {known.line})"
        )
        self._defect_at(
            listed.line, listed.text, f"odd counterparts: {of}, but in the place of {place}"
        )
        return None


def label_problem(text: str, joined: Collection[str] = (*SCRIPTS, KOREAN)) -> str:
    """Why a text cannot be a label.

    Args:
        joined: Scripts whose words are not apart from others, and in which nothing is found. A
            list finds the longest labels of most of them.

    Returns:
        The reason; empty if it can.
    """
    if text != " ".join(text.split()):
        return "blanks before, after or more than one within a label"
    if any(spelling.is_ignored(c) or unicodedata.category(c) in ("Cc", "Cs") for c in text):
        return "an invisible character in a label"
    if not any(character.isalpha() for character in text):
        return "a label needs a letter"
    if not spelling.is_word(text[0]) or text[0] == "_":
        return "a label begins with a letter or digit"
    if joined := sorted(scripts(text) & {*joined}):
        return (
            f"a label in a script whose words are not apart from others ({joined[0].lower()});"
            " labels are found between blanks and signs, so it would count nothing"
        )
    return ""


def _show(node: Node) -> str:
    """A node as a message shows it."""
    if node.kind not in ("text", "other"):
        return f"a {node.kind}"
    text = node.text if len(node.text) <= LONGEST_SHOWN else node.text[:LONGEST_SHOWN] + "…"
    return text if text and text.isprintable() and text == text.strip() else repr(text)


def nearest(word: str, known: tuple[str, ...]) -> str:
    """A hint at the known word that is nearest to an unknown one; empty without a near one."""
    near = get_close_matches(word.lower(), known, n=1, cutoff=0.5)
    return f" (did you mean {near[0]}?)" if near else ""


def _texts(node: Node) -> Iterator[str]:
    """The texts of the items within a node, but for keys."""
    for part in node.items[1::2] if node.kind == "mapping" else node.items:
        yield from _texts(part)
    if node.kind == "text" and node.text not in CASES:
        yield node.text
