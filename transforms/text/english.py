"""Word classes of English, from `english.yaml`: verbs that take an object, parts of the body, and
the like.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

WORDS_PATH = Path(__file__).with_name("english.yaml")


@cache
def _stored() -> dict[str, str]:
    # The base loader reads “no” and “on” as the words that they are.
    return yaml.load(WORDS_PATH.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


def words(name: str) -> frozenset[str]:
    """The words of a class, in lower case. Raises KeyError for a class that there is none of."""
    return frozenset(_stored()[name].split())
