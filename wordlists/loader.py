"""Reads word lists: YAML files that map the labels of an attribute to its groups.

A list has either `groups` as a mapping (group: labels) or `groups` as a sequence of names with `pairs`, one label a group
in each. A label is a string, or `{label: May, case: exact}` where case matters. Every defect is reported with file, line
and label, all of them at once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

SHIPPED = ("gender", "age", "religion")
_KEYS = {"attribute", "source", "licence", "groups", "pairs"}


class WordListError(ValueError):
    """One or more defects of a word list, a line each: file:line: label: what is wrong."""


@dataclass(frozen=True)
class WordList:
    """An attribute with its groups and labels.

    labels: label as listed -> index of its group. exact: the labels whose case matters. counterparts: label -> labels of
    the other groups it was paired with, in the list's order (empty without pairs).
    """

    attribute: str
    groups: tuple[str, ...]
    labels: dict[str, int]
    exact: frozenset[str]
    counterparts: dict[str, tuple[str, ...]]
    source: str
    licence: str
    path: str


@dataclass
class _Reader:
    """Collects labels and defects while walking the YAML nodes, which know their lines."""

    path: Path
    defects: list[str] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    seen: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    exact: set[str] = field(default_factory=set)

    def defect(self, node: yaml.Node, label: str, what: str) -> None:
        self.defects.append(f"{self.path}:{node.start_mark.line + 1}: {label}: {what}")

    def label(self, node: yaml.Node) -> tuple[str, bool] | None:
        """Label and whether its case matters, or None after reporting a defect."""
        exact = False
        if isinstance(node, yaml.MappingNode):
            keys = {key.value: value for key, value in node.value}
            exact = "case" in keys and keys["case"].value == "exact"
            if set(keys) - {"label", "case"} or "label" not in keys or ("case" in keys and not exact):
                self.defect(node, "label", "a label with options has the form {label: TEXT, case: exact}")
                return None
            node = keys["label"]
        if not isinstance(node, yaml.ScalarNode) or not node.tag.endswith(":str"):
            self.defect(node, str(node.value)[:40], "a label must be text; put it in quotes")
            return None
        text = unicodedata.normalize("NFC", node.value)
        if not any(character.isalnum() for character in text) or text != " ".join(text.split()):
            self.defect(node, repr(text), "a label needs a letter or digit, and single blanks only between words")
            return None
        return text, exact

    def add(self, node: yaml.Node, groups: list[str], group: int, paired: bool) -> str | None:
        """Record a label in its group; a pair may repeat a label of its own group, a plain list may not."""
        read = self.label(node)
        if read is None:
            return None
        text, exact = read
        key = text if exact else text.lower()
        earlier = self.seen.get(text.lower())
        line = node.start_mark.line + 1
        if earlier is not None:
            other, other_group, other_line = earlier
            if other_group != groups[group]:
                self.defect(node, text, f"in two groups, {other_group} (line {other_line}) and {groups[group]}")
            elif other != text and not (exact and other in self.exact):
                self.defect(node, text, f"differs from {other!r} (line {other_line}) in case alone")
            elif not paired:
                self.defect(node, text, f"listed twice (first in line {other_line})")
        self.seen.setdefault(text.lower(), (text, groups[group], line))
        self.labels.setdefault(key, group)
        if exact:
            self.exact.add(key)
        return key


def load(name_or_path: str | Path) -> WordList:
    """A shipped list by name (gender, age, religion), or a list by path.

    Raises WordListError with every defect, and for a file that cannot be read.
    """
    path = Path(__file__).parent / f"{name_or_path}.yaml" if str(name_or_path) in SHIPPED else Path(name_or_path)
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except OSError as error:
        known = ", ".join(SHIPPED)
        raise WordListError(f"{path}: {error.strerror}; give a path, or one of {known}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise WordListError(f"{path}: not YAML in UTF-8: {error}") from error
    reader = _Reader(path)
    if not isinstance(root, yaml.MappingNode):
        raise WordListError(f"{path}:1: a word list is a mapping with attribute and groups")
    top = {key.value: value for key, value in root.value}
    for key, _ in root.value:
        if key.value not in _KEYS:
            reader.defect(key, key.value, f"unknown key; known are {', '.join(sorted(_KEYS))}")
    for key in ("attribute", "groups"):
        if key not in top:
            reader.defect(root, key, "missing")
    if reader.defects:
        raise WordListError("\n".join(reader.defects))
    attribute, groups, counterparts = _read(reader, top)
    if reader.defects:
        raise WordListError("\n".join(reader.defects))
    return WordList(
        attribute=attribute,
        groups=tuple(groups),
        labels=reader.labels,
        exact=frozenset(reader.exact),
        counterparts={label: tuple(others) for label, others in counterparts.items()},
        source=_scalar(top, "source"),
        licence=_scalar(top, "licence"),
        path=str(path),
    )


def _scalar(top: dict[str, yaml.Node], key: str) -> str:
    node = top.get(key)
    return str(node.value).strip() if isinstance(node, yaml.ScalarNode) else ""


def _read(reader: _Reader, top: dict[str, yaml.Node]) -> tuple[str, list[str], dict[str, list[str]]]:
    attribute = _scalar(top, "attribute")
    if not attribute.isidentifier():
        reader.defect(top["attribute"], attribute, "an attribute's name has letters, digits and underscores only")
    node, pairs = top["groups"], top.get("pairs")
    counterparts: dict[str, list[str]] = {}
    if isinstance(node, yaml.MappingNode):
        groups = [str(key.value) for key, _ in node.value]
        for index, (key, value) in enumerate(node.value):
            if not isinstance(value, yaml.SequenceNode) or not value.value:
                reader.defect(key, str(key.value), "an empty group; it needs a list of labels")
                continue
            for item in value.value:
                reader.add(item, groups, index, paired=False)
    else:
        groups = [str(item.value) for item in node.value] if isinstance(node, yaml.SequenceNode) else []
        if not isinstance(pairs, yaml.SequenceNode) or not pairs.value:
            reader.defect(node, attribute, "groups without labels; give a mapping of labels, or pairs")
    for index, group in enumerate(groups):
        if not group.isidentifier():
            reader.defect(node, group, "a group's name has letters, digits and underscores only")
        if group in groups[:index]:
            reader.defect(node, group, "a group named twice")
    if len(groups) < 2:
        reader.defect(node, attribute, "an attribute needs two groups or more")
    if isinstance(pairs, yaml.SequenceNode):
        for pair in _pairs(reader, pairs, groups):
            for label in pair:
                others = counterparts.setdefault(label, [])
                others.extend(other for other in pair if other != label and other not in others)
    return attribute, groups, counterparts


def _pairs(reader: _Reader, pairs: yaml.SequenceNode, groups: list[str]) -> Iterator[list[str]]:
    for item in pairs.value:
        if not isinstance(item, yaml.SequenceNode) or len(item.value) != len(groups):
            reader.defect(item, str(item.value)[:40], f"odd counterparts; a pair has one label for each of {groups}")
            continue
        labels = [reader.add(member, groups, group, paired=True) for group, member in enumerate(item.value)]
        if all(label is not None for label in labels):
            yield [label for label in labels if label is not None]
