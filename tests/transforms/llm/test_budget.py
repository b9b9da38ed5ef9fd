"""One batch in place of many single questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scripted_asker import Says

from evenflow.transforms.llm.budget import ask_in_rounds
from evenflow.transforms.llm.judges import LlmJudge
from evenflow.transforms.llm.questions import Asker
from evenflow.transforms.substitution.counterfactuals import rewrite
from evenflow.wordlists import loader

GENDER = loader.load("gender")
TEXT = "My sister sang. Your uncle danced. A nun met my brother."


def valid(data: object) -> dict[str, object]:
    """An answer that finds a sentence right."""
    return {"grammar": True, "facts": True, "verdict": "VALID"}


def last(data: Mapping[str, Any]) -> dict[str, object]:
    """An answer that chooses the last candidate, or finds a sentence right."""
    return {"choice": data["candidates"][-1]} if "candidates" in data else valid(data)


def work(asker: Asker) -> str:
    """Rewrites the text with the LLM as judge."""
    return rewrite(TEXT, [GENDER], "gender", tier=LlmJudge(asker)).text


def test_rounds_ask_in_batches_and_give_the_same_result() -> None:
    """A batch for what can be asked at once, another for the sentences whose words were chosen."""
    single, batched = Says(last), Says(last)
    assert ask_in_rounds(work, batched) == work(single) != TEXT
    assert len(single.calls) > 2
    assert [{each.prompt for each in call} for call in batched.calls] == [
        {"counterpart", "substitution"},
        {"substitution"},
    ]
    assert {each.key for each in batched.asked} == {each.key for each in single.asked}


def test_verdicts_of_rounds_count() -> None:
    asker = Says(lambda data: {"grammar": True, "facts": False, "verdict": "INVALID"})
    assert ask_in_rounds(work, asker) == TEXT


def test_work_without_questions_runs_once() -> None:
    seen: list[Asker] = []
    asker = Says(valid)
    ask_in_rounds(seen.append, asker)
    assert len(seen) == 1
    assert not asker.calls
