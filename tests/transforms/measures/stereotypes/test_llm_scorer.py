"""The LLM as finder of indicators: which answers are consistent, and what score they give."""

from __future__ import annotations

from typing import Any

import pytest
from model_answers import indicators
from scripted_asker import Says
from stereotype_models import scorer as heads

from evenflow.prompts import loader
from evenflow.transforms.llm.cascade import select_all, selection
from evenflow.transforms.llm.questions import CONTRADICTION, OTHER_LABEL, QUOTE, SCHEMA
from evenflow.transforms.measures.stereotypes.llm_scorer import TieredScorer

SENTENCE = "Old men are lazy."
LABELS = [(0, 7, "age")]
SCORER = heads()
CHECKING = TieredScorer(SCORER, Says(lambda data: {}), select_all)
FULL = indicators("Old men", "are lazy") | {"connotation": "neutral"}
NOBODY = dict.fromkeys(FULL) | {"has_label": False}


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (FULL, 0.7),
        (FULL | {"sentiment": "positive"}, 0.4),
        (FULL | {"target": "specific", "form": "individual"}, 0.4),
        (FULL | {"situation": "other", "sentiment": None, "generalisation": None}, 0.5),
        (NOBODY, 0.0),
    ],
)
def test_answers_give_a_score_and_leave_the_strength(answer: dict[str, Any], score: float) -> None:
    found = TieredScorer(SCORER, Says(lambda data: answer), select_all).indicators(
        [SENTENCE], [LABELS]
    )[0]
    assert found is not None
    assert found.score == pytest.approx(score)
    assert found.strength == (0.6 if answer["has_label"] else 0.0)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (NOBODY | {"has_label": True}, CONTRADICTION),
        (NOBODY | {"label": "Old men"}, CONTRADICTION),
        (FULL | {"has_label": False}, CONTRADICTION),
        (FULL | {"target": None}, CONTRADICTION),
        (FULL | {"information": None}, CONTRADICTION),
        (FULL | {"situation": None}, CONTRADICTION),
        (FULL | {"sentiment": None}, CONTRADICTION),
        (FULL | {"situation": "other"}, CONTRADICTION),
        (FULL | {"form": "individual"}, CONTRADICTION),
        (FULL | {"label": "are"}, OTHER_LABEL),
        (FULL | {"label": "Young men"}, QUOTE),
        (FULL | {"information": "are the best"}, QUOTE),
        (FULL | {"target": "everyone"}, SCHEMA),
        (FULL | {"score": 1}, SCHEMA),
    ],
)
def test_the_heads_decide_after_a_rejected_answer(answer: dict[str, Any], reason: str) -> None:
    asker = Says(lambda data: answer)
    judged = TieredScorer(SCORER, asker, select_all).judge([SENTENCE], [LABELS])[0]
    assert (judged.value, judged.origin, judged.reason) == (
        SCORER.indicators([SENTENCE], [LABELS])[0],
        "fallback",
        reason,
    )
    assert asker.rejected == {reason: 1}


def test_indicators_rest_on_the_sentences_words() -> None:
    found = CHECKING.check(SENTENCE, LABELS, dict(FULL))
    words = {
        name: [SENTENCE[start:end] for start, end in one.words] for name, one in found.found.items()
    }
    assert words["label"] == words["target"] == ["Old men"]
    assert words["content"] == words["situation"] == ["are lazy"]
    assert found.to_json()["indicators"]["target"]["value"] == "generic target"
    assert any("Old men" in reason for reason in found.reasons())


def test_names_and_values_equal_those_of_the_heads() -> None:
    """The answer has the stance and all else that the heads find in a sentence."""
    own = SCORER.indicators([SENTENCE], [LABELS])[0]
    assert own is not None
    found = CHECKING.check(SENTENCE, LABELS, dict(FULL))
    assert set(found.found) >= set(own.found)
    for name in ("stance", "strength"):
        assert found.found[name] == own.found[name]
    agreeing = ("label", "target", "situation", "evaluation")
    assert [found.found[name].value for name in agreeing] == [
        own.found[name].value for name in agreeing
    ]


def test_the_model_can_judge_what_the_heads_cannot() -> None:
    sentence = "Пожилые мужчины упрямы."
    answer = FULL | {"label": "Пожилые мужчины", "information": "упрямы"}
    for select, known in ((selection("embedded", (0, 1)), False), (select_all, True)):
        found = TieredScorer(SCORER, Says(lambda data: answer), select).indicators(
            [sentence], [[]]
        )[0]
        assert (found is not None) == known


@pytest.mark.parametrize("number", range(len(loader.load("indicators").examples)))
def test_the_prompts_own_examples_pass(number: int) -> None:
    slots, answer = loader.load("indicators").examples[number]
    found = CHECKING.check(str(slots["sentence"]), [], dict(answer))
    assert (found.found["label"].value == "yes") == answer["has_label"]
