"""The highest scores of a stream, in whatever order they come."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.lab.masking.top import Top


@given(
    st.lists(st.tuples(st.integers(0, 3), st.text("ab", max_size=3))),
    st.integers(1, 9),
    st.randoms(),
)
def test_any_order_leaves_the_same(
    items: list[tuple[int, str]], most: int, rng: random.Random
) -> None:
    # One digest is one sentence, which has one score
    items = list({digest: (score, digest) for score, digest in items}.values())
    wanted = sorted(items, key=lambda each: (-each[0], each[1]))[:most]
    top, order = Top(most), [*items, *items]
    rng.shuffle(order)
    for score, digest in order:
        top.add(score, digest, digest.upper())
    assert list(top.best()) == [(score, digest, digest.upper()) for score, digest in wanted]
