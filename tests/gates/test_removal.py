"""The fewest documents without which a pane is not blocked."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.gates import removal
from evenflow.schemas.ledger import State, Sums
from evenflow.transforms.measures.representation.dr import score
from evenflow.transforms.measures.verdict import Thresholds, decide


def named(counts: list[list[int]], block: float = 0.4, least: int = 4) -> removal.PaneAttribute:
    """Documents whose window is them alone."""

    def state(sums: Sums) -> State:
        limits = Thresholds(block / 2, block, least, 0.02)
        return decide(score(sums, [1 / len(counts[0])] * len(counts[0]), 0.95), limits, None).state

    m = len(counts[0])
    return removal.PaneAttribute(np.array(counts, float), np.full(m, 1 / m), Sums.empty(m), state)


def blocks(attributes: dict[str, removal.PaneAttribute], kept: np.ndarray) -> bool:
    return any(each.blocks(kept) for each in attributes.values())


# 289 documents that name nobody or both alike, and 11 with 26 mentions of one group
PANE = [[0, 0]] * 269 + [[1, 1]] * 20 + [[0, 2]] * 7 + [[0, 3]] * 4


def test_of_300_documents_at_most_the_11_that_weigh_go() -> None:
    pane = named(PANE, block=0.1)
    found = removal.fewest({"age": pane}, [100] * 300)
    assert found is not None
    assert 0 < found.gone.sum() <= 11
    assert set(np.flatnonzero(found.gone)) <= set(range(289, 300))
    assert not pane.blocks(~found.gone)
    assert found.least_tokens <= 100 * found.gone.sum() <= found.least_tokens + 100


def test_of_documents_that_weigh_alike_the_short_ones_go() -> None:
    counts = [[1, 1]] * 30 + [[0, 4]] * 20
    long = [100] * 30 + [1000, 10] * 10
    found = removal.fewest({"age": named(counts, block=0.15)}, long)
    assert found is not None
    gone = np.flatnonzero(found.gone)
    assert len(gone) and all(long[each] == 10 for each in gone)


def test_documents_may_be_removed_for_two_attributes() -> None:
    a = [[1, 1]] * 30 + [[0, 9]] * 10 + [[0, 0]] * 10
    b = [[1, 1]] * 30 + [[0, 0]] * 10 + [[9, 0]] * 10
    both = {"a": named(a, 0.15), "b": named(b, 0.15)}
    found = removal.fewest(both, [1] * 50)
    assert found is not None and not blocks(both, ~found.gone)
    assert found.gone[30:40].any() and found.gone[40:].any() and not found.gone[:30].any()


def test_what_earlier_panes_do_cannot_be_taken_out() -> None:
    pane = named([[1, 1]] * 10)
    earlier = Sums(documents=90, counts=[0, 900], products=[[0, 0], [0, 9000]])
    stuck = removal.PaneAttribute(pane.counts, pane.target, earlier, pane.state)
    assert removal.fewest({"age": stuck}, [1] * 10) is None


def test_a_pane_that_is_not_blocked_keeps_all() -> None:
    found = removal.fewest({"age": named([[1, 1]] * 20)}, [1] * 20)
    assert found is not None and not found.gone.any() and found.least_tokens == 0


def test_a_removed_document_that_comes_back_blocks_the_pane_again() -> None:
    """Put back in the reverse of the greedy order, each does: none was removed for nothing."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (60, 2)) + np.array([0, 1])
    pane = named(counts.tolist(), 0.05)
    found = removal.fewest({"age": pane}, rng.integers(1, 50, 60).tolist())
    assert found is not None and found.gone.any()
    kept = ~found.gone
    for document in np.flatnonzero(found.gone):
        kept[document] = True
        assert pane.blocks(kept)
        kept[document] = False


DOCUMENTS = st.lists(
    st.tuples(st.lists(st.integers(0, 3), min_size=2, max_size=2), st.integers(1, 9)),
    min_size=1,
    max_size=30,
)


@settings(max_examples=40)
@given(DOCUMENTS, st.sampled_from([0.1, 0.2, 0.4]))
def test_what_is_left_passes(documents: list[tuple[list[int], int]], block: float) -> None:
    """And the bound holds: no removal to as low a DR takes fewer tokens."""
    pane = named([counts for counts, _ in documents], block)
    found = removal.fewest({"age": pane}, [tokens for _, tokens in documents])
    if found is None:
        assert pane.blocks(np.ones(len(documents), bool))
        return
    kept = ~found.gone
    assert not pane.blocks(kept)
    cost = np.array([tokens for _, tokens in documents])
    assert cost[found.gone].sum() >= found.least_tokens - 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_little_is_lost_against_all_subsets(seed: int) -> None:
    """Beside every subset of eight documents, the tokens are the least or nearly so."""
    rng = np.random.default_rng(seed)
    counts = np.concatenate([rng.integers(0, 3, (4, 2)), rng.integers(0, 2, (4, 2)) * [1, 4]])
    cost = rng.integers(1, 10, 8)
    pane = named(counts.tolist(), 0.1)
    found = removal.fewest({"age": pane}, cost.tolist())
    best = min(
        (
            int(cost[list(gone)].sum())
            for size in range(9)
            for gone in combinations(range(8), size)
            if not pane.blocks(np.isin(np.arange(8), gone, invert=True))
        ),
        default=None,
    )
    assert (found is None) == (best is None)
    if found is not None and best is not None:
        assert best <= cost[found.gone].sum() <= best + cost.max()
