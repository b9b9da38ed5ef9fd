"""The encoder: answers that depend on the text alone, any text, and what it has learnt."""

from __future__ import annotations

import math

import numpy as np
import pytest
from places import DATA

from evenflow.transforms.lab.training import card, data, evaluate
from evenflow.transforms.models.encoder import RIGHT, Encoder
from evenflow.transforms.models.heads import REASONS, STANCE
from evenflow.transforms.models.pieces import CAPITAL, CHANGED, LONGEST

DATA = DATA
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
    alone = np.concatenate([encoder.values([text]) for text in TEXTS])
    together = encoder.values(TEXTS)
    turned = encoder.values(TEXTS[::-1])[::-1]
    assert alone.tobytes() == together.tobytes() == np.ascontiguousarray(turned).tobytes()
    assert np.isfinite(together).all()


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


def test_an_exchange_is_as_right_as_its_worst_window() -> None:
    encoder = Encoder.shipped()
    each = [(TEXTS[0],), (TEXTS[1],), (TEXTS[0], TEXTS[1])]
    first, second, both = encoder.exchanges("gender", each)
    assert both == min(first, second)


@pytest.mark.parametrize(
    "attribute", ["gender", "age", "religion", "an attribute of the user's own"]
)
def test_a_reason_stands_where_an_exchange_is_wrong(attribute: str) -> None:
    for probability, reason in Encoder.shipped().exchanges(attribute, [(text,) for text in TEXTS]):
        assert 0 <= probability <= 1
        assert (reason == "") == (probability >= RIGHT)
        assert not reason or reason in REASONS.values()


def test_an_exchange_needs_a_window() -> None:
    with pytest.raises(ValueError, match="no window"):
        Encoder.shipped().exchanges("gender", [(TEXTS[0],), ()])


def test_nothing_is_asked() -> None:
    assert Encoder.shipped().exchanges("gender", []) == []
    assert Encoder.shipped().stereotypes([]) == []


def test_sentences_have_all_that_the_heads_know() -> None:
    encoder = Encoder.shipped()
    for each in encoder.stereotypes(["folks are too emotional to lead.", *TEXTS]):
        assert all(
            0 <= chance <= 1 for chance in (each.probability, each.strength, each.association)
        )
        assert set(each.indicators) == set(encoder.layout.choices) - {STANCE}
        assert all(
            math.isclose(sum(shares.values()), 1)
            for shares in (each.stance, *each.indicators.values())
        )


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("A [man|woman] smiled at [his|her] dog.", "[She|He] gave birth to twins."),
        ("The nurse said [she|he] was tired.", "Lincoln said [he|she] would free the slaves."),
        ("My [brother|sister] lives in Leeds.", "Oh [man|woman], what a day."),
    ],
)
def test_it_has_learnt_the_guideline(right: str, wrong: str) -> None:
    (good, _), (bad, _) = Encoder.shipped().exchanges("gender", [(right,), (wrong,)])
    assert good > bad


def test_it_separates_right_from_wrong_in_unseen_documents() -> None:
    """On every fourth exchange that tests/benchmarks/exchange.py prints the figures of."""
    rows = data.read(DATA).part("report").exchanges[::4]
    true = np.array([row["label"] != data.WRONG for row in rows])
    chances = card.judged(Encoder.shipped(), rows)
    assert len(rows) > 300 and evaluate.area(chances, true) > 0.8
    assert abs(chances.mean() - true.mean()) < 0.05  # its probabilities are meant as such
    called = chances >= 0.5
    assert true[called].mean() > 2 * true.mean()


def test_it_separates_stereotypes_from_other_sentences() -> None:
    rows = [row for row in data.read(DATA).part("report").sentences if row["task"] == "stereotype"][
        ::2
    ]
    true = np.array([row["label"] == 1 for row in rows])
    chances = np.array(
        [each.probability for each in Encoder.shipped().stereotypes([row["text"] for row in rows])]
    )
    assert len(rows) > 300 and evaluate.area(chances, true) > 0.8
