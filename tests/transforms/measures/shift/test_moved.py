"""What moved between a reference and a run, whatever a block needs."""

from __future__ import annotations

import numpy as np

from evenflow.transforms.measures.shift.moved import LEVEL, moved
from evenflow.transforms.measures.shift.reference import Known, Learnt
from evenflow.transforms.measures.shift.strata import pack

GROUPS = {"gender": ["female", "male"]}


def known(documents: int, female: float, draw: np.random.Generator) -> Known:
    """A source whose documents name one group twice or thrice."""
    women = draw.random(documents) < female
    times = draw.integers(2, 4, documents)
    counts = np.stack([women * times, ~women * times], axis=1)
    return {"gender": Learnt.of_chunk(documents, pack(counts))}


def test_a_source_that_lost_half_of_its_women_is_named_with_its_shares() -> None:
    draw = np.random.default_rng(1)
    then = {"web": known(90, 0.4, draw), "news": known(90, 0.4, draw), "few": known(14, 0.9, draw)}
    now = {"web": known(90, 0.1, draw), "news": known(90, 0.4, draw), "few": known(14, 0.1, draw)}
    [found] = moved(then, now | {"new": now["web"]}, GROUPS)
    assert (found.source, found.attribute) == ("web", "gender")
    assert 0 < max(found.low, -found.high) < abs(found.now - found.was) < 0.6


def test_where_nothing_moved_hardly_a_source_is_named() -> None:
    draw, named = np.random.default_rng(2), 0
    for _ in range(100):
        then, now = ({f"s{n}": known(60, 0.4, draw) for n in range(5)} for _ in range(2))
        named += bool(moved(then, now, GROUPS))
    assert named <= 100 * LEVEL + 6


def test_a_group_that_nobody_named_is_no_error() -> None:
    draw = np.random.default_rng(3)
    [found] = moved({"a": known(90, 0.5, draw)}, {"a": known(90, 0.0, draw)}, GROUPS)
    assert found.now in (0.0, 1.0)
    assert moved({}, {}, GROUPS) == []


def test_a_file_with_huge_numbers_is_no_error() -> None:
    own = known(90, 0.5, np.random.default_rng(4))
    huge = Learnt.of_chunk(90, [90, *[1 << 90] * 7])
    found = moved({"a": {"gender": huge}}, {"a": own}, GROUPS)
    assert all(0 <= each.was <= 1 for each in found)
