"""Finders: mentions of an attribute that a plug-in finds, in the place of a word list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenflow.schemas.plugins import ATTRIBUTES, PluginError, PluginTextError, load
from evenflow.wordlists.loader import WordList
from evenflow.wordlists.parsing import NAME


class PluginFinder:
    """Finds the mentions of an attribute by a plug-in, whose results it checks.

    The part has `groups`, the names of two groups or more, and `find(text)`, which gives a mention
    as (start, end, group): characters of the text and a group's name. Mentions are in the text's
    order and do not overlap.

    Args:
        name: The plug-in's name, or its place.

    Attributes:
        made_with: What the plug-in was made with.

    Raises:
        PluginError: The plug-in cannot be used.
    """

    def __init__(self, name: str):
        self._plugin = load(ATTRIBUTES, name)
        self.name, self.made_with = name, self._plugin.made_with
        given: Any = getattr(self._plugin.part, "groups", ())
        names: list[Any] = list(given) if type(given) in (tuple, list) else []
        sound = [each for each in names if isinstance(each, str) and NAME.fullmatch(each)]
        if len(sound) < 2 or len(set(sound)) < len(names):
            raise PluginError(
                f"{self._plugin}: groups: two names or more were expected, each with letters,"
                " digits, _ and - only, and none twice"
            )
        self.groups = tuple(sound)

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Find the mentions in a document.

        Returns:
            Start, end and index of the group, in the text's order.

        Raises:
            PluginTextError: The plug-in raised an error, or gave what is no mention.
        """
        with self._plugin.guarded():
            return list(self._mentions(text))

    def _mentions(self, text: str) -> Iterator[tuple[int, int, int]]:
        """The mentions that the plug-in gives, checked."""
        before = 0
        for start, end, group in self._plugin.part.find(text):
            if not before <= start < end <= len(text) or int(start) != start or int(end) != end:
                raise PluginTextError(
                    f"{self._plugin}: a mention at [{start}:{end}] of a text of {len(text)}"
                    f" characters, behind one that ends at {before}; mentions in order, without"
                    " overlaps, within the text were expected"
                )
            if group not in self.groups:
                raise PluginTextError(
                    f"{self._plugin}: a mention of a group that is none of {', '.join(self.groups)}"
                )
            before = int(end)
            yield int(start), before, self.groups.index(group)

    def __reduce__(self) -> tuple[type[PluginFinder], tuple[str]]:
        """Another process loads the plug-in itself."""
        return PluginFinder, (self.name,)


def found_by(attribute: str, name: str) -> WordList:
    """The word list of an attribute whose mentions a plug-in finds; its labels are its groups.

    Args:
        name: The plug-in's name, or its place.

    Raises:
        PluginError: The plug-in cannot be used.
    """
    finder = PluginFinder(name)
    return WordList(
        attribute,
        finder.groups,
        {group: number for number, group in enumerate(finder.groups)},
        frozenset(),
        {},
        source=finder.made_with,
        licence="",
        path=f"plug-in {name}",
        finder=finder,
    )
