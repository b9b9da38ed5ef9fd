"""Forms of pronouns in context."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.transforms.text import pronoun_model, pronouns


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I saw [her] yesterday.", "him"),
        ("I saw [her] car.", "his"),
        ("Give it to [her].", "him"),
        ("We told [her] that it rained.", "him"),
        ("[Her] sister called.", "his"),
        ("They gave [her] two plates.", "him"),
        ("We call [her] brother every week.", "his"),
        ("It made [her] cry.", "him"),
        ("They crowned [her] queen.", "him"),
        ("I bought [her] flowers.", "him"),
        ("I wished [her] luck.", "him"),
        ("I saw [her] running down the street.", "him"),
        ("I saw [her] running shoes.", "his"),
        ("[Her] being late annoyed us.", "his"),
        ("He watched [her] every move.", "his"),
        ("I can hear [her] upstairs.", "him"),
        ("I like [her] better than you.", "him"),
        ("She lost [her] old keys.", "his"),
        ("The car is [his].", "hers"),
        ("That is [his] car.", "her"),
        ("[His], and only his, voice", "her"),
        ("[Her] (and only her) voice", "his"),
        ("It was his – or rather [his] – voice.", "her"),
        ("Only [his], and no one else’s, voice counts.", "her"),
        ("[his] or her voice", "her"),
        ("That hat is [his], and the coat hers.", "hers"),
        ("I saw [her], and her mother, yesterday.", "him"),
        ("We know [him].", "her"),
        ("It was [hers].", "his"),
        ("[She] sang.", "he"),
        ("He did it [himself].", "herself"),
    ],
)
def test_the_form_fits_the_place(text: str, wanted: str) -> None:
    start = text.index("[")
    end = text.index("]") - 1
    word, sure = pronouns.find_counterpart(text.replace("[", "").replace("]", ""), start, end)
    assert word == wanted
    assert 0.5 <= sure <= 1


def test_a_word_that_is_no_pronoun_is_an_error() -> None:
    with pytest.raises(KeyError):
        pronouns.find_counterpart("a table", 2, 7)


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_surroundings_give_a_form(before: str, after: str) -> None:
    text = f"{before} her {after}"
    assert pronouns.find_counterpart(text, len(before) + 1, len(before) + 4)[0] in ("his", "him")


def test_what_is_beyond_reach_decides_nothing() -> None:
    near = "I saw her car" + " and so on" * 10
    assert pronoun_model.list_features(near, 6, 9, {}) == pronoun_model.list_features(
        near + " far away.", 6, 9, {}
    )
