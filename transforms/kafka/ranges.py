"""Restrictions of the Kafka source, and the trackers that claim them.

A restriction is a range of offsets of one partition, claimed block by block, or the partitions of a
topic.
"""

from __future__ import annotations

from typing import NamedTuple

from apache_beam.io.iobase import RestrictionProgress, RestrictionTracker

from evenflow.transforms.kafka.panes import Point


class OffsetRange(NamedTuple):
    """A range of offsets of a partition.

    Attributes:
        start: The first offset.
        stop: The offset after the last one; None for a range without an end.
        point: The point that cutting goes on from.
    """

    start: int
    stop: int | None
    point: Point


class OffsetTracker(RestrictionTracker):
    """Claims a range from its start on, one run of offsets at a time.

    A range is split only where reading stands. Panes are contiguous ranges of a partition, so what
    follows is not known until all before it was read.

    Args:
        restriction: The range.
    """

    def __init__(self, restriction: OffsetRange):
        self._range = restriction
        self._position, self._point = restriction.start, restriction.point
        self._closed = False

    def current_restriction(self) -> OffsetRange:
        """Return the range as it is now."""
        return self._range

    def try_claim(self, position: tuple[int, Point]) -> bool:
        """Claim the offsets up to a position.

        Args:
            position: The offset after the last claimed one, and the point at which the partition
                stands there.

        Returns:
            False once the rest has been given back; nothing of the run may be put out then.

        Raises:
            ValueError: The run goes backwards or over the range's end.
        """
        offset, point = position
        if offset < self._position or (
            self._range.stop is not None and offset > self._range.stop and not self._closed
        ):
            raise ValueError(
                f"claimed up to offset {offset} from {self._position} in {self._range}"
            )
        if self._closed:
            return False
        self._position, self._point = offset, point
        return True

    def try_split(self, fraction_of_remainder: float) -> tuple[OffsetRange, OffsetRange] | None:
        """Split the range into what is claimed and what is not.

        Args:
            fraction_of_remainder: Only 0 is possible.

        Returns:
            Both ranges; None for any other fraction, and where nothing is left.
        """
        if fraction_of_remainder or self._closed or self._position == self._range.stop:
            return None
        rest = OffsetRange(self._position, self._range.stop, self._point)
        self._range = self._range._replace(stop=self._position)
        self._closed = True
        return self._range, rest

    def check_done(self) -> bool:
        """Check that all is claimed or given back.

        Returns:
            True.

        Raises:
            ValueError: Some offsets are neither.
        """
        if self._position != self._range.stop:
            raise ValueError(
                f"offsets {self._position} to {self._range.stop} were neither read nor given back"
            )
        return True

    def current_progress(self) -> RestrictionProgress:
        """Return the numbers of offsets claimed and left; 1 is left in a range without an end."""
        left = 1 if self._range.stop is None else self._range.stop - self._position
        return RestrictionProgress(
            completed=float(self._position - self._range.start), remaining=float(left)
        )

    def is_bounded(self) -> bool:
        """Return whether the range has an end."""
        return self._range.stop is not None


class CountTracker(RestrictionTracker):
    """Claims the partitions of a topic that were not found yet.

    The restriction is how many were found. It has no end.

    Args:
        restriction: The number of known partitions.
    """

    def __init__(self, restriction: int):
        self._known = self._position = restriction
        self._closed = False

    def current_restriction(self) -> int:
        """Return how many partitions were known at the start."""
        return self._known

    def try_claim(self, position: int) -> bool:
        """Claim the partitions below a number.

        Args:
            position: The number.

        Returns:
            False once the rest has been given back.
        """
        if self._closed:
            return False
        self._position = position
        return True

    def try_split(self, fraction_of_remainder: float) -> tuple[int, int] | None:
        """Split into the partitions that are known and those to be found.

        Args:
            fraction_of_remainder: Only 0 is possible.

        Returns:
            The numbers known before and after; None for any other fraction.
        """
        if fraction_of_remainder or self._closed:
            return None
        self._closed = True
        return self._known, self._position

    def check_done(self) -> bool:
        """Check that the rest was given back.

        Returns:
            True.

        Raises:
            ValueError: It was not.
        """
        if not self._closed:
            raise ValueError("the search for new partitions ended without being given back")
        return True

    def current_progress(self) -> RestrictionProgress:
        """Return the number of partitions found; what is left is not known."""
        return RestrictionProgress(completed=float(self._position - self._known), remaining=1.0)

    def is_bounded(self) -> bool:
        """Return False: new partitions may come at any time."""
        return False
