"""The same records of a partition make the same panes, however they arrive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.kafka.panes import FUTURE_MS, PaneCutter, PaneId, PaneSlice, Point

NOW = 1_700_000_000_000
SPAN = 1000

records = st.lists(st.tuples(st.integers(-1, 20_000), st.integers(1, 60)), max_size=60)
cutters = st.builds(
    PaneCutter, st.sampled_from([1, 700, 1000, 10_000]), st.sampled_from([1, 50, 100, 1 << 40])
)


def pieces(
    cutter: PaneCutter, data: list[tuple[int, int]], batches: list[int]
) -> list[tuple[PaneId, int, int]]:
    """Cut records that are read in batches.

    For each record: its pane, the effective time at its slice's end, and the pane's bytes by then.
    """
    out = []
    point = cutter.start()
    at = 0
    for size in [*batches, len(data)]:
        batch = data[at : at + size]
        for piece in cutter.cut(
            point, [time for time, _ in batch], [weight for _, weight in batch], NOW
        ):
            for index in range(piece.begin, piece.end):
                one = cutter.cut(point, [batch[index][0]], [batch[index][1]], NOW)
                point = one[0].after
                assert one[0].pane == piece.pane
                out.append((piece.pane, point.time, point.filled))
            assert point == piece.after
        at += size
    return out


def test_a_worked_example() -> None:
    cutter = PaneCutter(span_ms=SPAN, part_bytes=100)
    #        own time, bytes
    data = [(100, 40), (900, 60), (950, 1), (500, 99), (2100, 250), (1500, 1), (-1, 1), (3000, 5)]
    got = cutter.cut(cutter.start(), [time for time, _ in data], [size for _, size in data], NOW)
    assert [
        (piece.pane, piece.begin, piece.end, piece.first, piece.after.time) for piece in got
    ] == [
        (PaneId(0, 0), 0, 2, 100, 900),
        (PaneId(0, 1), 2, 4, 950, 950),
        (PaneId(2000, 0), 4, 5, 2100, 2100),  # a record larger than a part is alone in it
        # A record with a time in the past, or without one, has the time of the record before
        (PaneId(2000, 1), 5, 7, 2100, 2100),
        (PaneId(3000, 0), 7, 8, 3000, 3000),
    ]


@given(
    cutters,
    records,
    st.lists(st.integers(0, 10), max_size=10),
    st.lists(st.integers(0, 10), max_size=10),
)
def test_any_batching_gives_the_same_panes(
    cutter: PaneCutter, data: list[tuple[int, int]], one: list[int], other: list[int]
) -> None:
    assert pieces(cutter, data, one) == pieces(cutter, data, other)


@given(cutters, records)
def test_panes_are_contiguous_and_never_go_back(
    cutter: PaneCutter, data: list[tuple[int, int]]
) -> None:
    got = cutter.cut(cutter.start(), [time for time, _ in data], [size for _, size in data], NOW)
    assert [piece.begin for piece in got] == [0, *(piece.end for piece in got)][: len(got)]
    assert sum(piece.end - piece.begin for piece in got) == len(data)
    panes = [piece.pane for piece in got]
    assert panes == sorted(set(panes))
    for piece in got:
        assert piece.first <= piece.after.time
        assert piece.pane.span == cutter.span(piece.first) == cutter.span(piece.after.time)
        weight = sum(size for _, size in data[piece.begin : piece.end])
        assert weight <= cutter.part_bytes or piece.end - piece.begin == 1


@given(cutters, records, st.integers(0, 60))
def test_going_on_from_a_pane_that_is_done_cuts_the_same_panes(
    cutter: PaneCutter, data: list[tuple[int, int]], which: int
) -> None:
    whole = cutter.cut(cutter.start(), [time for time, _ in data], [size for _, size in data], NOW)
    if not whole:
        return
    done = whole[which % len(whole)]
    rest = data[done.end :]
    again = cutter.cut(
        cutter.after(done.pane, done.after.time),
        [time for time, _ in rest],
        [size for _, size in rest],
        NOW,
    )
    expected = [
        (piece.pane, piece.begin - done.end, piece.end - done.end)
        for piece in whole
        if piece.begin >= done.end
    ]
    assert [(piece.pane, piece.begin, piece.end) for piece in again] == expected


def test_a_timestamp_far_in_the_future_counts_as_none() -> None:
    cutter = PaneCutter(span_ms=SPAN)
    times = [NOW, NOW + FUTURE_MS + 1, NOW + 1, NOW + FUTURE_MS]
    got = cutter.cut(cutter.start(), times, [1] * 4, NOW)
    assert [piece.pane.span for piece in got] == [cutter.span(NOW), cutter.span(NOW + FUTURE_MS)]
    assert (got[0].begin, got[0].end) == (0, 3)


def test_a_quiet_partition_moves_on_with_the_clock_and_never_back() -> None:
    cutter = PaneCutter(span_ms=SPAN, part_bytes=10)
    point = Point(1500, PaneId(1000, 2), 7)
    assert cutter.advance(point, 1400) == point
    assert cutter.advance(point, 1900) == Point(1900, PaneId(1000, 2), 7)
    assert cutter.advance(point, 5100) == Point(5100, PaneId(5000, 0), 0)
    late = cutter.cut(cutter.advance(point, 5100), [1600], [3], NOW)
    assert late == [PaneSlice(PaneId(5000, 0), 0, 1, 5100, Point(5100, PaneId(5000, 0), 3))]


def test_nothing_falls_into_a_pane_that_is_done() -> None:
    cutter = PaneCutter(span_ms=SPAN)
    point = cutter.after(PaneId(3000, 0), 3200)
    assert [piece.pane for piece in cutter.cut(point, [100, 3900, 4000], [1, 1, 1], NOW)] == [
        PaneId(3000, 1),
        PaneId(4000, 0),
    ]
    # A partition that was behind when the pane was done
    assert cutter.after(PaneId(3000, 0), 1200).time == 3000


@pytest.mark.parametrize("name", ["span_ms", "part_bytes"])
def test_sizes_are_at_least_one(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is 0"):
        PaneCutter(**{name: 0})
