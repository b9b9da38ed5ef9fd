"""What weights did, as data and lines: DR as it came, after exchange, after weights."""

from __future__ import annotations

from pane_entries import attribute_entry

from evenflow.gates.ledger.totals import AttributeTotals, Totals, WeightTotals
from evenflow.gates.metrics.families import of_sums
from evenflow.gates.weights import lines, summary
from evenflow.schemas.ledger import STATES, Score, Sums, Verdict
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
    last = attribute_entry(sums(30, 50), SCORE, verdict=Verdict(state="open", reason="fine"))
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
        "gender: DR 0.250 as it came, 0.125 after weights",
        "  weights bring DR to 0.100; no weights up to 4 bring it below 0.050; the targets of the"
        " other attributes hold it there",
    ]


def test_an_attribute_that_is_named_less_is_said():
    less = totals()
    less.attributes["gender"].weighed = sums(20, 32)
    found = summary(less)
    said = (
        "mentions of gender weigh 0.65 on average: a part of its fall in DR is that it is named"
        " less (repair.least_mentions)"
    )
    assert found["attributes"]["gender"]["forgotten"] == said
    assert f"  {said}" in lines(found)


def test_the_range_is_that_of_all_accepted_panes():
    found, record = Totals(), totals().weights.last
    for least, greatest, accepted in ((0.4, 1.9, True), (0.2, 9.0, False), (1.0, 1.0, True)):
        found._weigh(record.model_copy(update={"least": least, "greatest": greatest}), accepted)
    assert next(lines(summary(found))).startswith("weights from 0.40 to 1.90:")


def test_the_metrics_have_the_effective_sample():
    found = {
        sample.name: sample.value
        for family in of_sums(totals(), None, {})
        for sample in family.samples
    }
    assert found["evenflow_effective_sample_ratio"] == 0.8
    none = of_sums(Totals(), None, {})
    assert not [one for each in none if "effective" in each.name for one in each.samples]
