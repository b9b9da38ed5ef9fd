"""Scores of sentences: equations 1 to 3 by hand, and with the shipped vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bias_vectors import attribute, made

from evenflow.schemas.documents import summed
from evenflow.transforms.measures.bias_score import direction, vectors, words
from evenflow.transforms.measures.bias_score.importance import UNIT
from evenflow.transforms.measures.bias_score.score import FINE, BiasScorer, totals
from evenflow.wordlists import loader

SPACE = {
    "she": (1.0, 0.0),
    "he": (-1.0, 0.0),
    "nurse": (0.6, 0.8),
    "guard": (-0.8, 0.6),
    "chair": (0.0, 1.0),
    "nothing": (0.0, 0.0),
    "Mary": (0.8, 0.6),
}
WEIGHTS = ({"she": UNIT, "nurse": 3 * UNIT, "guard": 2 * UNIT, "chair": UNIT}, 4 * UNIT)


def scorer() -> BiasScorer:
    space = made(SPACE)
    found = direction.find(space, attribute({"f": ["she"], "m": ["he"]}), [("she", "he")])
    return BiasScorer(space, found, named=["she", "he", "maid"], names=["mary"], weights=WEIGHTS)


@pytest.mark.parametrize(
    ("sentence", "female", "male"),
    [
        ("nurse", 0.6, 0.0),
        ("Nurse guard", 0.6 * 3 / 5, 0.8 * 2 / 5),
        ("she, nurse!", 0.6 * 3 / 4, 0.0),  # she is in L: it counts, and leans to nothing
        ("NURSE chair", 0.6 * 3 / 4, 0.0),
        ("nurse qwerty", 0.6 * 3 / 7, 0.0),  # an unknown word counts too
        ("maid nurse", 0.6 * 3 / 7, 0.0),  # in L, without a vector
        ("Mary nurse", 0.6 * 3 / 7, 0.0),
        ("she", 0.0, 0.0),
    ],
)
def test_the_equations_by_hand(sentence: str, female: float, male: float) -> None:
    found = scorer().score(sentence, [0])
    np.testing.assert_allclose(found.groups, [[female, male]], atol=1e-6)
    np.testing.assert_allclose(found.absolute, [female + male], atol=2e-6)
    assert found.known.tolist() == [True]


@pytest.mark.parametrize("sentence", ["", "…", "qwerty zxcv", "nothing", "漢字"])
def test_a_sentence_without_known_words_has_no_score(sentence: str) -> None:
    found = scorer().score(sentence, [0])
    assert not found.known.any()
    assert not found.absolute.any()


def test_a_score_depends_on_its_sentence_alone() -> None:
    own = scorer()
    text = "The nurse sat. Guard the chair, nurse! Qwerty. She."
    starts = [0, 15, 39, 47]
    together = own.score(text, starts)
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        alone = own.score(text[start:end], [0])
        assert alone.groups[0].tolist() == together.groups[number].tolist()
        assert alone.absolute[0] == together.absolute[number]
        assert alone.known[0] == together.known[number]


def test_parts_add_up_to_the_score() -> None:
    own = scorer()
    sentence = "She sat, nurse and guard; Mary."
    parts = own.parts(sentence)
    assert [part.word for part in parts] == ["She", "sat", "nurse", "and", "guard", "Mary"]
    assert [part.named for part in parts] == [True, False, False, False, False, True]
    assert [part.leanings is None for part in parts] == [False, True, False, True, False, False]
    assert sum(part.importance for part in parts) == pytest.approx(1)
    for group, total in enumerate(own.score(sentence, [0]).groups[0]):
        assert sum(
            part.importance * part.leanings[group] for part in parts if part.leanings
        ) == pytest.approx(float(total), abs=1e-6)
    assert own.parts("") == []


def test_of_three_groups_the_absolute_score_is_a_length() -> None:
    angles = np.arange(3) * 2 * np.pi / 3
    space = {name: (np.cos(a), np.sin(a), 0.0) for name, a in zip("abc", angles, strict=True)} | {
        "word": (0.6, 0.0, 0.8)
    }
    vectors_ = made(space)
    found = direction.find(vectors_, attribute({name: [name] for name in "abc"}), [tuple("abc")])
    score = BiasScorer(vectors_, found, "abc", weights=({}, UNIT)).score("word", [0])
    np.testing.assert_allclose(score.groups, [[0.6, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(score.absolute, [0.6], atol=1e-6)


def test_the_shipped_vectors_and_words() -> None:
    gender = loader.load("gender")
    space = vectors.shipped()
    own = BiasScorer(
        space, direction.find(space, gender), words.named(gender), words.given_names(gender)
    )
    female, male = (gender.groups.index(name) for name in ("female", "male"))
    pink, ball = own.score("The bikini is pink.Baseball players", [0, 19]).groups
    assert pink[female] > pink[male]
    assert ball[male] > ball[female]
    she, mary, policewoman, will = own.parts("She Mary policewoman will")
    assert she.named and mary.named and policewoman.named and not will.named


def test_words_add_up_to_the_score_however_the_text_is_cut() -> None:
    own, text = scorer(), "She, nurse! The nurse met a guard. Qwerty. Mary"
    starts = [0, 12, 35, 43]
    found = own.read(text, starts)
    whole = own.words(found, totals(found))
    assert {group: list(each) for group, each in whole.items()} == {"f": ["nurse"], "m": ["guard"]}
    assert whole["f"]["nurse"]["n"] == 2
    added = sum(each["a"] for words in whole.values() for each in words.values())
    assert added * FINE == pytest.approx(own.score(text, starts).absolute.sum(), abs=1e-5)
    parts: dict[str, Any] = {}
    for begin, end in ((0, 12), (12, 35), (35, len(text))):
        piece = own.read(text[begin:end], [0])
        parts = summed(parts, own.words(piece, totals(piece)))
    assert parts == whole
