"""An error that nobody foresaw and that one record causes: the record becomes a dead letter, and
the rest of its block goes on.

The block is done again by halves until the records at fault are found, and then once more without
them. An error that no record causes alone is raised as it was. So are errors that Evenflow defines
(they are about settings, models and services), errors of the system, missing memory and missing
packages.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from evenflow.transforms.io.records import UnusableError

T = TypeVar("T")
# Records by their index in the block, and what becomes their dead letter
Spoilt = Mapping[int, UnusableError]
KIND = "unforeseen error"
NOT_A_RECORDS = (OSError, MemoryError, ImportError)
SHOWN = 500  # characters of an error's message

_told: set[tuple[str, int | None]] = set()


def without_spoilt(work: Callable[[Spoilt], T], size: int, probe: Callable[[], object]) -> T:
    """What work gives of a block, with a dead letter for each record that makes it fail.

    Args:
        work: Does the block; records that it is given become dead letters and are not touched.
        size: Of the block, in records.
        probe: Does a plain record of its own. If it fails too, the records are not at fault.

    Raises:
        Exception: What work raised, if no record causes it.
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
        _tell(each)
    return done


def _at_fault(work: Callable[[Spoilt], T], part: range, size: int) -> dict[int, Exception]:
    """The records of a part that fail alone."""
    error = _failure(lambda: work(_others(part, size)))
    if error is None:
        return {}
    if len(part) == 1:
        return {part[0]: error}
    middle = len(part) // 2
    return _at_fault(work, part[:middle], size) | _at_fault(work, part[middle:], size)


def _others(part: Collection[int], size: int) -> Spoilt:
    """All records of a block but those of a part."""
    return {index: UnusableError(KIND, KIND) for index in range(size) if index not in part}


def _failure(work: Callable[[], object]) -> Exception | None:
    """The unforeseen error that work raises. Raises any other error."""
    try:
        work()
    except Exception as error:
        if not _is_unforeseen(error):
            raise
        return error
    return None


def _is_unforeseen(error: Exception) -> bool:
    return not isinstance(error, NOT_A_RECORDS) and not type(error).__module__.startswith(
        "evenflow."
    )


def _dead(error: Exception) -> UnusableError:
    """The reason names the class alone: a message may hold the record's text."""
    return UnusableError(KIND, f"{KIND}: {type(error).__name__}")


def _tell(error: Exception) -> None:
    """Log where an error came from, once a process for each place. Workers log nothing below this
    level.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = (frames[-1].filename, frames[-1].lineno)
    if place not in _told:
        _told.add(place)
        said = f"{type(error).__name__}: {str(error)[:SHOWN]!r}"
        logging.getLogger(__name__).critical(
            "a record became a dead letter (%s)\n%s%s", KIND, "".join(frames.format()), said
        )
