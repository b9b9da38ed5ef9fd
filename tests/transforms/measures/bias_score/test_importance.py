"""The importance of words, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from evenflow.transforms.measures.bias_score.importance import (
    UNIT,
    by_word,
    max_pool_shares,
    mean_pool_shares,
    rarity,
    shipped_weights,
)


def test_rarity_by_hand() -> None:
    # log2 of 8 / 1, 8 / 2, 8 / 8, and at least one unit
    assert rarity(np.array([0, 1, 7]), 7).tolist() == [3 * UNIT, 2 * UNIT, 1]


def test_shipped_weights_are_greater_for_rarer_words() -> None:
    weights, other = shipped_weights()
    assert 0 < weights["the"] < weights["red"] < weights["saxophone"] <= other


def test_max_pooling_by_hand() -> None:
    states = np.array([[1.0, 5, 2, 0], [3, 1, 2, 1]])
    assert max_pool_shares(states).tolist() == [0.5, 0.5]  # the first wins the tie
    assert max_pool_shares(states[:1]).tolist() == [1.0]


def test_mean_pooling_by_hand() -> None:
    states = np.array([[2.0, 0], [4, 3], [0, 0]])  # their mean is (2, 1)
    assert mean_pool_shares(states).tolist() == pytest.approx([4 / 15, 11 / 15, 0])
    assert mean_pool_shares(np.zeros((2, 3))).tolist() == [0.5, 0.5]


def test_pieces_of_a_word_add_up() -> None:
    shares = np.array([0.2, 0.3, 0.1, 0.4])
    assert by_word(shares, np.array([-1, 0, 0, 1]), 3).tolist() == pytest.approx([0.5, 0.5, 0])
    assert by_word(shares, np.full(4, -1), 2).tolist() == [0, 0]
