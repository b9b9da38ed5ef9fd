"""Word classes of English from `english.yaml`: closed classes, verbs, parts of the body, others."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

WORDS_PATH = Path(__file__).with_name("english.yaml")


@cache
def _stored() -> dict[str, str]:
    """The classes as the file has them, each a string of words."""
    # Other loaders read the words “no” and “on” as booleans.
    return yaml.load(WORDS_PATH.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


def words(name: str) -> frozenset[str]:
    """Look up the words of a class.

    Args:
        name: The name of the class in `english.yaml`.

    Raises:
        KeyError: There is no such class.
    """
    return frozenset(_stored()[name].split())


# The closed classes by word. A noun phrase before one of these words is complete, so a “her” there
# is “him”, not “his”.
_CLOSED = "subject determiner preposition conjunction auxiliary adverb reflexive number"
CLOSED = {word: kind for kind in _CLOSED.split() for word in words(f"closed_{kind}")}
