"""Restrictions of the reader of a topic: ranges of offsets of one partition.

A range is split only where reading stands: panes are contiguous ranges of a partition, so what
follows is not known until all before it was read.
"""

from __future__ import annotations

from typing import NamedTuple

from apache_beam.io.iobase import RestrictionProgress, RestrictionTracker


class Partition(NamedTuple):
    """What is read of a partition.

    Attributes:
        stop: The offset after the last one; None: it has no end.
    """

    topic: str
    number: int
    first: int
    stop: int | None


class OffsetRange(NamedTuple):
    """A range of offsets of a partition.

    Attributes:
        stop: The offset after the last one; None for a range without an end.
        time: Where the partition's clock stands, in milliseconds since 1970.
    """

    start: int
    stop: int | None
    time: int


class OffsetTracker(RestrictionTracker):
    """Claims a range from its start on, one run of offsets at a time."""

    def __init__(self, restriction: OffsetRange):
        self._range = restriction
        self._position, self._time = restriction.start, restriction.time
        self._closed = False

    def current_restriction(self) -> OffsetRange:
        """Return the range as it is now."""
        return self._range

    def try_claim(self, position: tuple[int, int]) -> bool:
        """Claim the offsets up to a position.

        Args:
            position: The offset after the last claimed one, and the partition's clock there.

        Returns:
            False once the rest has been given back; nothing of the run may be put out then.
        """
        if self._closed:
            return False
        self._position, self._time = position
        return True

    def try_split(self, fraction_of_remainder: float) -> tuple[OffsetRange, OffsetRange] | None:
        """Split the range into what is claimed and what is not.

        Returns:
            Both ranges; None for any other fraction, and where nothing is left.
        """
        if fraction_of_remainder or self._closed or self._position == self._range.stop:
            return None
        rest = OffsetRange(self._position, self._range.stop, self._time)
        self._range = self._range._replace(stop=self._position)
        self._closed = True
        return self._range, rest

    def check_done(self) -> bool:
        """Check that all is claimed or given back. Raises ValueError where some offsets are not."""
        if self._position != self._range.stop:
            raise ValueError(
                f"offsets {self._position} to {self._range.stop} were neither read nor given back"
            )
        return True

    def current_progress(self) -> RestrictionProgress:
        """Return the numbers of offsets claimed and left; 1 is left in a range without an end."""
        left = 1 if self._range.stop is None else self._range.stop - self._position
        done = float(self._position - self._range.start)
        return RestrictionProgress(completed=done, remaining=float(left))

    def is_bounded(self) -> bool:
        """Return whether the range has an end."""
        return self._range.stop is not None
