"""Every offset is claimed or given back, and a range is split only where reading stands."""

from __future__ import annotations

import pytest

from evenflow.transforms.kafka.panes import PaneId, Point
from evenflow.transforms.kafka.ranges import CountTracker, OffsetRange, OffsetTracker

START = Point(0, PaneId(0, 0), 0)
LATER = Point(70, PaneId(60, 1), 9)


def test_the_rest_goes_on_from_where_reading_stands() -> None:
    tracker = OffsetTracker(OffsetRange(10, None, START))
    assert tracker.try_claim((25, LATER))
    assert tracker.try_split(0.5) is None
    assert tracker.try_split(0) == (OffsetRange(10, 25, START), OffsetRange(25, None, LATER))
    assert tracker.check_done()
    assert not tracker.try_claim((30, LATER))
    assert tracker.try_split(0) is None


def test_nothing_claimed_everything_given_back() -> None:
    tracker = OffsetTracker(OffsetRange(10, 20, START))
    assert tracker.try_split(0) == (OffsetRange(10, 10, START), OffsetRange(10, 20, START))
    assert tracker.check_done()


def test_a_range_with_an_end_is_done_at_its_end() -> None:
    tracker = OffsetTracker(OffsetRange(10, 20, START))
    assert tracker.is_bounded()
    assert tracker.try_claim((15, LATER))
    with pytest.raises(ValueError, match="15 to 20"):
        tracker.check_done()
    progress = tracker.current_progress()
    assert (progress.completed_work, progress.remaining_work) == (5, 5)
    assert tracker.try_claim((20, LATER))
    assert tracker.check_done()
    assert tracker.try_split(0) is None


@pytest.mark.parametrize("offset", [9, 21])
def test_a_claim_outside_the_range_is_an_error(offset: int) -> None:
    with pytest.raises(ValueError, match=f"offset {offset}"):
        OffsetTracker(OffsetRange(10, 20, START)).try_claim((offset, LATER))


def test_a_range_without_an_end_is_never_done() -> None:
    tracker = OffsetTracker(OffsetRange(10, None, START))
    assert not tracker.is_bounded()
    tracker.try_claim((15, LATER))
    with pytest.raises(ValueError, match="15"):
        tracker.check_done()


def test_partitions_found_are_not_looked_for_again() -> None:
    tracker = CountTracker(2)
    assert tracker.current_restriction() == 2
    assert tracker.try_claim(5)
    with pytest.raises(ValueError):
        tracker.check_done()
    assert tracker.try_split(0.3) is None
    assert tracker.try_split(0) == (2, 5)
    assert tracker.check_done()
    assert not tracker.try_claim(6)
