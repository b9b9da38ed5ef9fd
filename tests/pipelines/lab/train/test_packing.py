"""Sequences of tokens, and the order in which steps take them."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from evenflow.pipelines.lab.train import packing
from evenflow.pipelines.lab.train.packing import Document
from evenflow.pipelines.lab.train.trainer import rate

documents = st.lists(
    st.tuples(st.lists(st.integers(2, 9), max_size=20), st.sampled_from([0.5, 1.0, 2.0])),
    min_size=1,
    max_size=8,
).map(lambda rows: [Document(str(n), *row) for n, row in enumerate(rows)])


@given(documents, st.integers(1, 7), st.integers(1, 5), st.integers(0, 3))
def test_an_epoch_takes_every_token_once_with_its_weight(
    given: list[Document], context: int, size: int, seed: int
) -> None:
    assume(any(each.tokens for each in given))
    corpus = packing.packed(given, context, end=1)
    epoch = sum(len(each.tokens) + 1 for each in given if each.tokens)
    steps = range(-(-2 * epoch // (size * context)))
    taken = [corpus.take(step, size, seed) for step in steps]
    flat = list(
        zip(
            np.concatenate([each.tokens.ravel() for each in taken]).tolist(),
            np.concatenate([each.weights.ravel() for each in taken]).tolist(),
            strict=True,
        )
    )
    expected = sorted((t, each.weight) for each in given if each.tokens for t in [*each.tokens, 1])
    for start in (0, epoch):
        assert sorted(flat[start : start + epoch]) == expected
    assert [len(each.lengths) for each in taken] == [size] * len(steps)


def test_a_document_longer_than_the_context_is_cut_into_pieces_between_marks() -> None:
    given = [Document("a", [5, 6, 7], 2.0), Document("b", [], 1.0), Document("c", [8], 1.0)]
    corpus = packing.apart(given, 4, 0, (2,), (3,))
    made = corpus.take(0, len(corpus), seed=0)
    rows = sorted(zip(*(each.tolist() for each in made), strict=True))
    assert rows == [
        ([2, 5, 6, 3], [0, 2, 2, 0], 4),
        ([2, 7, 3, 0], [0, 2, 0, 0], 3),
        ([2, 8, 3, 0], [0, 1, 0, 0], 3),
    ]


def test_other_words_and_fewer_documents_keep_the_order() -> None:
    def first_words(lengths: dict[int, int]) -> list[int]:
        corpus = packing.packed(
            [Document(str(n), [10 + n, *[2] * length], 1.0) for n, length in lengths.items()], 3, 1
        )
        tokens = corpus.take(0, len(corpus), seed=1).tokens.ravel()[: len(corpus.tokens)]
        return [token for token in tokens.tolist() if token >= 10]

    whole = first_words(dict.fromkeys(range(20), 4))
    assert whole != sorted(whole)
    assert first_words({n: 1 + n % 5 for n in range(20)}) == whole
    assert first_words(dict.fromkeys(range(0, 20, 3), 2)) == [n for n in whole if n % 3 == 1]


def test_only_tokens_that_are_learnt_are_targets() -> None:
    given = [
        Document("a", [5, 6, 7], 2.0, [False, True, True]),
        Document("b", [8], 1.0, [False]),
        Document("c", [9], 1.0, [True]),
    ]
    taken = packing.apart(given, 4, 0, (2,), (3,)).take(0, 4, seed=1)
    weights = {
        tuple(tokens[:length].tolist()): own[:length].tolist()
        for tokens, own, length in zip(*taken, strict=True)
    }
    assert weights == {
        (2, 5, 6, 3): [0, 0, 2, 0],
        (2, 7, 3): [0, 2, 0],
        (2, 8, 3): [0, 0, 0],
        (2, 9, 3): [0, 1, 0],
    }


def test_masks_hide_only_targets_and_the_usual_shares() -> None:
    tokens = np.full((200, 100), 7, np.int32)
    weights = np.ones((200, 100), np.float32)
    weights[:, 0] = 0
    taken = packing.Sequences(tokens, weights, np.full(200, 100))
    made = packing.masked(taken, 0.15, mask=4, vocabulary=1000, rng=np.random.default_rng(0))
    chosen = made.weights > 0
    assert not chosen[:, 0].any()
    assert (made.tokens[~chosen] == 7).all()
    assert abs(chosen[:, 1:].mean() - 0.15) < 0.01
    assert abs((made.tokens[chosen] == 4).mean() - 0.8) < 0.03
    assert abs((made.tokens[chosen] == 7).mean() - 0.1) < 0.03


def test_the_rate_rises_for_the_warm_up_and_falls_to_zero() -> None:
    rates = [rate(step, 20, 5, 1.0) for step in range(20)]
    assert rates.index(max(rates)) == 5 and max(rates) == 1.0
    assert rates[:6] == sorted(rates[:6]) and rates[5:] == sorted(rates[5:], reverse=True)
    assert 0 < rates[-1] < 0.1 and rates[0] > 0
    assert rate(0, 1, 5, 1.0) == 1.0
