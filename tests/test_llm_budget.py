"""Budgets, and one batch in the place of many single questions."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_asker import Says
from test_llm_questions import about

from evenflow.transforms.counterfactuals import rewrite
from evenflow.transforms.llm.llm_budget import SPENT, Allowance, Frugal, rehearsed
from evenflow.transforms.llm.llm_judges import LlmJudge
from evenflow.transforms.llm.llm_questions import Asker
from evenflow.wordlists import loader

GENDER = loader.load("gender")
TEXT = "My sister sang. Your uncle danced. A nun met my brother."


def valid(data: object) -> dict[str, object]:
    return {"grammar": True, "facts": True, "verdict": "VALID"}


@given(st.integers(0, 20), st.lists(st.integers(0, 8)))
def test_no_more_is_granted_than_there_is(requests: int, wants: list[int]) -> None:
    allowance = Allowance(requests)
    granted = [allowance.take(wanted) for wanted in wants]
    assert all(0 <= got <= wanted for got, wanted in zip(granted, wants, strict=True))
    assert sum(granted) == min(requests, sum(wants))
    assert allowance.left == requests - sum(granted)


def test_threads_share_an_allowance() -> None:
    allowance = Allowance(500)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(allowance.take, [1] * 2000)) == 500


def test_a_negative_allowance_is_refused() -> None:
    with pytest.raises(ValueError, match="requests -1"):
        Allowance(-1)


@pytest.mark.parametrize("requests", [0, 1, 3, 5, 9])
def test_the_first_are_asked_until_the_allowance_is_spent(requests: int) -> None:
    asker = Says(valid)
    frugal = Frugal(asker, Allowance(requests))
    answers = [*frugal.ask([about("a", str(number)) for number in range(3)]), *frugal.ask([about("b", "1"), about("b", "2")])]
    assert [each.reason for each in answers] == [""] * min(5, requests) + [SPENT] * max(0, 5 - requests)
    assert len(asker.asked) == min(5, requests)


def last(data: Mapping[str, Any]) -> dict[str, object]:
    """Chooses the last candidate, and finds every sentence right."""
    return {"choice": data["candidates"][-1]} if "candidates" in data else valid(data)


def work(asker: Asker) -> str:
    return rewrite(TEXT, [GENDER], "gender", tier=LlmJudge(asker)).text


def test_a_rehearsal_asks_once_and_changes_nothing() -> None:
    """A batch for what can be asked at once, another for the sentences whose words were chosen."""
    single, batched = Says(last), Says(last)
    assert rehearsed(work, batched) == work(single) != TEXT
    assert len(single.calls) > 2
    assert [{each.prompt for each in call} for call in batched.calls] == [{"counterpart", "substitution"}, {"substitution"}]
    assert {each.key for each in batched.asked} == {each.key for each in single.asked}


def test_a_rehearsals_verdicts_count() -> None:
    asker = Says(lambda data: {"grammar": True, "facts": False, "verdict": "INVALID"})
    assert rehearsed(work, asker) == TEXT


def test_without_questions_work_is_done_once() -> None:
    seen: list[Asker] = []
    asker = Says(valid)
    rehearsed(seen.append, asker)
    assert len(seen) == 1
    assert not asker.calls


def test_a_budget_holds_in_a_rehearsal() -> None:
    asker = Says(valid)
    allowance = Allowance(1)
    rehearsed(work, Frugal(asker, allowance))
    assert len(asker.asked) == 1
    assert allowance.left == 0
