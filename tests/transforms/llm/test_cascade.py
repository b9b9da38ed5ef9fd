"""Two tiers: which items each mode asks about, and which tier's value is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from scripted_asker import NO_ANSWER, Says
from substitution_questions import about

from evenflow.transforms.llm.cascade import Labels, Select, Tiered, Unsure, select_all, selection
from evenflow.transforms.llm.questions import QUOTE, Question, RejectedError

SCORES = [0.1, 0.52, None, 0.9, 0.4, 0.5]


@pytest.mark.parametrize(
    ("select", "asked"),
    [
        (selection("embedded", (0.3, 0.6)), []),
        (selection("cascade", (0.3, 0.6)), [1, 4, 5]),
        (selection("llm", (0.3, 0.6)), [0, 1, 2, 3, 4, 5]),
        (Unsure(0.5, 0.5), [5]),
        (Unsure(0, 1), [0, 1, 3, 4, 5]),
    ],
)
def test_selection(select: Select, asked: list[int]) -> None:
    assert list(select(SCORES)) == asked


class Verdicts(Tiered[int]):
    """Asks whether a sentence is valid; the value counts its letters."""

    def embedded(self, sentences: Sequence[str], labels: Sequence[Labels]) -> list[int | None]:
        """The length of each sentence; None for "unknown"."""
        return [None if sentence == "unknown" else len(sentence) for sentence in sentences]

    def score(self, value: int) -> float:
        """A tenth of it."""
        return value / 10

    def question(self, sentence: str, labels: Labels) -> Question | None:
        """A question; none about an empty sentence."""
        return about("", sentence) if sentence else None

    def check(self, sentence: str, labels: Labels, value: dict[str, Any]) -> int:
        """A value above 100; rejects what is invalid."""
        if value["verdict"] == "INVALID":
            raise RejectedError(QUOTE)
        return 100 + len(sentence) + len(labels)


def reply(data: Any) -> Any:
    """A verdict; no answer about "silent"."""
    return (
        None
        if data["sentence"] == "silent"
        else {
            "who": "anybody",
            "reason": "none",
            "verdict": "INVALID" if data["sentence"] == "wrong" else "VALID",
        }
    )


def test_values_come_from_the_tier_that_could_judge() -> None:
    tiers = Verdicts(None, Says(reply), select_all)
    sentences = ["right", "wrong", "silent", "", "unknown"]
    judged = tiers.judge(sentences, [[(0, 5, "gender")], [], [], [], []])
    assert [(each.value, each.origin, each.reason) for each in judged] == [
        (106, "model", ""),
        (5, "fallback", QUOTE),
        (6, "fallback", NO_ANSWER),
        (0, "fallback", "sentence too long"),
        (107, "model", ""),
    ]


def test_what_is_not_selected_stays_embedded() -> None:
    asker = Says(reply)
    judged = Verdicts(None, asker, Unsure(0.5, 0.6)).judge(["ab", "right", "unknown"], [[], [], []])
    assert [(each.value, each.origin) for each in judged] == [
        (2, "embedded"),
        (105, "model"),
        (None, "embedded"),
    ]
    assert len(asker.asked) == 1
