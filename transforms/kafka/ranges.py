"""The restriction of the Kafka source: a range of offsets of one partition, and the tracker that
claims it block by block.
"""

from __future__ import annotations

from typing import NamedTuple

from apache_beam.io.iobase import RestrictionProgress, RestrictionTracker

from evenflow.transforms.kafka.panes import Point


class OffsetRange(NamedTuple):
    """Offsets start..stop (stop excluded; None: without end) of a partition, and the point that
    cutting goes on from.
    """

    start: int
    stop: int | None
    point: Point


class OffsetTracker(RestrictionTracker):
    """Claims a range from its start on, a stretch of offsets at a time.

    A range is never split but where reading stands: panes are contiguous ranges of a partition, so
    what follows is not known before what is ahead of it was read.
    """

    def __init__(self, restriction: OffsetRange):
        self._range = restriction
        self._position, self._point = restriction.start, restriction.point
        self._closed = False

    def current_restriction(self) -> OffsetRange:
        """The range as it is now."""
        return self._range

    def try_claim(self, position: tuple[int, Point]) -> bool:
        """Claim the offsets up to the one given (excluded), after which the partition stands at the
        point given.

        False once the rest has been given back: nothing of the stretch may be put out then. Raises
        ValueError for a stretch that goes backwards or over the range's end.
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
        """At 0, what is claimed and what is not; None for any other fraction, and where nothing is
        left.
        """
        if fraction_of_remainder or self._closed or self._position == self._range.stop:
            return None
        rest = OffsetRange(self._position, self._range.stop, self._point)
        self._range = self._range._replace(stop=self._position)
        self._closed = True
        return self._range, rest

    def check_done(self) -> bool:
        """True if all is claimed or given back. Raises ValueError otherwise."""
        if self._position != self._range.stop:
            raise ValueError(
                f"offsets {self._position} to {self._range.stop} were neither read nor given back"
            )
        return True

    def current_progress(self) -> RestrictionProgress:
        """Offsets claimed, and those left where the range has an end."""
        left = 1 if self._range.stop is None else self._range.stop - self._position
        return RestrictionProgress(
            completed=float(self._position - self._range.start), remaining=float(left)
        )

    def is_bounded(self) -> bool:
        """True if the range has an end."""
        return self._range.stop is not None


class CountTracker(RestrictionTracker):
    """The partitions of a topic that were not found yet: the restriction is how many were. It has
    no end.
    """

    def __init__(self, restriction: int):
        self._known = self._position = restriction
        self._closed = False

    def current_restriction(self) -> int:
        """How many partitions were known at the start."""
        return self._known

    def try_claim(self, position: int) -> bool:
        """Claim the partitions below the number given; False once the rest has been given back."""
        if self._closed:
            return False
        self._position = position
        return True

    def try_split(self, fraction_of_remainder: float) -> tuple[int, int] | None:
        """At 0, the partitions known and those to be found; None for any other fraction."""
        if fraction_of_remainder or self._closed:
            return None
        self._closed = True
        return self._known, self._position

    def check_done(self) -> bool:
        """True once the rest was given back. Raises ValueError otherwise."""
        if not self._closed:
            raise ValueError("the search for new partitions ended without being given back")
        return True

    def current_progress(self) -> RestrictionProgress:
        """Partitions found; what is left is not known."""
        return RestrictionProgress(completed=float(self._position - self._known), remaining=1.0)

    def is_bounded(self) -> bool:
        """False: new partitions may come at any time."""
        return False
