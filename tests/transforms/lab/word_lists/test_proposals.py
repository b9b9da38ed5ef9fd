"""Proposals of a language model, counterparts by vectors, and the checks by criteria."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scripted_asker import Says

from evenflow.transforms.lab.word_lists import criteria, proposals
from evenflow.transforms.lab.word_lists.criteria import KnownWords
from evenflow.transforms.lab.word_lists.proposals import ProposalError, WordSpace
from evenflow.transforms.measures.bias_score.vectors import Vectors

SEEDS = {"female": ["woman", "mother", "girl"], "male": ["man", "father", "boy"]}


def test_counterparts_by_analogy() -> None:
    rows = np.eye(4, dtype=np.float32)
    # Axes: female, male, royal, young
    words = {"woman": [1, 0, 0, 0], "man": [0, 1, 0, 0], "queen": [1, 0, 1, 0]}
    words |= {"king": [0, 1, 1, 0], "lass": [1, 0, 0, 1], "lad": [0, 1, 0, 1]}
    rows = np.array(list(words.values()), np.float32)
    space = WordSpace(Vectors("test", list(words), 4, "", lambda a, b: rows[a:b]))
    seeds = {"female": ["woman"], "male": ["man"]}
    found = proposals.counterparts(space, seeds, {"female": ["queen", "lass", "unknown"]})
    assert found == {"queen": {"male": "king"}, "lass": {"male": "lad"}}
    with pytest.raises(ProposalError, match="no seed word of male has a vector: שלום"):
        proposals.counterparts(space, seeds | {"male": ["שלום"]}, {"female": ["queen"]})


def test_a_model_is_asked_in_runs_and_duplicates_are_folded() -> None:
    def reply(data: Mapping[str, Any]) -> Any:
        if data["run"] == "2":
            return None
        return {"words": ["Nun", "nun", " abbess ", "🙂", "", f"{data['group']} {data['run']}"]}

    asker = Says(reply)
    found = proposals.ask(asker, "gender", SEEDS, runs=3, words=6)
    assert len(asker.asked) == 6 and len({each.key for each in asker.asked}) == 6
    assert [each.word for each in found.proposals["male"]] == ["nun", "abbess", "male 1", "male 3"]
    assert found.answers == 4 and found.failed == {"unreachable": 2} and found.unusable == 8
    with pytest.raises(ProposalError, match="no question: 6 of unreachable"):
        proposals.ask(Says(lambda _: None), "gender", SEEDS, runs=3, words=6)


@pytest.mark.parametrize(
    ("word", "criterion"),
    [
        ("quickly", "Q1"),
        ("xqzzt", "Q2"),
        ("pope", "Q3"),
        ("nurse", "Q4"),
        ("male developer", "Q5"),
        ("Janet", "Q6"),
        ("woman", None),
    ],
)
def test_criteria(word: str, criterion: str | None) -> None:
    context = KnownWords(
        groups={"male": frozenset({"male"}), "pope": frozenset({"a", "b"})},
        known=frozenset(("quickly", "pope", "nurse", "male developer", "janet", "woman")),
        associations={"nurse": "profession"},
    )
    found = criteria.check(word, context)
    assert [each.criterion for each in found][:1] == ([criterion] if criterion else [])
    assert all(each.reason and 0 < each.probability < 1 for each in found)
