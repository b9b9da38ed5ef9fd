"""What is drawn of units, and what the judge is asked about."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.repair import draw as drawing
from evenflow.transforms.repair.draw import PATIENCE, Drawn, Unit, draw, key, take_all, take_half
from evenflow.transforms.repair.eligibility import Class, ClassSize

GROUPS = ("a", "b", "c")


class Asked:
    """A judge that accepts what a function says of a unit's place and target, and keeps what it was
    asked.
    """

    def __init__(self, accepts: Callable[[int, str], bool] = lambda place, target: True):
        self.accepts = accepts
        self.calls: list[list[tuple[int, str]]] = []

    def __call__(self, asked: list[tuple[Unit, str]]) -> list[Unit | None]:
        self.calls.append([(unit.place, target) for unit, target in asked])
        assert all(
            target in unit.kind.targets and target not in unit.settled for unit, target in asked
        )
        accepted = [self.accepts(unit.place, target) for unit, target in asked]
        return [
            replace(unit, settled=(*unit.settled, target)) if good else None
            for (unit, target), good in zip(asked, accepted, strict=True)
        ]


def unit(
    place: int,
    source: str,
    targets: str,
    mentions: int = 1,
    probability: float = 1.0,
    settled: str = "",
) -> Unit:
    def moved(target: str) -> tuple[int, ...]:
        return tuple(mentions * ((group == target) - (group == source)) for group in GROUPS)

    size = ClassSize(mentions, (1,) * len(targets), tuple(map(moved, targets)))
    return Unit(
        key(0, "any", str(place), 0, probability),
        Class(source, tuple(targets)),
        size,
        place,
        tuple(settled),
    )


@st.composite
def panes(draw: st.DrawFn) -> tuple[list[int], list[Unit]]:
    kinds = st.sampled_from([("a", "b"), ("a", "bc"), ("b", "ac"), ("b", "c"), ("c", "ab")])
    drawn = draw(
        st.lists(st.tuples(kinds, st.integers(1, 4), st.sampled_from([0.2, 0.9, 1.0])), max_size=40)
    )
    units = [
        unit(place, *kind, mentions, probability)
        for place, (kind, mentions, probability) in enumerate(drawn)
    ]
    fixed = draw(st.lists(st.integers(0, 9), min_size=3, max_size=3))
    own = [
        sum(each.size.mentions for each in units if each.kind.source == group) for group in GROUPS
    ]
    return [one + two for one, two in zip(fixed, own, strict=True)], units


def after(counts: Sequence[int], drawn: Drawn) -> np.ndarray:
    out = np.array(counts)
    for each, target in drawn.chosen:
        out += each.size.changes[each.kind.targets.index(target)]
    return out


def places(drawn: Drawn) -> list[tuple[int, str]]:
    return [(each.place, target) for each, target in drawn.chosen]


REFUSALS = st.sets(st.tuples(st.integers(0, 40), st.sampled_from(GROUPS)), max_size=60)


@given(panes(), REFUSALS, st.randoms(use_true_random=False))
def test_what_is_chosen_is_accepted_and_was_asked_once_whatever_the_order(
    pane: tuple[list[int], list[Unit]], refused: set[tuple[int, str]], random: Random
) -> None:
    counts, units = pane
    judge = Asked(lambda place, target: (place, target) not in refused)
    drawn = draw(counts, None, GROUPS, units, judge)
    asked = [each for call in judge.calls for each in call]
    chosen = places(drawn)
    assert len(asked) == len(set(asked)) and set(chosen) <= set(asked) - refused
    assert len({place for place, _ in chosen}) == len(chosen)
    assert {place for place, _ in chosen}.isdisjoint(
        place for place, target in asked if (place, target) in refused
    )
    keys = [each.key for each, _ in drawn.chosen]
    assert all(one < two for one, two in pairwise(keys))
    shuffled = list(units)
    random.shuffle(shuffled)
    again = Asked(judge.accepts)
    assert (
        places(draw(counts, None, GROUPS, shuffled, again)) == chosen and again.calls == judge.calls
    )


@given(panes(), REFUSALS)
def test_counts_are_the_plans_to_a_units_size(
    pane: tuple[list[int], list[Unit]], refused: set[tuple[int, str]]
) -> None:
    counts, units = pane
    drawn = draw(
        counts, None, GROUPS, units, Asked(lambda place, target: (place, target) not in refused)
    )
    options = [(kind, target) for kind in drawn.plan.rates for target in kind.targets]
    most = {
        kind: max(each.size.mentions for each in units if each.kind == kind) for kind, _ in options
    }
    for group, count, expected in zip(GROUPS, after(counts, drawn), drawn.plan.after, strict=True):
        assert (
            abs(count - expected)
            <= sum(most[kind] for kind, target in options if group in (kind.source, target)) + 1e-6
        )


@given(panes())
def test_only_what_is_drawn_is_asked_about(pane: tuple[list[int], list[Unit]]) -> None:
    counts, units = pane
    judge = Asked()
    drawn = draw(counts, None, GROUPS, units, judge)
    assert judge.calls == ([places(drawn)] if drawn.chosen else [])


@pytest.mark.parametrize(
    ("accepts", "wanted", "asked"),
    [
        (lambda place, target: True, [50, 50, 0], 40),
        (lambda place, target: place % 2 == 0, [50, 50, 0], 80),
        (lambda place, target: place < 10, [80, 20, 0], 90),
        (lambda place, target: False, [90, 10, 0], 90),
    ],
)
def test_refused_units_are_made_up_for_as_long_as_there_are_others(
    accepts: Callable[[int, str], bool], wanted: list[int], asked: int
) -> None:
    judge = Asked(accepts)
    drawn = draw(
        [90, 10, 0], [0.5, 0.5, 0], GROUPS, [unit(place, "a", "b") for place in range(90)], judge
    )
    assert (
        after([90, 10, 0], drawn).tolist() == wanted == [round(count) for count in drawn.plan.after]
    )
    # Of 80, four standard deviations of what is drawn
    assert abs(sum(map(len, judge.calls)) - asked) <= 16


def test_what_is_settled_is_not_asked_about_and_goes_where_it_is_settled() -> None:
    judge = Asked()
    units = [unit(place, "a", "bc", settled="c" if place % 2 else "b") for place in range(60)]
    drawn = draw([60, 0, 0], None, GROUPS, units, judge)
    assert after([60, 0, 0], drawn).tolist() == [20, 20, 20]
    assert sum(map(len, judge.calls)) <= 6


@pytest.mark.parametrize(("size", "wanted"), [(1, [60, 20, 20]), (5, [60, 20, 20])])
def test_units_are_spread_evenly_over_the_groups_that_lack_mentions(
    size: int, wanted: list[int]
) -> None:
    units = [unit(place, "a", "bc", size) for place in range(40 // size)]
    drawn = draw([100, 0, 0], None, GROUPS, units, Asked())
    assert after([100, 0, 0], drawn).tolist() == wanted


def test_the_only_unit_of_a_pane_goes_now_to_one_group_and_now_to_another() -> None:
    gone = [
        places(draw([20, 0, 0], None, GROUPS, [unit(place, "a", "bc")], Asked()))[0][1]
        for place in range(200)
    ]
    assert 70 < gone.count("b") < 130  # four standard deviations


def test_units_of_several_mentions_fill_a_quota_that_fits_them() -> None:
    units = [unit(0, "a", "b", 7), *(unit(place, "a", "b", 2) for place in range(1, 8))]
    assert after([21, 9, 0], draw([21, 9, 0], [0.5, 0.5, 0], GROUPS, units, Asked())).tolist() == [
        15,
        15,
        0,
    ]


@pytest.mark.parametrize("counts", [[0, 0, 0], [5, 5, 5]])
def test_nothing_to_do(counts: list[int]) -> None:
    judge = Asked()
    assert draw(counts, None, GROUPS, [], judge).chosen == [] and judge.calls == []


@pytest.mark.parametrize(
    "parts", [(0, "gender", "d1", 0), (7, "", "", 12), (1, "age", "é\ud800", 3)]
)
@pytest.mark.parametrize("probability", [1.0, 0.25])
def test_the_bytes_hashed_are_fixed(parts: tuple[int, str, str, int], probability: float) -> None:
    """Another layout would draw other sets after an upgrade."""
    raw = [str(part).encode("utf-8", "surrogatepass") for part in parts]
    said = b"".join(len(each).to_bytes(8, "big") + each for each in raw)
    number = int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big") >> 11
    assert key(*parts, probability) == -math.log((number + 1) / 2**53) / probability


def test_the_likelier_comes_first_as_often_as_it_is_likelier() -> None:
    size = 4000
    likely, unlikely = (
        [key(3, "any", f"{name}{n}", 0, p) for n in range(size)]
        for name, p in (("x", 0.9), ("y", 0.3))
    )
    first = np.mean(np.array(likely) < np.array(unlikely))
    assert abs(first - 0.75) < 4 * math.sqrt(0.75 * 0.25 / size)
    # Exponential: mean and deviation 1 / rate
    assert abs(np.mean(unlikely) - 1 / 0.3) < 4 / 0.3 / math.sqrt(size)


@pytest.mark.parametrize("other", [(4, "any", 0), (3, "age", 0), (3, "any", 1)])
def test_seed_attribute_and_place_draw_independently(other: tuple[int, str, int]) -> None:
    size = 4000
    one = np.argsort([key(3, "any", str(n), 0, 1) for n in range(size)]).argsort()
    two = np.argsort([key(other[0], other[1], str(n), other[2], 1) for n in range(size)]).argsort()
    assert abs(np.corrcoef(one, two)[0, 1]) < 4 / math.sqrt(size)


def test_all_units_go_to_the_next_group_unless_they_are_refused() -> None:
    units = [
        unit(0, "a", "bc"),
        unit(1, "b", "ac", settled="c"),
        unit(2, "c", "ab"),
        unit(3, "b", "a"),
        unit(4, "a", "c"),
    ]

    def judge(asked: list[tuple[Unit, str]]) -> list[Unit | None]:
        """Refuses unit 2; settles the others in place, as that of a pane does."""
        for each, target in asked:
            if each.place != 2:
                each.settled = (*each.settled, target)
        return [None if each.place == 2 else each for each, _ in asked]

    found = [(each.place, target) for each, target in take_all(GROUPS, units, judge)]
    assert found == [(0, "b"), (1, "c"), (3, "a"), (4, "c")]


def test_half_of_the_units_of_the_most_named_group_go_to_the_least_named() -> None:
    size = 2000
    units = [unit(n, "ab"[n % 2], "c", mentions=1 + n % 3) for n in range(2 * size)]
    units.append(unit(2 * size, "a", "b"))  # it has no word of the group
    asked = Asked(lambda place, target: place % 10 != 0)
    found = take_half([9, 5, 1], GROUPS, units, asked)
    assert {target for _, target in found} == {"c"}
    drawn = [place for place, _ in asked.calls[0]]
    assert {place % 2 for place in drawn} == {0} and 2 * size not in drawn
    assert abs(len(drawn) / size - 0.5) < 4 * math.sqrt(0.25 / size)
    assert [each.place for each, _ in found] == [place for place in drawn if place % 10]


@pytest.mark.parametrize("most", [300, 600])
def test_a_look_ahead_with_two_targets_changes_no_more_than_the_plan(most: int) -> None:
    units = [unit(place, "c", "ab") for place in range(most)]
    judge = Asked(lambda place, target: target == "a")
    drawn = draw([most - 1, most - 1, most + 2], None, GROUPS, units, judge)
    assert [target for _, target in drawn.chosen] == ["a"]
    assert PATIENCE < len(judge.calls) <= PATIENCE + math.log2(most) + 1


@pytest.mark.parametrize("right", [None, 1500])
def test_rounds_do_not_grow_with_the_units_that_a_judge_refuses(right: int | None) -> None:
    units = [unit(place, "a", "b") for place in range(2000)]
    order = [each.place for each in sorted(units, key=lambda each: each.key)]
    first = None if right is None else order[right]
    judge = Asked(lambda place, target: place == first)
    drawn = draw([2000, 1998, 1999], None, GROUPS, units, judge)
    assert [each.place for each, _ in drawn.chosen] == ([] if first is None else [first])
    asked = [place for call in judge.calls for place, _ in call]
    assert len(asked) == len({*asked}) and asked == order[: len(asked)]
    assert len(judge.calls) <= PATIENCE + math.log2(len(units)) + 1
    if right is not None:
        assert len(asked) <= 2 * right


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3)), max_size=30), st.data())
def test_what_leans_is_drawn_both_ways_and_nothing_is_asked_twice(
    made: list[tuple[str, int]], data: st.DataObject
) -> None:
    units = [unit(at, own, "abc".replace(own, ""), size) for at, (own, size) in enumerate(made)]
    judge = Asked(lambda place, target: place % 3 > 0)
    share = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    taken, left = drawing.take_both_ways(GROUPS, units, judge, share, {0: 1.0, 2: 3.0})
    moved = {own: dict.fromkeys(GROUPS, 0) for own in GROUPS}
    for own, to in taken:
        moved[own.kind.source][to] += own.size.mentions
    assert all(abs(moved[one][two] - moved[two][one]) <= 3 for one in GROUPS for two in GROUPS)
    asked = [place for call in judge.calls for place, _ in call]
    refused = {place for place in asked if place % 3 == 0}
    assert len(refused) == sum(place % 3 == 0 for place in asked)
    places = sorted([own.place for own, _ in taken] + [own.place for own in left])
    assert places == sorted({own.place for own in units} - refused)
    assert bool(asked) == bool(share and units)
