"""Frames: what stands for words, that it does not show which group is named, and that a block reads as its sentences alone."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.transforms.stereotyping import stereotype_frames, stereotype_symbols, stereotype_terms
from evenflow.transforms.stereotyping.stereotype_features import features

SWAPS = Path(__file__).parent / "data" / "stereotype_swaps.jsonl"
NONE = stereotype_terms.terms_of({"the": 1})


def said(sentence: str, *labels: tuple[int, int, str]) -> list[str]:
    """The symbols of a sentence by name."""
    [piece] = features([sentence], [labels], NONE).pieces
    names = {number: name for name, number in stereotype_symbols.shipped().number.items()}
    return [names[number] for number in stereotype_symbols.symbols(piece)[0].tolist()]


def columns(*sentences: str) -> list[list[int]]:
    """The columns of each sentence, sorted."""
    seen = stereotype_frames.frames(features(sentences, [()] * len(sentences), NONE).pieces)
    return [sorted(seen.columns[seen.owners == place].tolist()) for place in range(len(sentences))]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Old people can't use computers.", "<many> can t VB NNS ."),
        ("The women were rude to us.", "the <many> were JJ- to us ."),
        ("A Muslim met his sister in Rome, yes?", "a <one> VBD|VBN <who> <one> in NNP , UH ?"),
        ("Chinese are clever.", "<many> are NN+ ."),  # the verb tells the number
        ("Anna has 3 flimbers.", "<name> has <number> NNS ."),
        ("He flimbed blurpishly", "<who> VBD|VBN RB"),
        ("", ""),
    ],
)
def test_symbols(sentence: str, expected: str) -> None:
    assert said(sentence) == expected.split()


def test_listed_labels_are_groups() -> None:
    assert said("Two wugs sat.", (4, 8, "planet")) == [*said("Two women sat.")]
    assert said("Two wugs sat.") != said("Two women sat.")


def test_frames_do_not_show_the_group() -> None:
    for line in SWAPS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found = columns(*(row["template"].replace("{}", filler["word"]) for filler in row["fillers"]))
        assert all(each == found[0] for each in found), row["template"]


def test_a_kind_is_told_from_somebody() -> None:
    """The frame around the group differs though most words are the same."""
    kind, somebody = (set(each) for each in columns("Women are rude to us.", "The woman was rude to us."))
    assert len(kind & somebody) < len(kind) / 2


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=40) | st.sampled_from(["Women are bad.", "He left.", "", "All Jews lie", "?"]), max_size=8))
def test_sentences_do_not_see_each_other(sentences: list[str]) -> None:
    together = columns(*sentences)
    assert together == [columns(sentence)[0] for sentence in sentences]
    assert all(0 <= column < stereotype_frames.WIDTH for each in together for column in each)


def test_pieces_keep_their_order() -> None:
    """A block of more characters than are read at a time."""
    long = "Women are late, and men are early. " * 2000
    each = features(["He left.", long, "She came.", long], [()] * 4, NONE)
    seen = stereotype_frames.frames(each.pieces)
    assert len(each.pieces) > 1
    assert np.bincount(seen.owners, minlength=4).tolist() == seen.sizes.tolist()
    assert sorted(seen.columns[seen.owners == 2].tolist()) == columns("She came.")[0]


@pytest.mark.parametrize("piece", ["more ", "women ", "of course ", "he is a ", "women are very "])
def test_time_is_bounded(piece: str) -> None:
    begin = time.process_time()
    columns((piece * 20_000)[:20_000])
    assert time.process_time() - begin < 2
