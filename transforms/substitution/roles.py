"""Role maps: which words of other groups have the same role, for lists without pairs.

A person noun corresponds to a person noun of the same number, a word for clergy to a word for
clergy. The role maps stand beside the word lists (`wordlists/roles_*.yaml`). A user's own list has
one if a file `roles_NAME.yaml` stands beside it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

import yaml

from evenflow.schemas.errors import UsageError
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.text.words import split_runs
from evenflow.wordlists import nodes, spelling
from evenflow.wordlists.loader import WordList

NOUN, ADJECTIVE, COLLECTIVE = "noun", "adjective", "collective"
KEYS = frozenset(("attribute", "source", "licence", "prefer", "companions", "roles"))
ROLE_KEYS = ("role", "part", "number")
PUT_IN = "put in"


class RoleMapError(UsageError):
    """A role map that cannot be used: the file, the entry and what is wrong with it."""


@dataclass(frozen=True, eq=False)
class Role:
    """A role and its words."""

    name: str
    part: str
    number: str
    words: Mapping[str, tuple[str, ...]]
    put_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def target(self, group: str, number: int) -> str | None:
        """The word to put in for a group."""
        words = self.put_in.get(group) or self.words.get(group, ())[:1]
        return words[number % len(words)] if words else None


@dataclass(frozen=True)
class RoleMap:
    """The roles of an attribute.

    Attributes:
        companions: Folded words that are no labels.
        prefer: The counterpart of a folded label, empty where it has none.
    """

    by_word: Mapping[str, tuple[Role, ...]] = field(default_factory=dict)
    canonical: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    companions: frozenset[str] = frozenset()
    prefer: Mapping[str, str] = field(default_factory=dict)


class Companions:
    """Finds the companions of a role map as whole words, the longest first; case is ignored."""

    def __init__(self, roles: RoleMap):
        self._by_first: dict[str, list[str]] = {}
        for word in sorted(roles.companions, key=len, reverse=True):
            self._by_first.setdefault(split_runs(word)[0], []).append(word)
        self._firsts = frozenset(self._by_first)
        self._patterns: dict[frozenset[str], re.Pattern[str]] = {}
        self._roles = roles

    def find_beside(
        self,
        text: str,
        sentences: Sequence[tuple[int, int]],
        places: Sequence[int],
        items: Sequence[Item],
    ) -> Iterator[tuple[Item, Role]]:
        """Find the companions in some sentences that overlap no item."""
        if not self._firsts or not places:
            return
        lowered = text.lower()
        # Where a capital has two small letters (“İ”), offsets would not hold.
        if len(lowered) != len(text):
            lowered = "".join(each if len(each.lower()) != 1 else each.lower() for each in text)
        present = self._firsts.intersection(split_runs(lowered))
        if not present:
            return
        pattern = self._pattern(present)
        spans = [(item.start, item.end) for item in items]
        for first, last in _runs(places):
            for match in pattern.finditer(lowered, sentences[first][0], sentences[last][1]):
                at = bisect_left(spans, (match.end(),)) - 1
                if at >= 0 and spans[at][1] > match.start():
                    continue
                place = bisect_left(sentences, match.end(), first, last + 1, key=itemgetter(1))
                if place > last or match.start() < sentences[place][0]:
                    continue
                word = spelling.fold(match[0])
                item = Item(
                    match.start(), match.end(), word, self._roles.groups[word], NOUN, place, None
                )
                yield item, self._roles.by_word[word][0]

    def _pattern(self, firsts: frozenset[str]) -> re.Pattern[str]:
        """The pattern of companions that begin with some words: a search for few is far faster."""
        if firsts not in self._patterns:
            spelled = sorted(
                (word for first in firsts for word in self._by_first[first]),
                key=lambda word: (-len(word), word),
            )
            self._patterns[firsts] = re.compile(
                rf"(?<![\w-])(?:{'|'.join(map(re.escape, spelled))})(?![\w-])"
            )
        return self._patterns[firsts]


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of consecutive numbers."""
    first = last = places[0]
    for place in places[1:]:
        if place > last + 1:
            yield first, last
            first = place
        last = place
    yield first, last


def of(words: WordList) -> RoleMap:
    """Read the role map of a list.

    Returns:
        Its role map, an empty one where it has none.

    Raises:
        RoleMapError: The file cannot be read as a role map.
    """
    path = words.role_map
    if not path.is_file():
        return RoleMap()
    return read(path, words.groups)


def read(path: Path, groups: Sequence[str]) -> RoleMap:
    """Read a role map from a file."""
    try:
        stored = yaml.load(path.read_text(encoding="utf-8"), nodes.PARSER)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RoleMapError(f"{path}: not YAML: {error}") from error
    if not isinstance(stored, dict):
        raise RoleMapError(f"{path}: a mapping with roles was expected")
    unknown = set(stored) - KEYS
    if unknown:
        raise RoleMapError(
            f"{path}: unknown key {sorted(map(str, unknown))[0]}; known are"
            f" {', '.join(sorted(KEYS))}"
        )
    roles = [_role(path, entry, groups) for entry in stored.get("roles", ())]
    extra = [_role(path, entry, groups) for entry in stored.get("companions", ())]
    by_word: dict[str, tuple[Role, ...]] = {}
    canonical: dict[str, str] = {}
    group_of: dict[str, str] = {}
    for role in (*roles, *extra):
        for group, words in role.words.items():
            for word in words:
                key = spelling.fold(word)
                by_word[key] = (*by_word.get(key, ()), role)
                canonical.setdefault(key, word)
                if group_of.setdefault(key, group) != group:
                    raise RoleMapError(
                        f"{path}: {word!r} stands in two groups, {group_of[key]} and {group}"
                    )
    companions = frozenset(
        spelling.fold(word) for role in extra for words in role.words.values() for word in words
    )
    prefer = {
        spelling.fold(str(label)): str(other or "")
        for label, other in stored.get("prefer", {}).items()
    }
    return RoleMap(by_word, canonical, group_of, companions, prefer)


def _role(path: Path, entry: Any, groups: Sequence[str]) -> Role:
    """The role of an entry: a mapping, or a list with a word of each group."""
    if isinstance(entry, list):  # a pair: a word of each group, in the list's order
        if len(entry) != len(groups) or not all(isinstance(word, str) for word in entry):
            raise RoleMapError(
                f"{path}: {entry!r}: a word for each of {', '.join(groups)} was expected"
            )
        return Role(
            entry[0],
            NOUN,
            "any",
            {group: (word,) for group, word in zip(groups, entry, strict=True)},
        )
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ROLE_KEYS):
        raise RoleMapError(
            f"{path}: {entry!r}: an entry has the keys {', '.join(ROLE_KEYS)} and its groups' words"
        )
    words, said = dict[str, tuple[str, ...]](), f"{path}: role {entry['role']!r}"
    for group, listed in entry.items():
        if group in ROLE_KEYS or group == PUT_IN:
            continue
        if group not in groups:
            known = ", ".join(groups)
            raise RoleMapError(f"{said}: no group {group!r} in the list; it has {known}")
        words[group] = _texts(listed, f"{said}: {group}: a list of words was expected")
    put_in: dict[str, tuple[str, ...]] = {}
    for group, given in entry.get(PUT_IN, {}).items():
        listed = [given] if isinstance(given, str) else given
        problem = f"{said}: {PUT_IN}: {group}: a word or a list of words was expected"
        put_in[group] = _texts(listed, problem)
    return Role(entry["role"], entry["part"], entry["number"], words, put_in)


def _texts(given: Any, problem: str) -> tuple[str, ...]:
    """Words that a file lists. Raises RoleMapError."""
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
        raise RoleMapError(problem)
    return tuple(given)
