"""The LLM as detector: which answers to the six questions are consistent, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_answers import stereotype
from scripted_asker import Says

from evenflow.prompts import loader
from evenflow.transforms.llm.cascade import Labels, select_all
from evenflow.transforms.llm.questions import (
    CONTRADICTION,
    LONGEST_SENTENCE,
    OTHER_LABEL,
    QUOTE,
    SCHEMA,
    TOO_LONG,
    RejectedError,
)
from evenflow.transforms.measures.stereotypes import detect
from evenflow.transforms.measures.stereotypes.llm_detector import (
    TieredDetector,
    about_sentence,
    label_span,
)

SENTENCE = "Old men are stubborn."
YES = stereotype("Old men", "are stubborn")
NOBODY = dict.fromkeys(YES) | {"mentions_group": False, "stereotype": False}


class Half:
    """Gives every sentence the same probability; cannot judge an empty one."""

    def detect(self, sentences: Sequence[str], labels: Sequence[Labels]) -> list[float | None]:
        """One half for each sentence."""
        return [0.5 if sentence else None for sentence in sentences]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (YES, 0.5),  # it flags, and the embedded model says how likely
        (YES | {"belief": False, "stereotype": False}, 0.0),
        (YES | {"trait": False, "stereotype": False}, 0.0),
        (YES | {"said": None, "trait": False, "stereotype": False}, 0.0),
        (NOBODY, 0.0),
        (YES | {"stereotype": False}, CONTRADICTION),
        (YES | {"belief": False}, CONTRADICTION),
        (YES | {"trait": False}, CONTRADICTION),
        (YES | {"said": None}, CONTRADICTION),
        (YES | {"label": None}, CONTRADICTION),
        (YES | {"belief": None, "stereotype": False}, CONTRADICTION),
        (YES | {"mentions_group": False}, CONTRADICTION),
        (NOBODY | {"stereotype": True}, CONTRADICTION),
        (NOBODY | {"label": "Old men"}, CONTRADICTION),
        (NOBODY | {"trait": False}, CONTRADICTION),
        (YES | {"label": "are"}, OTHER_LABEL),
        (YES | {"label": "Old women"}, QUOTE),
        (YES | {"label": ""}, QUOTE),
        (YES | {"label": "men are stub"}, QUOTE),
        (YES | {"said": "are rude"}, QUOTE),
        (YES | {"stereotype": "yes"}, SCHEMA),
        (YES | {"why": "because"}, SCHEMA),
        ({}, SCHEMA),
    ],
)
def test_answers(answer: dict[str, Any], outcome: float | str) -> None:
    asker = Says(lambda data: answer)
    judged = TieredDetector(Half(), asker, select_all).judge([SENTENCE], [[(0, 7, "age")]])[0]
    if isinstance(outcome, str):
        assert (judged.value, judged.origin, judged.reason) == (0.5, "fallback", outcome)
        assert asker.rejected == {outcome: 1}
    else:
        assert (judged.value, judged.origin, judged.reason) == (outcome, "model", "")


@pytest.mark.parametrize("number", range(len(loader.load("stereotypes").examples)))
def test_the_prompts_own_examples_pass(number: int) -> None:
    slots, answer = loader.load("stereotypes").examples[number]
    flags = (
        TieredDetector(Half(), Says(lambda data: {}), select_all).check(
            str(slots["sentence"]), [], dict(answer)
        )
        >= detect.THRESHOLD
    )
    assert flags == answer["stereotype"]


def test_the_question_names_attributes_and_labels_once() -> None:
    question = about_sentence(
        "stereotypes", SENTENCE, [(4, 7, "gender"), (0, 3, "age"), (0, 7, "age")]
    )
    assert question is not None
    assert json.loads(question.messages[-1]["content"]) == {
        "sentence": SENTENCE,
        "attributes": ["age", "gender"],
        "listed": ["Old", "Old men", "men"],
    }
    assert question.digest == loader.load("stereotypes").digest


@pytest.mark.parametrize(
    ("quote", "labels", "said"),
    [
        ("a man", [], (0, 5)),
        ("a man", [(22, 25, "gender")], (20, 25)),
        ("man", [(2, 5, "gender"), (22, 25, "gender")], (2, 5)),
        ("knows", [], (6, 11)),
    ],
)
def test_the_label_is_where_a_listed_one_is(
    quote: str, labels: Labels, said: tuple[int, int]
) -> None:
    assert label_span("A man knows what if a man does not", labels, quote) == said


def test_the_embedded_model_decides_on_a_long_sentence() -> None:
    asker = Says(lambda data: YES)
    judged = TieredDetector(Half(), asker, select_all).judge(["a" * (LONGEST_SENTENCE + 1)], [[]])
    assert (judged[0].value, judged[0].reason) == (0.5, TOO_LONG)
    assert not asker.asked


BOOLEANS = st.none() | st.booleans()
QUOTES = st.none() | st.sampled_from(("Old men", "stubborn", "rude", ""))


@given(st.tuples(st.booleans(), QUOTES, BOOLEANS, QUOTES, BOOLEANS, st.booleans()))
def test_what_passes_is_consistent(parts: tuple[Any, ...]) -> None:
    answer = dict(zip(YES, parts, strict=True))
    try:
        value = TieredDetector(Half(), Says(lambda data: {}), select_all).check(
            SENTENCE, [], answer
        )
    except RejectedError:
        return
    assert (
        (value > 0)
        == bool(answer["mentions_group"] and answer["belief"] and answer["trait"])
        == answer["stereotype"]
    )
    assert all(answer[name] is None or answer[name] in SENTENCE for name in ("label", "said"))
