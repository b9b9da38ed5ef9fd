"""Counterfactuals of a document, as data and on a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_judge import Judge

from evenflow.pipelines.explain.counterfactual import Rewriter, difference
from evenflow.pipelines.explain.document import explain
from evenflow.schemas.config import Config
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.wordlists import loader

GENDER, AGE = [loader.load("gender")], [loader.load("age")]


def rewritten(text: str, rewriter: Rewriter, lists: list[loader.WordList] = GENDER) -> dict:
    document = explain("d", text, LabelFinder(lists))
    rewriter.add_to(document)
    return document


def test_a_sentence_is_rewritten_and_the_rest_stays() -> None:
    document = rewritten("It rained. She lost her keys.", Rewriter(GENDER, "gc"))
    assert document["text_cda"] == {"gender": "It rained. He lost his keys."}
    first, second = document["sentences"]
    assert (first["text_cda"], first["sets"]) == ({"gender": None}, [])
    assert second["text_cda"] == {"gender": "He lost his keys."}
    assert {(each["source"], each["target"]) for each in second["sets"]} == {("female", "male")}
    assert "He" in difference(document).plain and "She" in difference(document).plain


def test_from_and_to() -> None:
    text = "She left. He stayed."
    assert (
        rewritten(text, Rewriter(GENDER, "gc", source="female"))["text_cda"]["gender"]
        == "He left. He stayed."
    )
    assert (
        rewritten(text, Rewriter(GENDER, "gc", target="female"))["text_cda"]["gender"]
        == "She left. She stayed."
    )
    with pytest.raises(ValueError, match="divine"):
        Rewriter(GENDER, "gc", source="divine")


def test_what_is_left_says_why() -> None:
    judge = Judge(lambda shown: 0.25 if "egnant" in shown else 0.75, "biology")
    document = rewritten(
        "A pregnant woman rested.\n\nMen and women came.", Rewriter(GENDER, "gc", judge=judge)
    )
    pregnant, even = document["sentences"]
    assert pregnant["text_cda"]["gender"] is even["text_cda"]["gender"] is None
    assert [(each["reason"], each["confidence"]) for each in pregnant["sets"]] == [
        ("biology", 0.25)
    ]
    assert {each["reason"] for each in even["sets"]} == {"even already"}
    assert difference(document).plain.count("left as it is") == 3


@pytest.mark.parametrize(
    ("repair", "said"),
    [
        ({}, "off for age: no labels show 0.80 by document"),
        ({"min_probability": 0.99}, "it needs a probability of 0.99 (probability 0.75)"),
        ({"min_probability": 0.7}, "retiree"),
    ],
)
def test_a_refused_exchange_says_what_it_needs(repair: dict[str, float], said: str) -> None:
    config = Config.model_validate({"repair": repair})
    rewriter = Rewriter(AGE, "gc", None, "old", config, Judge(lambda shown: 0.75))
    assert said in difference(rewritten("A teenager sat down.", rewriter, AGE)).plain


def test_nothing_goes_to_a_group_whose_target_is_0_unless_it_is_asked_for() -> None:
    config = Config.model_validate({"repair": {"min_probability": 0.1}})
    for target, wanted in ((None, {"old"}), ("middle", {"middle"})):
        rewriter = Rewriter(AGE, "gc", None, target, config, Judge(lambda shown: 0.9))
        texts = [f"{number} teenagers sat down." for number in range(20)]
        rows = [rewritten(text, rewriter, AGE)["sentences"][0] for text in texts]
        assert {each["target"] for row in rows for each in row["sets"]} == wanted


REWRITERS = [Rewriter(GENDER, "gc"), Rewriter(GENDER, "base")]


@given(
    st.lists(
        st.sampled_from(
            ["She", "he", "her", "\ud800", "mother", "\u202e", "Mr. Lee", ".", "\n\n", "é", "his"]
        )
    ),
    st.sampled_from(REWRITERS),
)
def test_the_sentences_are_those_of_the_rewritten_text(
    words: list[str], rewriter: Rewriter
) -> None:
    text = " ".join(words)
    document = rewritten(text, rewriter)
    at, parts = 0, []
    for row in document["sentences"]:
        parts += [text[at : row["start"]], row["text_cda"]["gender"] or row["sent_text"]]
        at = row["end"]
    assert "".join([*parts, text[at:]]) == document["text_cda"]["gender"]
