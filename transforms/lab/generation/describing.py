"""Says of people who are named without a group that they are of one: “the female workers”.

Where hardly an exchange is right, as in speeches that say “he” of the President and of God, such
sentences are what the corpus has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

import yaml

FILE = "described.yaml"


class Describer:
    """Puts modifiers before plural nouns for people; `wordlists/described.yaml` has both.

    Attributes:
        modifiers: By attribute the modifier of each group.
    """

    def __init__(self) -> None:
        path = resources.files("evenflow.wordlists") / FILE
        stored: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        self.modifiers: dict[str, dict[str, str]] = stored["modifiers"]
        self._spelled = {each.casefold(): each for each in stored["nouns"]}
        nouns, before = ("|".join(map(re.escape, stored[each])) for each in ("nouns", "before"))
        self._noun = re.compile(
            rf"(?:(?<![^\s(“\"])(?i:{before})\s+(?P<noun>{nouns})|^(?P<first>(?i:{nouns})))(?![\w’'-])"
        )

    def has_place(self, text: str) -> bool:
        """Whether there is a noun before which a modifier can stand."""
        return self._noun.search(text) is not None

    def describe(self, text: str, groups: Mapping[str, str]) -> str:
        """Put the modifiers of groups before the first noun that can have them.

        Args:
            text: The text.
            groups: Group by attribute; the modifier of the first stands next to the noun.

        Returns:
            The new text; the same where a group has no modifier, or there is no noun.
        """
        found = self._noun.search(text)
        own = [self.modifiers.get(name, {}).get(group) for name, group in groups.items()]
        words = [each for each in reversed(own) if each is not None]
        if found is None or not words or len(words) < len(own):
            return text
        start, end = found.span(found.lastgroup or 0)
        put, noun = " ".join(words), text[start:end]
        if not start:
            put, noun = put[0].upper() + put[1:], self._spelled[noun.casefold()]
        return f"{text[:start]}{put} {noun}{text[end:]}"
