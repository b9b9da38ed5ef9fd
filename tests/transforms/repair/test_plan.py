from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.measures.representation.dr import demographic_representation
from evenflow.transforms.repair.eligibility import (
    Class,
    ClassSize,
    Eligible,
    add_up,
    choose_copied,
    measure_copy,
    measure_set,
)
from evenflow.transforms.repair.plan import plan
from evenflow.transforms.substitution.sets import Edit, Set

NEAR = 1e-7  # of a DR: the plan's rates have nine digits
GROUPS = ("a", "b", "c", "d", "e")


def a_set(source: str, targets: str, mentions: int = 1, sentences: int = 1, word: str = "w") -> Set:
    mentioned = tuple(Mention(4 * at, 4 * at + 3, "old", "any", source) for at in range(mentions))
    edits = {
        target: tuple(Edit(each.start, each.end, word) for each in mentioned) for target in targets
    }
    return Set("any", source, edits, 1.0, tuple(range(sentences)), (), mentioned)


def may_go(groups: Sequence[str], sets: Sequence[Set]) -> Eligible:
    return add_up(groups, (measure_set(groups, each) for each in sets if each.edits))


@st.composite
def panes(draw: st.DrawFn, most: int = 5) -> tuple[list[int], list[float], list[Set]]:
    """Counts, target and sets of a pane of up to that many groups; what no set holds is fixed."""
    groups = GROUPS[: draw(st.integers(1, most))]
    sets: list[Set] = []
    for _ in range(draw(st.integers(0, 8))):
        source = draw(st.sampled_from(groups))
        others = "".join(group for group in groups if group != source)
        targets = "".join(group for group in others if draw(st.booleans()))
        sets.append(a_set(source, targets, draw(st.integers(1, 5)), draw(st.integers(1, 4))))
    counts = [
        draw(st.integers(0, 30)) + sum(len(each.mentions) for each in sets if each.source == group)
        for group in groups
    ]
    parts = draw(
        st.lists(st.integers(0, 4), min_size=len(groups), max_size=len(groups)).filter(any)
    )
    return counts, [part / sum(parts) for part in parts], sets


@pytest.mark.parametrize(
    ("counts", "target", "sets", "after", "sentences", "shortage"),
    [
        ([100, 300], None, [a_set("b", "a", 150, 120)], [200, 200], 80, [0, 0]),
        ([100, 300], [0.25, 0.75], [a_set("b", "a", 150, 120)], [100, 300], 0, [0, 0]),
        ([100, 300], None, [a_set("b", "a", 50, 40)], [150, 250], 40, [50, 0]),
        (
            [100, 300],
            [0, 1],
            [a_set("b", "a", 150, 120), a_set("a", "b", 60, 30)],
            [40, 360],
            30,
            [0, 40],
        ),
        # Of two ways the one of fewer sentences for its mentions.
        (
            [0, 100, 100],
            [0.25, 0.25, 0.5],
            [a_set("b", "a", 60, 10), a_set("b", "ac", 40, 40)],
            [50, 50, 100],
            50 / 6,
            [0] * 3,
        ),
        # Nothing goes from a to c, so what a has too much goes to b, and what b had goes on.
        (
            [90, 30, 0],
            None,
            [a_set("a", "b", 60, 60), a_set("b", "c", 30, 30)],
            [50, 40, 30],
            70,
            [0, 0, 10],
        ),
        ([80, 10, 10, 0, 0], None, [a_set("a", "bcde", 70, 70)], [20] * 5, 60, [0] * 5),
        ([10, 0], None, [], [10, 0], 0, [0, 5]),
        ([0, 0], None, [], [0, 0], 0, [0, 0]),
        ([7], None, [a_set("a", "", 7)], [7], 0, [0]),
    ],
)
def test_plan_of_known_panes(counts, target, sets, after, sentences, shortage):
    found = plan(counts, target, may_go(GROUPS[: len(counts)], sets))
    q = np.array(target or [1 / len(counts)] * len(counts))
    lacking = np.maximum(q * sum(found.after) - found.after, 0)
    assert found.dr == pytest.approx(demographic_representation(after, list(q)), abs=NEAR)
    assert found.sentences == pytest.approx(sentences, abs=1e-4)
    assert found.shortage == pytest.approx(lacking, abs=1e-4)
    if len(counts) != 3 or not any(shortage):  # else several plans are equally good
        assert found.after == pytest.approx(after, abs=1e-4)
        assert found.shortage == pytest.approx(shortage, abs=1e-4)


@pytest.mark.parametrize(
    ("counts", "sets", "after"),
    [
        ([80, 10, 10, 0, 0], [a_set("a", "bcde", 12)], [68, 13, 13, 3, 3]),
        # No group gains more than it lacks
        ([80, 18, 2, 0, 0], [a_set("a", "bcde", 50)], [30, 20, 18, 16, 16]),
        # What the others cannot get is shared by those that can
        ([80, 5, 5, 5, 5], [a_set("a", "b", 2), a_set("a", "cd", 10)], [68, 7, 10, 10, 5]),
        # The dearer sentences are drawn too, where they alone reach a group
        ([80, 10, 10], [a_set("a", "b", 20, 1), a_set("a", "c", 20, 20)], [40, 30, 30]),
        ([80, 10, 10], [a_set("a", "b", 20, 1), a_set("a", "bc", 20, 20)], [40, 30, 30]),
    ],
)
def test_groups_that_lack_mentions_gain_equally_many(counts, sets, after):
    found = plan(counts, None, may_go(GROUPS[: len(counts)], sets))
    assert found.after == pytest.approx(after, abs=1e-4)


@settings(deadline=None)
@given(panes())
def test_plan_never_raises_dr_and_is_a_number(pane):
    counts, target, sets = pane
    groups = GROUPS[: len(counts)]
    summary = may_go(groups, sets)
    found = plan(counts, target, summary)
    assert all(map(math.isfinite, (*found.after, *found.shortage, found.sentences)))
    assert sum(found.after) == pytest.approx(sum(counts), abs=1e-4)
    assert min(found.after) >= -1e-6
    assert (found.dr is None) == (sum(counts) == 0)
    for kind, rates in found.rates.items():
        assert kind in summary.tallies and len(rates) == len(kind.targets)
        assert min(rates) >= 0 and sum(rates) <= 1 + 1e-8
    if found.dr is not None:
        assert found.dr <= (demographic_representation(counts, target) or 0) + NEAR
        assert found.dr * sum(counts) == pytest.approx(sum(found.shortage), abs=1e-4)


@settings(deadline=None, max_examples=60)
@given(panes(most=3))
def test_no_rates_in_quarters_do_better(pane):
    counts, target, sets = pane
    groups = GROUPS[: len(counts)]
    summary = may_go(groups, sets[:4])
    found = plan(counts, target, summary)
    if found.dr is None:
        return
    before, lacking = np.array(counts, float), np.array(target) * sum(counts) > counts
    best = sorted(np.array(found.after)[lacking] - before[lacking])
    steps = [
        [each for each in product(range(5), repeat=len(kind.targets)) if sum(each) <= 4]
        for kind in summary.tallies
    ]
    for rates in product(*steps):
        after, sentences = np.array(counts, float), 0.0
        for tally, own in zip(summary.tallies.values(), rates, strict=True):
            after += np.array(own) / 4 @ np.array(tally.changes).reshape(len(own), -1)
            sentences += np.array(own) / 4 @ np.array(tally.sentences)
        dr = np.abs(after / after.sum() - target).sum() / 2
        assert dr >= found.dr - NEAR
        if dr > found.dr + NEAR:
            continue
        gains = sorted(after[lacking] - before[lacking])
        if sum(gains) > sum(best) + 1e-4:
            continue
        differ = next(
            (two - one for one, two in zip(best, gains, strict=True) if abs(two - one) > 1e-4), None
        )
        assert sentences >= found.sentences - 1e-4 if differ is None else differ < 0


@settings(deadline=None)
@given(panes(), st.randoms(use_true_random=False))
def test_groups_in_another_order_give_the_same_figures(pane, random):
    counts, target, sets = pane
    order = list(range(len(counts)))
    random.shuffle(order)
    one = plan(counts, target, may_go(GROUPS[: len(counts)], sets))
    groups = [GROUPS[at] for at in order]
    two = plan([counts[at] for at in order], [target[at] for at in order], may_go(groups, sets))
    assert two.dr == pytest.approx(one.dr, abs=NEAR)
    assert two.sentences == pytest.approx(one.sentences, abs=1e-4)


@given(panes(), st.randoms(use_true_random=False))
def test_summaries_do_not_depend_on_the_order(pane, random):
    counts, _, sets = pane
    groups = GROUPS[: len(counts)]
    shuffled = list(sets)
    random.shuffle(shuffled)
    assert may_go(groups, shuffled) == may_go(groups, sets)


def test_a_mention_that_falls_away_arrives_nowhere():
    found = plan([10, 30], None, may_go("ab", [a_set("b", "a", 30, word="")]))
    assert found.after == pytest.approx([10, 10], abs=1e-4)
    everything = plan([0, 30], None, may_go("ab", [a_set("b", "a", 30, word="")]))
    assert everything.dr == 0.5


def copies(
    documents: Sequence[tuple[Sequence[int], Sequence[Set]]], groups: Sequence[str] = "ab"
) -> Eligible:
    found = (measure_copy(groups, counts, sets) for counts, sets in documents)
    return add_up(groups, (each for each in found if each is not None))


def test_augmentation_counts_what_the_copy_adds():
    summary = copies(
        [([1, 4], [a_set("b", "a", 3, 2), a_set("a", "b", 1)])] * 10 + [([0, 2], [])] * 5
    )
    assert summary.tallies == {Class("b", ("a",)): ClassSize(30, (20,), ((40, 10),))}
    found = plan([10, 50], None, summary)
    assert found.after == pytest.approx([50, 60]) and found.rates == {Class("b", ("a",)): (1.0,)}
    part = plan([40, 50], None, summary)  # 40 + 40 x = 50 + 10 x
    assert part.rates[Class("b", ("a",))] == pytest.approx((1 / 3,)) and part.dr == pytest.approx(
        0, abs=NEAR
    )


def test_a_copy_is_of_the_group_of_most_mentions_and_goes_where_some_of_it_can():
    sets = [a_set("b", "a", 2), a_set("a", "b", 3), a_set("b", "ac", 1)]
    # Of equal ones, the first in the list
    assert choose_copied("abc", sets) == (Class("a", ("b",)), [sets[1]])
    assert choose_copied("bac", sets) == (Class("b", ("a", "c")), [sets[0], sets[2]])
    assert measure_copy("bac", [3, 3, 0], sets) == (
        Class("b", ("a", "c")),
        ClassSize(3, (1, 1), ((0, 6, 0), (2, 3, 1))),
    )
    assert choose_copied("ab", []) is measure_copy("ab", [0, 2], []) is None
