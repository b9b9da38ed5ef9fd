"""The first stage of people: the words it reads, and what it says of a mention."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.models import files, people
from evenflow.transforms.models.people import SIDES, TOKENS, UNIT, PeopleHead, Vocabulary, to_bytes

WORDS = ["the", "The", "old", "walls", "of", "café", ",", "-", "kids"]
TEXTS = st.lists(st.sampled_from([*WORDS, "zzz", "\n", "\ud800", "kids kids"]), max_size=14).map(
    " ".join
)


def places(text: str, start: int, end: int, low: int = 0) -> tuple[list[str], list[bool]]:
    vocabulary = Vocabulary(WORDS)
    own = (np.array([each]) for each in (start, end, low, len(text)))
    words, signs = vocabulary.places(to_bytes(text), *own)
    return [[*WORDS, ""][number] for number in words[0]], signs[0].tolist()


@given(TEXTS, TEXTS)
def test_it_reads_the_nearest_words_outwards(before: str, after: str) -> None:
    before, after = before[-people.REACH + 1 :], after[: people.REACH - 1]
    text = f"{before} kids {after}"
    start = len(before) + 1
    token = re.compile(r"[^\W_]+|[^\w\s]|_|\ud800")
    sides = token.findall(before)[::-1][:TOKENS], token.findall(after)[:TOKENS]
    wanted = [
        word if word in WORDS else "" for own in sides for word in [*own, *[""] * TOKENS][:TOKENS]
    ]
    assert places(text, start, start + 4)[0] == wanted


def test_another_document_is_not_read() -> None:
    text = "the old\n\nkids"
    assert places(text, 9, 13, 9)[0] == [""] * SIDES
    alone = places("kids", 0, 4)
    assert places(text, 9, 13, 9) == alone


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("the Kids", "capital within a sentence"),
        ("the KIDS", "all capitals"),
        ("kids The", "capital behind"),
        ("kids-old", "hyphen behind"),
        ("old-kids", "hyphen before"),
        ("kids' walls", "apostrophe behind"),
    ],
)
def test_signs(text: str, sign: str) -> None:
    start = text.lower().index("kids")
    signs = dict(zip(people.SIGNS, places(text, start, start + 4)[1], strict=True))
    assert signs[sign]
    assert not places("The old kids of the walls", 8, 12)[1][people.SIGNS.index(sign)]


def chance(text: str, label: str, attribute: str = "age") -> float:
    head, start = PeopleHead.shipped(), text.index(label)
    own = (np.array([each]) for each in (start, start + len(label), 0, len(text)))
    found = head.vocabulary.places(to_bytes(text), *own)
    return head.chances(attribute, found, head.labels(attribute, [label.lower()]))[0] / UNIT


@pytest.mark.parametrize(
    ("people_of_it", "others"),
    [
        (("The elderly need care.", "elderly"), ("The ancient walls of the city.", "ancient")),
        (("Many teenagers were there.", "teenagers"), ("It was a minor issue.", "minor")),
    ],
)
def test_people_are_told_from_things(
    people_of_it: tuple[str, str], others: tuple[str, str]
) -> None:
    assert chance(*others) < 0.3 < 0.7 < chance(*people_of_it)


def test_an_attribute_without_labels_has_a_head() -> None:
    assert 0.5 < chance("Two nurses came to the house.", "nurses", "profession") <= 1


def test_it_says_the_same_of_many_as_of_one() -> None:
    text = "The ancient walls. " * 3000
    starts = np.arange(3000) * 19 + 4
    head = PeopleHead.shipped()
    lows, highs = starts - 4, starts + 14
    found = head.vocabulary.places(to_bytes(text), starts, starts + 7, lows, highs)
    labels = np.repeat(head.labels("age", ["ancient"]), 3000)
    assert len(set(head.chances("age", found, labels).tolist())) == 1


def test_reader_and_head_are_joined_by_attribute() -> None:
    head = PeopleHead.shipped()
    for name in ("age", "gender", "profession"):
        both = [[head.with_reader(name, read, own) for own in (50, 950)] for read in (0.05, 0.95)]
        assert 0 < both[0][0] < min(both[0][1], both[1][0]) < both[1][1] < UNIT
    # The mean of the logits would be a half; where one of both is sure of an age, it is likelier
    assert min(head.with_reader("age", 0.1, 900), head.with_reader("age", 0.9, 100)) > 550


def test_a_damaged_head_is_refused(tmp_path: Path) -> None:
    for name in (people.MANIFEST, people.TENSORS):
        shutil.copy(files.SHIPPED / name, tmp_path)
    (tmp_path / people.TENSORS).write_bytes(b"other")
    with pytest.raises(files.ModelError, match="damaged"):
        PeopleHead(tmp_path)
