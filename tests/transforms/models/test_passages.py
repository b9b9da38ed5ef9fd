"""Passages: which word pieces a mention has, and that a passage depends on the document alone."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.transforms.models import files, passages
from evenflow.transforms.models.encoder import VOCABULARY, read_model
from evenflow.transforms.models.passages import (
    AFTER,
    BEFORE,
    CELL,
    LONGEST,
    MENTION,
    NEW,
    WIDE,
    Place,
)

MODEL = read_model(files.SHIPPED / VOCABULARY)


def places_in(text: str, pattern: str = r"\b(?:he|kids)\b", new: str = "") -> list[Place]:
    return [Place(each.start(), each.end(), new) for each in re.finditer(pattern, text)]


def said(passage: passages.Passage, number: int) -> str:
    return MODEL.decode(passage.ids[slice(*passage.spans[number])].tolist())


def test_a_mention_has_its_pieces_and_those_of_its_new_word() -> None:
    text = "Ann met the kids. Then he left."
    places = [Place(12, 16, "retirees"), Place(23, 25)]
    passage = passages.of_cell(MODEL, text, places, 0)
    assert [said(passage, number) for number in passage.own] == ["kids retire ##es", "he"]
    first, last = passage.spans[0]
    kinds = passage.types[first:last]
    assert (kinds[0] & MENTION, *(each & NEW for each in kinds[1:])) == (MENTION, NEW, NEW)
    assert passage.types[1] & passages.CAPITAL and not passage.types[2] & passages.CAPITAL
    assert passage.ids[0] == passages.FIRST and passage.ids[-1] == passages.LAST


def test_a_later_passage_begins_with_the_documents_first_words_and_whole_words() -> None:
    text = "Minutes of the chess club. " + "Later on he played again. " * 200
    places = places_in(text)
    cell = places[120].start // WIDE
    passage = passages.of_cell(MODEL, text, places, cell)
    shown = MODEL.decode(passage.ids.tolist())
    assert shown.startswith("[CLS] minutes of the chess club") and len(passage.ids) <= LONGEST
    assert {places[number].start // WIDE for number in passage.own} == {cell}
    assert set(passage.own) < set(passage.spans)  # those around are seen, and judged elsewhere
    assert {said(passage, number) for number in passage.spans} == {"he"}


@pytest.mark.parametrize("cell", [0, 3])
def test_a_passage_depends_on_its_surroundings_alone(cell: int) -> None:
    text = "A man came. " + "Then he left the house with a friend. " * 300
    one = passages.of_cell(MODEL, text, places_in(text), cell)
    longer = text + "And he slept. " * 400
    other = passages.of_cell(MODEL, longer, places_in(longer), cell)
    assert np.array_equal(one.ids, other.ids) and np.array_equal(one.types, other.types)
    assert one.spans == other.spans


def test_what_does_not_fit_has_no_span() -> None:
    text = "kids " * 400
    places = places_in(text, "kids", "septuagenarians of the neighbourhood")
    passage = passages.of_cell(MODEL, text, places, 0)
    assert len(passage.ids) <= LONGEST and len(passage.own) > len(passage.spans) > 0


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=400), st.lists(st.integers(0, 399), min_size=1, max_size=6))
def test_any_text_is_cut(text: str, starts: list[int]) -> None:
    places = [Place(each, each + 1, "x") for each in sorted(set(starts))]
    passage = passages.of_cell(MODEL, text, places, 0)
    assert len(passage.ids) == len(passage.types) <= LONGEST
    for first, last in passage.spans.values():
        assert 0 < first < last < len(passage.ids)


@pytest.mark.parametrize("cell", [0, 1, 4])
def test_an_excerpt_has_the_passage_of_its_cell(cell: int) -> None:
    text = "A man came. " + "Then he left the house with a friend. " * 110
    low, high = max(0, cell * CELL - BEFORE), (cell + 1) * CELL + AFTER
    whole = passages.passage(MODEL, text, low, high, places_in(text), ())
    part = passages.excerpt(text, cell)
    moved = [
        Place(place.start - part.skipped, place.end - part.skipped)
        for place in places_in(text)
        if part.low <= place.start - part.skipped
    ]
    alone = passages.passage(MODEL, *part[:3], moved, ())
    assert np.array_equal(whole.ids, alone.ids) and np.array_equal(whole.types, alone.types)
    assert [whole.spans[at] for at in whole.own] == [alone.spans[at] for at in alone.own]
    assert len(part.text) < 2100
