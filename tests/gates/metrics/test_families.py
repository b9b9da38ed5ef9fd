"""Metrics from the ledger's sums, the configuration and the present."""

from __future__ import annotations

import pytest
from metric_samples import of
from report_ledgers import entries

from evenflow.gates.metrics.now import BOUNDS, Latencies, Now
from evenflow.schemas.config import load
from evenflow.schemas.ledger import Filtered, Position, Repair, StreamPane, Verdict
from evenflow.transforms.llm.client.stats import Reply, Stats
from evenflow.transforms.measures.stereotypes.measure import Stereotypes


def test_counters_are_the_sums_of_the_ledger() -> None:
    panes = entries(30)
    found = of(panes)
    for state in ("open", "warn", "block"):
        assert found["evenflow_panes_total", (("verdict", state),)] == sum(
            each.verdict.state == state for each in panes
        )
    accepted = sum(each.documents for each in panes if each.folder == "accepted")
    aside = sum(each.set_aside.rows for each in panes if each.set_aside is not None)
    fates = {
        fate: found["evenflow_documents_total", (("fate", fate),)]
        for fate in ("accepted", "quarantined", "dead")
    }
    assert fates["accepted"] == accepted
    assert fates["quarantined"] == sum(each.documents for each in panes) - accepted + aside
    assert fates["dead"] == sum(each.dead for each in panes) > 0
    assert found["evenflow_bytes_total", ()] == sum(each.input_bytes for each in panes)
    dead = {
        labels: value
        for (name, labels), value in found.items()
        if name == "evenflow_dead_letters_total"
    }
    assert sum(dead.values()) == sum(sum(each.dead_reasons.values()) for each in panes)


def test_scores_are_those_of_the_last_pane() -> None:
    panes = entries(5)
    found = of(panes)
    for name, each in panes[-1].attributes.items():
        for window, score in (
            ("pane", each.pane),
            ("rolling", each.rolling),
            ("cumulative", each.cumulative),
        ):
            labels = (("attribute", name), ("window", window))
            told = [found["evenflow_dr" + end, labels] for end in ("", "_low", "_high")]
            assert told == [score.dr, score.low, score.high]


def test_no_score_is_no_sample_and_no_pane_is_zero() -> None:
    [entry] = entries(1)
    gender = entry.attributes["gender"]
    nothing = gender.pane.model_copy(update={"dr": None, "low": None, "high": None})
    entry = entry.model_copy(
        update={"attributes": {"gender": gender.model_copy(update={"pane": nothing})}}
    )
    labels = (("attribute", "gender"), ("window", "pane"))
    assert ("evenflow_dr", labels) not in of([entry])
    assert of([])["evenflow_panes_total", (("verdict", "block"),)] == 0


def llm() -> Stats:
    """What some questions to an LLM cost."""
    stats = Stats()
    for seconds in (0.003, 0.2, 0.9, 5.0):
        stats.note(Reply({}, "model", "", 50, seconds, 2))
    stats.note(Reply({}, "cache"))
    stats.note(Reply(None, "fallback", "unreachable", 0, 1.0, 3))
    stats.note(Reply(None, "fallback", "budget spent"))
    return stats


def test_what_a_language_model_cost() -> None:
    [entry] = entries(1)
    entry = entry.model_copy(update={"llm": {"stereotypes": llm().as_json()}})
    found = of([entry, entry])
    step = ("step", "stereotypes")
    outcomes = {
        outcome: found["evenflow_llm_requests_total", (("outcome", outcome), step)]
        for outcome in ("model", "cache", "fallback")
    }
    assert outcomes == {"model": 8, "cache": 2, "fallback": 4}
    assert found["evenflow_llm_http_requests_total", (step,)] == 22
    assert found["evenflow_llm_tokens_total", (step,)] == 400
    assert found["evenflow_llm_fallbacks_total", (("reason", "unreachable"), step)] == 2
    buckets = {
        labels[0][1]: value
        for (name, labels), value in found.items()
        if name == "evenflow_llm_latency_seconds_bucket"
    }
    assert buckets["+Inf"] == found["evenflow_llm_latency_seconds_count", (step,)] == 8
    assert [buckets[bound] for bound in ("0.002", "0.004", "0.256", "1.024", "8.192")] == [
        0,
        2,
        4,
        6,
        8,
    ]
    assert found["evenflow_llm_latency_seconds_sum", (step,)] == pytest.approx(2 * 6.103, rel=0.05)


def test_lag_is_since_the_newest_record_that_was_committed() -> None:
    [entry] = entries(1)
    times = {"0": Position(next=5, time=990_000), "1": Position(next=7, time=995_500)}
    stream = entry.model_copy(update={"stream": StreamPane(span=0, part=0, positions=times)})
    assert of([stream])["evenflow_lag_seconds", ()] == 4.5
    empty = entry.model_copy(update={"stream": StreamPane(span=1, part=0, positions={})})
    assert of([stream, empty])["evenflow_lag_seconds", ()] == 4.5
    assert ("evenflow_lag_seconds", ()) not in of([entry])


def test_ten_thousand_texts_of_documents_make_no_more_series() -> None:
    [entry] = entries(1)
    before = of([entry])
    for each in entry.attributes.values():
        each.labels = {f"label {number}": 1 for number in range(10_000)}
    entry.source = [
        entry.source[0].model_copy(update={"file": f"f{number}"}) for number in range(10_000)
    ]
    entry.verdict = Verdict(state="warn", reason="x" * 10_000)
    assert of([entry]).keys() == before.keys()


def test_states_thresholds_shares_and_since_when() -> None:
    own = {"attributes.age.block": 0.9, "attributes.gender.mode": None}
    config = load(None, {"gate.warn": 0.1, "alerts.dead_share": 0.2, **own})
    panes = entries(40)
    last = panes[-1].attributes["gender"]
    since = {"gender": 5.0, "age": 6.0}
    found = of(panes, Now(1000.0, held=True, since=since, pane_seconds=60), config)
    for state in ("open", "warn", "block"):
        key = (("attribute", "gender"), ("state", state))
        assert found["evenflow_verdict", key] == (state == last.verdict.state)
        told = found.get(("evenflow_verdict_since_timestamp_seconds", key))
        assert told == (5.0 if state == last.verdict.state != "open" else None)
        assert found["evenflow_pane_verdict", (("state", state),)] == (
            state == panes[-1].verdict.state
        )
    thresholds = {
        labels: value for (name, labels), value in found.items() if name == "evenflow_dr_threshold"
    }
    assert thresholds[("attribute", "gender"), ("level", "warn")] == 0.1
    assert thresholds[("attribute", "age"), ("level", "block")] == 0.9
    assert found["evenflow_dead_letter_threshold_ratio", ()] == 0.2
    assert found["evenflow_pane_overdue_threshold_seconds", ()] == 300
    counts = [sum(each.attributes["gender"].sums.counts[n] for each in panes) for n in range(2)]
    for group, count in zip(("female", "male"), counts, strict=True):
        place = (("attribute", "gender"), ("group", group))
        assert found["evenflow_mentions_total", place] == count
        assert found["evenflow_target_share_ratio", place] == 0.5
        share = found["evenflow_share_ratio", (*place, ("window", "cumulative"))]
        assert share == pytest.approx(count / sum(counts))


def test_what_repair_and_filter_did() -> None:
    [entry] = entries(1)
    each = entry.attributes["gender"]
    each.repair = Repair(
        mode="substitute",
        min_probability=0.8,
        before=each.sums,
        score_before=each.pane,
        expected_dr=0.1,
        shortage=[0, 0],
        mentions=[1, 1],
        sets=10,
        eligible=7,
        changed=3,
        barred={"quoted": 2, "unsure, it needs 0.7": 1, "unsure, it needs 0.8": 1},
    )
    seen = Filtered(action="flag", threshold=0.6, asked=9, potential=4, strong=2)
    entry.measures["stereotypes"] = Stereotypes(attributes={"gender": seen})
    found = of([entry, entry.model_copy(update={"pane": 1})])
    place = (("attribute", "gender"),)
    told = [
        found[f"evenflow_{name}_total", place]
        for name in (
            "repair_sets",
            "repair_eligible_sets",
            "repair_changed_sets",
            "stereotypes_asked",
            "strong_stereotypes",
        )
    ]
    assert told == [20, 14, 6, 18, 4]
    assert found["evenflow_repair_barred_sets_total", (*place, ("reason", "quoted"))] == 4
    assert found["evenflow_repair_barred_sets_total", (*place, ("reason", "unsure"))] == 4


def test_latencies_are_a_histogram() -> None:
    latencies = Latencies()
    for pane, seconds in enumerate((0.004, 0.2, 400.0)):
        latencies.add(pane, seconds)
    found = of([], Now(0, held=False, latencies=latencies))
    name = "evenflow_pane_commit_seconds"
    buckets = [found[f"{name}_bucket", (("le", bound),)] for bound in [*map(str, BOUNDS), "+Inf"]]
    assert buckets == sorted(buckets) and buckets[0] == 1 and buckets[-2:] == [2, 3]
    assert found[f"{name}_count", ()] == 3
    assert found[f"{name}_sum", ()] == pytest.approx(400.204)


def test_a_clock_that_was_set_back_gives_no_negative_seconds() -> None:
    [entry] = entries(1)
    times = {"0": Position(next=5, time=2_000_000)}
    stream = entry.model_copy(update={"stream": StreamPane(span=0, part=0, positions=times)})
    found = of([stream], Now(1000.0, held=False, filling=-5.0, backlog={0: -1}))
    assert found["evenflow_lag_seconds", ()] == found["evenflow_pane_age_seconds", ()] == 0
    assert found["evenflow_backlog_records", (("partition", "0"),)] == 0
