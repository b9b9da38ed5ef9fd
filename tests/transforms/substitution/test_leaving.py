"""Sentences that stay by their words or years."""

from __future__ import annotations

import pytest

from evenflow.pipelines.explain.explainer import Explainer
from evenflow.schemas.config import load
from evenflow.schemas.errors import EvenflowError
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.leaving import Leaving

GIVEN = ("1000-2029", "war", "civil war", "c++")


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("She left in 1989.", True),
        ("She left in 2030 with 999 books.", False),
        ("The 19th century, the 1980s.", False),  # no whole number
        ("WAR was all he knew.", True),
        ("His warden slept.", False),
        ("The Civil War took him.", True),
        ("No number of " + "9" * 5000 + " digits.", False),
    ],
)
def test_words_and_years(sentence: str, left: bool) -> None:
    assert Leaving(GIVEN).leaves(sentence) is left
    assert not Leaving(()).leaves(sentence)


def test_the_configuration_leaves_sentences_and_says_why() -> None:
    text = "She lost her keys in the war.\n\nA man found his keys."
    rewritten: dict[str, str] = {}
    for leave in ([], ["war"]):
        config = load(
            None,
            {"repair.leave": leave, "repair.judge": "fast", "repair.strictness": 0},
            ["gender"],
        )
        document = Explainer(config, counterfactual="gc").explain("d", text)
        rewritten[str(leave)] = document["text_cda"]["gender"]
        reasons = {own["reason"] for each in document["sentences"] for own in each["sets"]}
        assert (sets.LEFT in reasons) is bool(leave)
    assert rewritten["['war']"] == "She lost her keys in the war.\n\nA woman found her keys."
    assert rewritten["[]"] == "He lost his keys in the war.\n\nA woman found her keys."


def test_an_empty_word_is_refused() -> None:
    with pytest.raises(EvenflowError, match="leave"):
        load(None, {"repair.leave": [""]}, ["gender"])
