"""Turns a record that causes an unforeseen error into a dead letter; the rest of its block goes on.

The block is processed again by halves until the faulty records are found, and then once more
without them. An error that no single record causes is raised as it was. So are the errors that
Evenflow defines (they are about settings, models and services; a plug-in that fails on a text is
none of them), errors of the system, missing memory and missing packages.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from evenflow.schemas.plugins import PluginTextError
from evenflow.transforms.io.record_parser import UnusableError

T = TypeVar("T")
# Faulty records by their index in the block, with the reason of their dead letter
Spoilt = Mapping[int, UnusableError]
KIND = "unforeseen error"
NEVER_A_RECORDS_FAULT = (OSError, MemoryError, ImportError)
MESSAGE_CHARACTERS = 500  # how much of an error's message is logged

_logged: set[tuple[str, int | None]] = set()  # files and lines whose errors were logged


def without_spoilt(work: Callable[[Spoilt], T], size: int, probe: Callable[[], object]) -> T:
    """Process a block, with a dead letter for each record that makes processing fail.

    Args:
        work: Processes the block. The records that it is given become dead letters untouched.
        probe: Processes a plain record of its own. If it fails too, the records are not the cause.

    Raises:
        Exception: The error of `work`, if no record causes it.
    """
    try:
        return work({})
    except Exception as error:
        if (
            not _is_unforeseen(error)
            or _failure(probe)
            or _failure(lambda: work(_others((), size)))
        ):
            raise
        spoilt = _at_fault(work, range(size), size)
        if not spoilt:
            raise
        done = work({index: _dead(each) for index, each in spoilt.items()})
    for each in spoilt.values():
        _log_once(each)
    return done


def _at_fault(work: Callable[[Spoilt], T], part: range, size: int) -> dict[int, Exception]:
    """Find the records of a part that fail alone."""
    error = _failure(lambda: work(_others(part, size)))
    if error is None:
        return {}
    if len(part) == 1:
        return {part[0]: error}
    middle = len(part) // 2
    return _at_fault(work, part[:middle], size) | _at_fault(work, part[middle:], size)


def _others(part: Collection[int], size: int) -> Spoilt:
    """Mark all records of a block except those of a part."""
    return {index: UnusableError(KIND, KIND) for index in range(size) if index not in part}


def _failure(work: Callable[[], object]) -> Exception | None:
    """Return the unforeseen error that `work` raises, if any; other errors are raised."""
    try:
        work()
    except Exception as error:
        if not _is_unforeseen(error):
            raise
        return error
    return None


def _is_unforeseen(error: Exception) -> bool:
    """Return whether a record may be the cause of an error."""
    if isinstance(error, PluginTextError):
        return True
    defined_here = type(error).__module__.startswith("evenflow.")
    return not (defined_here or isinstance(error, NEVER_A_RECORDS_FAULT))


def _dead(error: Exception) -> UnusableError:
    """Make the dead letter's reason; it names only the class, as a message may hold the text."""
    reason = str(error) if isinstance(error, PluginTextError) else type(error).__name__
    return UnusableError(KIND, f"{KIND}: {reason}")


def _log_once(error: Exception) -> None:
    """Log where an error came from, once a process for each place.

    The level is critical, because workers log nothing below it.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = (frames[-1].filename, frames[-1].lineno)
    if place not in _logged:
        _logged.add(place)
        message = f"{type(error).__name__}: {str(error)[:MESSAGE_CHARACTERS]!r}"
        logging.getLogger(__name__).critical(
            "a record became a dead letter (%s)\n%s%s", KIND, "".join(frames.format()), message
        )
