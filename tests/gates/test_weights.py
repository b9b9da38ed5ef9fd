"""Words for what weights reach and what holds them back."""

from __future__ import annotations

import pytest

from evenflow.gates import weights as words
from evenflow.schemas.ledger import KeptTotal, Verdict, WeighedAttribute, Weights


def record(after: float | None = 0.361, proven: float = 0.354, **more: object) -> Weights:
    one = WeighedAttribute(before=0.393, after=after, least=proven, proven=proven, wider=0.32)
    values = {
        **{"documents": 100, "total": 100.0, "squares": 150.0, "least": 0.25, "greatest": 4.0},
        **{"profiles": 9, "limit": 4.0, "floor": 0.7, "attributes": {"religion": one}},
    }
    return Weights.model_validate(values | more)


def test_the_effective_sample():
    assert record().effective == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        (record(0.0001, 0.0), None),
        (record(None), "nothing is named"),
        (record(), "no weights up to 4 bring it below 0.354, up to 6 it could fall to 0.320"),
        (record(), "the targets of the other attributes hold it there"),
        (record(0.3541), "below 0.354"),
        (record(0.2, 0.0), "weights up to 4 could meet its target"),
        (record(0.2, 0.0, held=True), "the floor of the effective sample, 0.7, holds it there"),
        (record(problem="a and b contradict"), "keep weight 1: a and b contradict"),
    ],
)
def test_why_a_target_is_not_met(weights, text):
    found = words.unmet("religion", weights)
    assert found is None if text is None else text in found
    assert words.unmet("gender", weights) is None


def test_what_a_further_step_would_bring():
    kept = [
        KeptTotal(name="the share of source a", low=0.9, value=1.1, high=1.1, price=0.003),
        KeptTotal(name="the length of the texts", low=0.97, value=1.0, high=1.03, price=0.0),
    ]
    found = list(words.constraints(record(kept=kept, limit_price=0.05)))
    assert found == [
        "a weight limit greater by 1 than 4 would lower the sum of DR by about 0.050",
        "the share of source a may not move further (now +10.0%); a further 1 % of it would lower"
        " the sum of DR by about 0.003",
    ]


def test_a_verdict_says_what_weights_could_not_do():
    warned = Verdict(state="warn", reason="too high")
    assert "below 0.354" in words.explained(warned, "religion", record()).reason
    opened = Verdict(state="open", reason="fine")
    assert words.explained(opened, "religion", record()) is opened
