"""The first stage: sums of look-ups, which do not depend on other texts."""

from __future__ import annotations

import pytest

from evenflow.transforms.models.static import FirstStage

RIGHT = "A [man|woman] smiled at [his|her] dog."
WRONG = "Lincoln said [he|she] would free the slaves."


def test_it_knows_plain_cases() -> None:
    good, bad = FirstStage.shipped().exchanges("gender", [(RIGHT,), (WRONG,)])
    assert good > bad


def test_an_exchange_is_as_right_as_its_worst_window() -> None:
    one, other, both = FirstStage.shipped().exchanges(
        "gender", [(RIGHT,), (WRONG,), (RIGHT, WRONG)]
    )
    assert both == min(one, other)


SHORT = ["", "no change", "[a|b]", "[|] [|]", "漢字 [漢|字]", "\ud800[he|she]\x00"]


@pytest.mark.parametrize("text", [*SHORT, "x" * 20000, "word " * 4000, "[he|she] " * 500])
def test_any_text_has_a_probability(text: str) -> None:
    first = FirstStage.shipped()
    assert all(
        0 <= chance <= 1 for chance in (*first.exchanges("", [(text,)]), *first.stereotypes([text]))
    )


def test_a_word_without_a_vector_counts_as_none() -> None:
    first = FirstStage.shipped()
    assert first.stereotypes(["folks are lazy"]) == first.stereotypes(
        ["folks qzxqzx are qzxqzx lazy"]
    )


def test_an_unknown_spelling_is_read_in_small_letters() -> None:
    first = FirstStage.shipped()
    assert first.stereotypes(["FOLKS ARE LAZY"]) == first.stereotypes(["folks are lazy"])
