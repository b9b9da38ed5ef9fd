"""What moved between a reference and a run, whatever a block needs."""

from __future__ import annotations

import numpy as np

from evenflow.transforms.measures.shift.moved import LEVEL, MOST, moved
from evenflow.transforms.measures.shift.reference import Known, Learnt
from evenflow.transforms.measures.shift.strata import Packed, Strata, pack

GROUPS = {"gender": ["female", "male"]}


def known(
    documents: int, female: float, draw: np.random.Generator
) -> tuple[int, dict[str, Packed]]:
    """A source whose documents name one group twice or thrice, in a pane."""
    women = draw.random(documents) < female
    times = draw.integers(2, 4, documents)
    counts = np.stack([women * times, ~women * times], axis=1)
    return documents, {"gender": pack(counts)}


def learnt(pane: Strata) -> dict[str, Known]:
    """What is known of the sources of a pane."""
    return {name: {"gender": Learnt.of_chunk(n, own["gender"])} for name, (n, own) in pane.items()}


def test_a_source_that_lost_half_of_its_women_is_named_with_its_shares() -> None:
    draw = np.random.default_rng(1)
    then = {"web": known(90, 0.4, draw), "news": known(90, 0.4, draw), "few": known(14, 0.9, draw)}
    now = {"web": known(90, 0.1, draw), "news": known(90, 0.4, draw), "few": known(14, 0.1, draw)}
    [found] = moved(learnt(then), now | {"new": now["web"]}, GROUPS, 0.02)
    assert (found.source, found.attribute) == ("web", "gender")
    assert 0 < max(found.low, -found.high) < abs(found.now - found.was) < 0.6


def test_where_nothing_moved_hardly_a_source_is_named() -> None:
    draw, named = np.random.default_rng(2), 0
    for _ in range(100):
        then, now = ({f"s{n}": known(60, 0.4, draw) for n in range(5)} for _ in range(2))
        named += bool(moved(learnt(then), now, GROUPS, 0.02))
    assert named <= 100 * LEVEL + 6


def test_a_group_that_nobody_named_and_huge_numbers_are_no_error() -> None:
    draw = np.random.default_rng(3)
    [found] = moved(learnt({"a": known(90, 0.5, draw)}), {"a": known(90, 0.0, draw)}, GROUPS, 0.02)
    assert found.now in (0.0, 1.0)
    assert moved({}, {}, GROUPS, 0.02) == []
    own = known(90, 0.5, draw)
    huge = Learnt.of_chunk(90, [90, *[1 << 90] * 7])
    found = moved({"a": {"gender": huge}}, {"a": own}, GROUPS, 0.02)
    assert all(0 <= each.was <= 1 for each in found)


def test_a_small_move_is_none_and_of_many_the_surest_are_kept() -> None:
    draw = np.random.default_rng(5)
    then = {f"s{n}": known(4000, 0.4, draw) for n in range(40)}
    now = {f"s{n}": known(4000, 0.5 + n / 200, draw) for n in range(40)}
    assert moved(learnt(then), {"s0": known(4000, 0.43, draw)}, GROUPS, 0.05) == []
    found = moved(learnt(then), now, GROUPS, 0.02)
    assert len(found) == MOST and min(int(each.source[1:]) for each in found) >= 20
