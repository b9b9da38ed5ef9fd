"""The form of sentences, and that it does not show which group they name."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.stereotype_form import LIMIT, beside, form, masked

SWAPS = Path(__file__).parent / "data" / "stereotype_swaps.jsonl"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Old people can't use computers.", "persons can't use computers."),
        ("The Old Christian women's choir sang.", "The persons's choir sang."),
        ("A Muslim met his sister.", "A person met her person."),
        ("He asked him himself.", "she asked her herself."),
        ("It rained.", "It rained."),
    ],
)
def test_masked(sentence: str, expected: str) -> None:
    assert masked(sentence, ())[0] == expected


def test_listed_labels_are_masked() -> None:
    assert masked("Two wugs, a Wug fan.", [(4, 8, "planet"), (12, 19, "planet")]) == (
        "Two persons, a person.",
        [(4, 11, "group"), (15, 21, "group")],
    )


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("He is rude because he is a Muslim.", "says because of membership"),
        ("He got lost, typical man.", "says typical of"),
        ("She acts like every other teenager.", "says like every"),
        ("What do you expect from a Jew?", "says expected of"),
        ("Of course the girl cried.", "says of course"),
        ("Old people can't use computers.", "says cannot"),
        ("Wives belong at home.", "says belong"),
        ("Changing tyres is a man's job.", "says job for"),
        ("Women should stay in the kitchen.", "says should, generic"),
        ("The women were rude to us.", "target=specified target"),
        ("A nurse came in.", "professions only"),
        ("Женщины не умеют водить машину", "no reading"),
    ],
)
def test_features(sentence: str, name: str) -> None:
    assert form(sentence, ())[name] == 1


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("She quit because she was tired.", "says because of membership"),
        ("A typical day starts at five.", "says typical of"),
        ("The keys belong to him.", "says belong"),
        ("The women were rude to us.", "says were, generic"),
        ("A sister came in.", "professions only"),
    ],
)
def test_no_features(sentence: str, name: str) -> None:
    assert name not in form(sentence, ())


def test_the_form_does_not_show_the_group() -> None:
    for line in SWAPS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        forms = [form(row["template"].replace("{}", filler["word"]), ()) for filler in row["fillers"]]
        assert all(each == forms[0] for each in forms), row["template"]


@given(st.text(max_size=200) | st.lists(st.sampled_from(["women", "he", "a", "Jew", "is", "-", "all", "bad", "?"])).map(" ".join))
def test_masked_places(sentence: str) -> None:
    text, labels = masked(sentence, ())
    assert all(text[start:end] in ("person", "persons") for start, end, _ in labels)
    assert masked(text, ())[0] == text
    assert all(0 <= value <= 1 for value in form(sentence, ()).values())


def test_beside() -> None:
    assert beside({"target=generic target": 1.0}, 3.0) == {
        "target=generic target": 1.0,
        "words": 3 / LIMIT,
        "words, generic": 3 / LIMIT,
    }
    assert beside({}, -100.0) == {"words": -1.0, "words, unread": -1.0}


@pytest.mark.parametrize("piece", ["more ", "women ", "of course ", "he is a ", "than than more ", "women are very "])
def test_time_is_bounded(piece: str) -> None:
    begin = time.process_time()
    form((piece * 20_000)[:20_000], ())
    assert time.process_time() - begin < 2
