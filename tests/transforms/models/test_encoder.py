"""The encoder: answers that depend on the text alone, any text."""

from __future__ import annotations

import math

import pytest

from evenflow.transforms.models.encoder import Encoder
from evenflow.transforms.models.heads import STANCE
from evenflow.transforms.models.pieces import CAPITAL, CHANGED, LONGEST

TEXTS = (
    "A [man|woman] smiled at [his|her] dog.",
    "[She|He] gave birth to twins.",
    "The [king|queen] of Spain and [his|her] sons waved to the crowd.",
    "no change at all",
    "",
    "[MASK] [CLS] [SEP] are text, so is [a|b|c] and ] | [.",
    "\ud800 a lone surrogate, \x00 a zero, e\u0301 and 漢字",
    "ALL CAPITALS [HE|SHE] SHOUTED",
    "word " * 4000,
    "x" * 20000,
)


def test_an_answer_depends_on_its_text_alone() -> None:
    encoder = Encoder.shipped()
    alone = [each for text in TEXTS for each in encoder.stereotypes([text])]
    assert alone == encoder.stereotypes(TEXTS) == encoder.stereotypes(TEXTS[::-1])[::-1]


def test_pieces_carry_capitals_and_changes() -> None:
    pieces = Encoder.shipped().tokenizer.pieces("The [King|Queen] saw Xyzzyx, [his|her] son.")
    types = dict(zip(pieces.ids, pieces.types, strict=True))
    of = {
        word: types[Encoder.shipped().tokenizer.pieces(word).ids[1]]
        for word in ("the", "king", "queen", "saw", "his", "son")
    }
    assert of == {
        "the": CAPITAL,
        "king": CAPITAL + CHANGED,
        "queen": CAPITAL + CHANGED,
        "saw": 0,
        "his": CHANGED,
        "son": 0,
    }
    assert pieces.types[0] == pieces.types[-1] == 0
    assert sum(type_ == CAPITAL for type_ in pieces.types) >= 3  # all pieces of a long name


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_cut_to_what_is_read(text: str) -> None:
    pieces = Encoder.shipped().tokenizer.pieces(text)
    assert 2 <= len(pieces.ids) == len(pieces.types) <= LONGEST


def test_nothing_is_asked() -> None:
    assert Encoder.shipped().stereotypes([]) == []


def test_sentences_have_all_that_the_heads_know() -> None:
    encoder = Encoder.shipped()
    for each in encoder.stereotypes(["folks are too emotional to lead.", *TEXTS]):
        assert all(
            0 <= chance <= 1 for chance in (each.probability, each.strength, each.association)
        )
        assert set(each.indicators) == set(encoder.choices) - {STANCE}
        assert all(
            math.isclose(sum(shares.values()), 1)
            for shares in (each.stance, *each.indicators.values())
        )
