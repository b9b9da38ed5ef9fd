"""What the detector sees: groups masked, words by classes, the same for a batch as alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.transforms.stereotyping import stereotype_terms as terms
from evenflow.transforms.stereotyping.stereotype_features import BUCKETS, DENSE, features

NONE = terms.terms_of({"the": 1})


def seen(sentence: str, labels: tuple[tuple[int, int, str], ...] = ()) -> tuple[tuple[int, ...], tuple[float, ...]]:
    each = features([sentence], [labels], NONE)
    assert each.sizes.tolist() == [len(each.columns)]
    return tuple(sorted(each.columns.tolist())), tuple(each.dense[0].tolist())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Women are late.", "Men are late."),
        ("the black man stole it", "the Asian woman stole it"),
        ("She lost her keys", "He lost his keys"),
        ("Muslims pray", "Hindus pray"),
        ("A nurse came", "A lawyer came"),
        ("Mary smiled", "James smiled"),
        ("He has 3 cats", "He has 17 cats"),
        ("WOMEN ARE LATE.", "women are late."),
        ("They don’t drive", "They don't drive"),
    ],
)
def test_the_same(one: str, other: str) -> None:
    assert seen(one) == seen(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Women are late.", "Women are late?"),
        ("Women are late.", "Muslims are late."),  # of another kind
        ("Women are late", "Women are kind"),
        ("the women never came", "never came the women"),
    ],
)
def test_not_the_same(one: str, other: str) -> None:
    assert seen(one) != seen(other)


def test_listed_labels_of_several_words_are_one_group() -> None:
    text = "The church mice of Ely sing"
    assert seen(text, ((4, 22, "age"),)) == seen("The women sing")
    assert seen(text, ((4, 22, "religion"),)) == seen("The Hindus sing")


def test_a_listed_pronoun_stays_a_pronoun() -> None:
    assert seen("She sings", ((0, 3, "gender"),)) == seen("She sings") != seen("The women sing")


def test_a_label_within_a_word_masks_the_word() -> None:
    assert seen("unbelievers sing", ((2, 11, "gender"),)) == seen("women sing")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=30) | st.sampled_from(["Women can't drive", "He left", ""]), max_size=6))
def test_a_batch_is_its_sentences(sentences: list[str]) -> None:
    each = features(sentences, [()] * len(sentences), NONE)
    assert each.sizes.sum() == len(each.columns) and each.dense.shape == (len(sentences), DENSE)
    assert ((each.columns >= 0) & (each.columns < BUCKETS)).all()
    at = 0
    for number, sentence in enumerate(sentences):
        own = tuple(sorted(each.columns[at : at + each.sizes[number]].tolist()))
        at += each.sizes[number]
        assert (own, tuple(each.dense[number].tolist())) == seen(sentence)
        assert each.known[number] <= each.words[number]


def test_a_long_sentence_among_short_ones() -> None:
    long = "women and wine " * (terms.CHUNK // 8)
    each = features(["He left", long, "He left"], [(), (), ()], NONE)
    assert each.sizes[0] == each.sizes[2] < each.sizes[1]
    assert np.array_equal(each.columns[: each.sizes[0]], each.columns[-each.sizes[2] :])
