"""Detects the language of a text with `py3langid` (extra `languages`).

It is a classifier of byte sequences (Lui and Baldwin 2012), whose answer depends on the text alone.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from evenflow.schemas.errors import USAGE, EvenflowError

CODE = re.compile(r"([A-Za-z]{2,3})(?:[-_].*)?", re.DOTALL)
READ = 1000  # characters that decide: more cost time and change few answers
ENGLISH = "en"
UNKNOWN = "und"  # ISO 639-2: undetermined


class NoLanguagesError(EvenflowError):
    """The package that detects languages is missing."""

    status = USAGE


def of(text: str, said: object = None) -> str:
    """The language of a text of which something may be said.

    Args:
        said: What its field says; it counts if it is a code such as en or pt-BR.

    Returns:
        The code's first part in small letters; else see `detect`.

    Raises:
        NoLanguagesError: The package that detects is missing, and needed.
    """
    code = CODE.fullmatch(said) if isinstance(said, str) else None
    return detect(text) if code is None else code[1].lower()


def detect(text: str) -> str:
    """The language of a text.

    Returns:
        Its code of ISO 639; UNKNOWN of a text without letters.

    Raises:
        NoLanguagesError: The package is missing.
    """
    return _detect(text[:READ])


@lru_cache(maxsize=1 << 12)  # the steps ask about a document one after the other
def _detect(text: str) -> str:
    """The language of the beginning of a text."""
    if not any(map(str.isalpha, text)):
        return UNKNOWN
    return str(_identifier().classify(text)[0])


@cache
def _identifier() -> Any:
    """The classifier, read once a process, in some 0.6 s."""
    try:
        import py3langid
    except ImportError as error:
        raise NoLanguagesError(
            "measure.by_language needs the extra: pip install 'evenflow[languages]'"
        ) from error
    return py3langid
