"""The LLM as judge of substitutions: its choices, rejected answers, and who decides then."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_asker import NO_ANSWER, Says

from evenflow.transforms.llm.answers import (
    CONTRADICTION,
    LONGEST_SENTENCE,
    OTHER_WORDS,
    SCHEMA,
    TOO_LONG,
)
from evenflow.transforms.llm.budget import QuestionCollector
from evenflow.transforms.llm.cascade import Unsure, select_none
from evenflow.transforms.llm.judges import BY_MODEL, LlmJudge
from evenflow.transforms.llm.questions import Asker
from evenflow.transforms.substitution.judges import Chosen, Embedded, Slot, SubstitutionJudge

CANDIDATES = ("groom", "husband", "men")


def place(number: int = 0) -> Slot:
    """A place with three candidates in a document of a number."""
    return Slot(f"The bride sang {number} songs.", 4, 9, CANDIDATES, key=f"document {number}")


def always(asker: Asker) -> LlmJudge:
    """A judge that asks about every place."""
    return LlmJudge(asker, by_model=1)


def test_it_is_a_judge() -> None:
    judge: SubstitutionJudge = LlmJudge(Says(lambda data: None))
    assert judge.judge_substitution("He sang.", "She sang.") is None


@pytest.mark.parametrize(
    ("said", "chosen", "reason"),
    [
        ("husband", "husband", ""),
        (" Husband ", "husband", ""),
        ("a husband", "husband", ""),
        (None, None, ""),
        ("wife", "groom", OTHER_WORDS),
        ("", "groom", OTHER_WORDS),
        ("husband sang badly", "groom", OTHER_WORDS),
        ("The husband", "groom", OTHER_WORDS),
        (3, "groom", SCHEMA),
        (["husband"], "groom", SCHEMA),
        ("husband" * 100, "groom", SCHEMA),
    ],
)
def test_only_a_candidate_is_chosen(said: Any, chosen: str | None, reason: str) -> None:
    judge = always(Says(lambda data: {"choice": said}))
    assert judge.choose_counterpart(place()) == Chosen(chosen)
    assert judge.choices.to_json()["rejected"] == ({reason: 1} if reason else {})
    assert judge.choices.accepted == (not reason)


def test_the_question_holds_the_place() -> None:
    asker = Says(lambda data: {"choice": "men"})
    always(asker).choose_counterpart(place(7))
    assert json.loads(asker.asked[0].messages[-1]["content"]) == {
        "sentence": "The bride sang 7 songs.",
        "before": "The ",
        "word": "bride",
        "after": " sang 7 songs.",
        "candidates": list(CANDIDATES),
    }


def test_a_fifth_is_drawn_and_always_the_same() -> None:
    places = [place(number) for number in range(2000)]
    asker = Says(lambda data: {"choice": None})
    chosen = [each.word for each in LlmJudge(asker).choose_counterparts(places)]
    drawn = [word for word in chosen if word is not None]
    share = len(asker.asked) / len(places)
    assert abs(share - BY_MODEL) < 4 * (BY_MODEL * (1 - BY_MODEL) / len(places)) ** 0.5
    for candidate in CANDIDATES:
        assert abs(drawn.count(candidate) / len(drawn) - 1 / 3) < 4 * (2 / 9 / len(drawn)) ** 0.5
    assert [
        each.word
        for each in LlmJudge(Says(lambda data: {"choice": None})).choose_counterparts(places)
    ] == chosen
    other = LlmJudge(Says(lambda data: {"choice": None}), seed=1).choose_counterparts(places)
    assert [each.word for each in other] != chosen


def test_a_draw_depends_only_on_seed_document_and_set() -> None:
    """A set is drawn for or asked about as a whole, over sentences; a word gets one draw."""
    judge = LlmJudge(Says(lambda data: {"choice": "men"}), by_model=0.5)
    for number in range(50):
        places = [place(number), place(number)._replace(sentence="Her bride.", confidence=0.6)]
        first, second = judge.choose_counterparts(places)
        assert first == second
    drawn = {judge.choose_counterpart(place(number)).word for number in range(50)}
    assert drawn == set(CANDIDATES)


def test_sure_places_are_neither_asked_about_nor_drawn() -> None:
    asker = Says(lambda data: {"choice": "men"})
    judge = LlmJudge(asker, select=Unsure(0.2, 0.8), by_model=0)
    sure = [judge.choose_counterpart(place(number)) for number in range(50)]
    unsure = [
        judge.choose_counterpart(place(number)._replace(confidence=0.6)) for number in range(50)
    ]
    assert {each.word for each in sure} == {CANDIDATES[0]}
    assert {each.word for each in unsure} == set(CANDIDATES)
    assert not asker.asked


def test_a_deferred_choice_is_not_settled() -> None:
    collector = QuestionCollector({})
    assert always(collector).choose_counterpart(place()) == Chosen("groom", settled=False)
    [question] = collector.deferred.values()
    known = {question.key: Says(lambda data: {"choice": "men"}).ask([question])[0]}
    assert always(QuestionCollector(known)).choose_counterpart(place()) == Chosen("men")


def test_an_answer_is_worth_more_for_a_less_sure_substitution() -> None:
    collector = QuestionCollector({})
    judge = always(collector)
    judge.choose_counterpart(place(1)._replace(confidence=0.9))
    judge.choose_counterpart(place(2)._replace(confidence=0.6))
    judge.judge_substitution("He sang.", "She sang.", 0.7)
    assert [round(each.worth, 6) for each in collector.deferred.values()] == [0.6, 0.9, 0.8]


@pytest.mark.parametrize(("candidates", "chosen"), [((), None), (("groom",), "groom")])
def test_without_a_choice_nothing_is_asked(candidates: tuple[str, ...], chosen: str | None) -> None:
    asker = Says(lambda data: {"choice": None})
    assert always(asker).choose_counterpart(Slot("The bride sang.", 4, 9, candidates)) == Chosen(
        chosen
    )
    assert not asker.asked


@pytest.mark.parametrize(
    ("answer", "verdict", "reason"),
    [
        ({"grammar": True, "facts": True, "verdict": "VALID"}, 1.0, ""),
        ({"grammar": True, "facts": False, "verdict": "INVALID"}, 0.0, ""),
        ({"grammar": False, "facts": False, "verdict": "INVALID"}, 0.0, ""),
        ({"grammar": True, "facts": True, "verdict": "INVALID"}, None, CONTRADICTION),
        ({"grammar": False, "facts": True, "verdict": "VALID"}, None, CONTRADICTION),
        ({"grammar": True, "facts": True, "verdict": "PERHAPS"}, None, SCHEMA),
        ({"grammar": 1, "facts": 1, "verdict": "VALID"}, None, SCHEMA),
        ({"grammar": True, "facts": True, "verdict": "VALID", "text": "better"}, None, SCHEMA),
        ({}, None, SCHEMA),
    ],
)
def test_verdicts(answer: dict[str, Any], verdict: float | None, reason: str) -> None:
    judge = LlmJudge(Says(lambda data: answer))
    assert judge.judge_substitution("His aunt sang.", "His uncle sang.") == verdict
    assert judge.verdicts.to_json() == {
        "questions": 1,
        "accepted": int(not reason),
        "rejected": {reason: 1} if reason else {},
        "fallbacks": {},
    }


def test_no_answer_is_a_counted_fallback() -> None:
    judge = always(Says(lambda data: None))
    assert judge.choose_counterpart(place()) == Embedded().choose_counterpart(place())
    assert judge.judge_substitution("a", "b") is None
    assert judge.choices.fallbacks == judge.verdicts.fallbacks == {NO_ANSWER: 1}


def test_a_long_sentence_is_not_asked_about() -> None:
    asker = Says(lambda data: {"choice": "men"})
    judge = always(asker)
    long = "a" * LONGEST_SENTENCE + " bride"
    assert judge.choose_counterpart(
        Slot(long, LONGEST_SENTENCE + 1, LONGEST_SENTENCE + 6, CANDIDATES)
    ) == Chosen("groom")
    assert judge.judge_substitution(long, "short") is None
    assert not asker.asked
    assert judge.choices.fallbacks == judge.verdicts.fallbacks == {TOO_LONG: 1}


def test_modes() -> None:
    pairs = [("I saw him.", "I saw her."), ("His aunt.", "His uncle.")]
    for select, expected in ((select_none, [None, None]), (Unsure(0.2, 0.8), [None, 0])):
        judge = LlmJudge(
            Says(lambda data: {"grammar": False, "facts": True, "verdict": "INVALID"}),
            select=select,
        )
        assert judge.judge_substitutions(pairs, [1.0, 0.3]) == expected


def test_an_unchanged_sentence_is_not_asked_about() -> None:
    asker = Says(lambda data: None)
    assert LlmJudge(asker).judge_substitution("It rained.", "It rained.") is None
    assert not asker.asked


def test_a_share_outside_0_to_1_is_refused() -> None:
    with pytest.raises(ValueError, match=r"by_model 1\.5"):
        LlmJudge(Says(lambda data: None), by_model=1.5)


@given(st.text(), st.lists(st.text(), min_size=2), st.text() | st.none() | st.integers())
def test_any_answer_gives_a_candidate(sentence: str, candidates: list[str], said: Any) -> None:
    place = Slot(sentence, 0, len(sentence), candidates)
    chosen = always(Says(lambda data: {"choice": said})).choose_counterpart(place).word
    assert chosen in candidates if said is not None else chosen is None
