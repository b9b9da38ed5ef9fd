"""The direction of an attribute, by hand and in the shipped vectors."""

from __future__ import annotations

import numpy as np
import pytest
from bias_vectors import attribute, made

from evenflow.transforms.measures.bias_score import direction, vectors
from evenflow.transforms.measures.bias_score.direction import DirectionError
from evenflow.wordlists import loader


def test_two_groups_by_hand() -> None:
    # Differences of (queen, king) and (aunt, uncle) from their means: ±(1, 0, 0) and ±(0.6, 0, 0)
    words = {
        "queen": (1, 0, 0),
        "king": (-1, 0, 0),
        "aunt": (0.6, 0.8, 0),
        "uncle": (-0.6, 0.8, 0),
        "chair": (0, 0, 1),
    }
    found = direction.find(
        made(words),
        attribute({"f": ["queen"], "m": ["king"]}),
        [("queen", "king"), ("aunt", "uncle")],
    )
    np.testing.assert_allclose(found.axes, [[1, 0, 0], [-1, 0, 0]], atol=1e-6)
    assert found.explained == pytest.approx(1)
    assert (found.used, found.given) == (2, 2)


def test_the_explained_share_by_hand() -> None:
    # Half differences (0.8, 0) and (0, 0.6): the first axis has 0.64 of 0.64 + 0.36
    words = {"a": (0.8, 0.6), "b": (-0.8, 0.6), "c": (0.8, 0.6), "d": (0.8, -0.6)}
    pairs = [("a", "b"), ("c", "d")]
    found = direction.find(made(words), attribute({"f": ["a"], "m": ["b"]}), pairs)
    assert found.explained == pytest.approx(0.64, abs=1e-6)
    other = direction.find(made(words), attribute({"f": ["a"], "m": ["b"]}), pairs[1:])
    assert found.agreement(other) == pytest.approx(0, abs=1e-6)
    assert found.agreement(found) == pytest.approx(1)


def test_three_groups_have_a_plane() -> None:
    angles = np.arange(3) * 2 * np.pi / 3
    words = {
        f"{name}{n}": (*(0.6 * np.array([np.cos(a), np.sin(a)])), 0.8 * (1 - 2 * n))
        for n in range(2)
        for name, a in zip("xyz", angles, strict=True)
    }
    groups = {name: [f"{name}0", f"{name}1"] for name in "xyz"}
    triples = [("x0", "y0", "z0"), ("x1", "y1", "z1")]
    for words_of in (attribute(groups, triples), attribute(groups)):
        found = direction.find(made(words), words_of)
        assert found.basis.shape == (2, 3)
        np.testing.assert_allclose(
            found.axes[:, :2], np.column_stack([np.cos(angles), np.sin(angles)]), atol=1e-6
        )
        np.testing.assert_allclose(found.axes[:, 2], 0, atol=1e-6)


def test_no_pair_in_the_vectors() -> None:
    with pytest.raises(DirectionError, match=r"none of the 10 pairs .* another language"):
        direction.find(made({"Frau": (1, 0), "Mann": (0, 1)}), loader.load("gender"))
    with pytest.raises(DirectionError, match="no label of religion"):
        direction.find(made({"Frau": (1, 0), "Mann": (0, 1)}), loader.load("religion"))


def test_pairs_without_a_difference() -> None:
    same = made({"a": (1, 0), "b": (1, 0)})
    with pytest.raises(DirectionError, match="differ in nothing"):
        direction.find(same, attribute({"f": ["a"], "m": ["b"]}), [("a", "b")])
    turned = made({"a": (1, 0), "b": (-1, 0)})
    with pytest.raises(DirectionError, match="differ in nothing"):
        direction.find(turned, attribute({"f": ["a"], "m": ["b"]}), [("a", "b"), ("b", "a")])


def test_the_shipped_vectors_have_a_direction_of_gender() -> None:
    words = loader.load("gender")
    found = direction.find(vectors.shipped(), words)
    assert (found.used, found.given) == (10, 10)
    longer = direction.find(vectors.shipped(), words, direction.list_pairs(words))
    assert longer.used > 50
    assert found.agreement(longer) > 0.8
    rows = vectors.shipped().unit(["queen", "king", "sister", "brother"])
    towards = rows @ found.axes[words.groups.index("female")]
    assert (towards > 0).tolist() == [True, False, True, False]


@pytest.mark.parametrize("name", ["age", "religion"])
def test_lists_without_pairs_have_a_subspace(name: str) -> None:
    words = loader.load(name)
    found = direction.find(vectors.shipped(), words)
    assert found.axes.shape == (len(words.groups), vectors.shipped().size)
    assert found.basis.shape[0] == len(words.groups) - 1
    assert 0 < found.explained < 1
