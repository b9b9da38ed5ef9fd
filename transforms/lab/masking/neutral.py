"""Neutral words: what stands in the place of a group's word and names no group.

They stand beside a word list, in `neutral_NAME.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from evenflow.schemas.errors import UsageError
from evenflow.wordlists import nodes, spelling
from evenflow.wordlists.loader import WordList

FORMS = ("subject", "object", "determiner", "possessive", "reflexive", "contracted")


class NeutralError(UsageError):
    """Neutral words that are missing or cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Neutral:
    """The neutral words of an attribute."""

    words: Mapping[str, str]
    pronouns: Mapping[str, str]


def path_of(words: WordList) -> Path:
    """Where the neutral words of a list are, whether they exist or not.

    A list without a file of its own takes that of its attribute beside it.
    """
    listed = Path(words.path)
    own = listed.with_name(f"neutral_{listed.stem}.yaml")
    shared = listed.with_name(f"neutral_{words.attribute}.yaml")
    return shared if shared.is_file() and not own.is_file() else own


def of(words: WordList) -> Neutral:
    """Read the neutral words of a list."""
    path = path_of(words)
    try:
        stored: Any = yaml.load(path.read_text(encoding="utf-8"), nodes.PARSER)
    except FileNotFoundError as error:
        raise NeutralError(
            f"{words.attribute} has no neutral words; put them into {path}, or choose another"
            " intervention"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise NeutralError(f"{path}: not YAML: {error}") from error
    given: Any = stored.get("words") if isinstance(stored, dict) else None
    if not isinstance(given, dict) or not all(
        isinstance(neutral, str)
        and isinstance(listed, list)
        and all(isinstance(word, str) for word in listed)
        for neutral, listed in given.items()
    ):
        raise NeutralError(f"{path}: a mapping `words` of words to lists of words was expected")
    pronouns: Any = stored.get("pronouns") or {}
    if not isinstance(pronouns, dict) or (pronouns and set(pronouns) != set(FORMS)):
        raise NeutralError(f"{path}: pronouns: a word for each of {', '.join(FORMS)} was expected")
    found: dict[str, str] = {}
    for neutral, listed in given.items():
        for word in listed:
            if found.setdefault(spelling.fold(word), neutral) != neutral:
                raise NeutralError(f"{path}: {word!r} has two neutral words")
    return Neutral(found, pronouns)
