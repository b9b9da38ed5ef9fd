"""Detects the language of a text with `py3langid` (extra `languages`).

It is a classifier of byte sequences (Lui and Baldwin 2012), whose answer depends on the text alone.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from evenflow.schemas.errors import USAGE, EvenflowError

READ = 1000  # characters that decide: more cost time and change few answers
ENGLISH = "en"
UNKNOWN = "und"  # ISO 639-2: undetermined


class NoLanguagesError(EvenflowError):
    """The package that detects languages is missing."""

    status = USAGE


def detect(text: str) -> str:
    """The language of a text.

    Args:
        text: The text.

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
