"""What weights did, as data and lines: DR as it came, after exchange, after weights."""

from __future__ import annotations

from evenflow.gates.ledger.totals import AttributeTotals, Totals, WeightTotals
from evenflow.gates.metrics import repair as metrics
from evenflow.pipelines.terminal.weights import lines, summary
from evenflow.schemas.ledger import STATES, AttributeEntry, Score, Sums, Verdict
from evenflow.schemas.ledger import Weights as Record

SCORE = Score(dr=0.0, corrected=0.0, low=0.0, high=0.0, mentions=0, documents=0)


def sums(*counts: float) -> Sums:
    return Sums(documents=40, counts=list(counts), products=[[90.0, 1.0], [1.0, 90.0]])


def totals() -> Totals:
    record = Record(
        **{"documents": 40, "total": 40.0, "squares": 50.0, "least": 0.5, "greatest": 2.0},
        **{"profiles": 2, "limit": 4.0, "floor": 0.7},
        attributes={"gender": {"before": 0.3, "after": 0.1, "least": 0.05, "proven": 0.05}},
    )
    last = AttributeEntry(
        groups=["female", "male"],
        target=[0.5, 0.5],
        sums=sums(30, 50),
        pane=SCORE,
        rolling=SCORE,
        cumulative=SCORE,
        verdict=Verdict(state="open", reason="fine"),
        relevant_sentences=1,
        labels={},
        heavy=[],
    )
    gender = AttributeTotals(
        last=last,
        sums=sums(30, 50),
        accepted=sums(30, 50),
        states=dict.fromkeys(STATES, 0),
        unweighted=sums(20, 60),
        weighed=sums(30, 50),
    )
    weights = WeightTotals(last=record, documents=40, total=40.0, squares=50.0)
    return Totals(attributes={"gender": gender}, weights=weights)


def test_each_step_has_its_dr_and_its_cost():
    assert summary(Totals()) is None
    found = summary(totals())
    assert found["effective"] == 0.8 and found["design_effect"] == 1.25
    own = found["attributes"]["gender"]
    assert own["came"]["dr"] == 0.25 and own["weighed"]["dr"] == 0.125
    assert own["exchanged"] is None and own["asked"]
    assert list(lines(found)) == [
        "weights from 0.50 to 2.00: effective sample 80%, design effect 1.25",
        "gender: DR 0.2500 as it came, 0.1250 after weights",
        "  weights bring DR to 0.100; no weights up to 4 bring it below 0.050; the targets of the"
        " other attributes hold it there",
    ]


def test_the_metrics_have_the_effective_sample():
    found = {
        sample.name: sample.value
        for family in metrics.families(totals())
        for sample in family.samples
    }
    assert found["evenflow_effective_sample_ratio"] == 0.8
    assert found["evenflow_design_effect"] == 1.25 and found["evenflow_dr_least"] == 0.05
    assert not [one for each in metrics.families(Totals()) for one in each.samples]
