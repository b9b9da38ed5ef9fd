"""Metrics for Prometheus: from the ledger's entries, and over a real scrape."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from report_ledgers import entries

from evenflow.gates import hold
from evenflow.gates.ledger import files
from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics import Now, families
from evenflow.pipelines.panes.metrics_server import serving
from evenflow.schemas.config import Config, ConfigError, load
from evenflow.schemas.ledger import PaneEntry, Position, StreamPane
from evenflow.transforms.llm.client.stats import Reply, Stats
from evenflow.transforms.storage.storage import at

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]
NOW = Now(1000.0, held=False)


def samples(found: Iterable[Metric]) -> Samples:
    """Values by name and labels."""
    return {
        (each.name, tuple(sorted(each.labels.items()))): each.value
        for family in found
        for each in family.samples
    }


def scraped(address: str) -> Samples:
    """The metrics that a server serves."""
    with urllib.request.urlopen(address, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        return samples(text_string_to_metric_families(answer.read().decode()))


def of(panes: Iterable[PaneEntry], now: Now = NOW) -> Samples:
    """The metrics of some panes."""
    return samples(families(Totals.of(panes), now))


def with_port(**more: object) -> Config:
    """A configuration with a free port for metrics."""
    return load(None, {"metrics.port": 0, **more})


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
    assert found["evenflow_llm_cache_hits_total", (step,)] == 2
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


def test_a_scrape_goes_on_from_the_ledger_and_sees_a_hold(tmp_path: Path) -> None:
    (tmp_path / "ledger").mkdir()
    panes = entries(4)
    for entry in panes[:3]:
        files.write_entry(tmp_path, entry)
    with serving(tmp_path, with_port()) as (metrics, address):
        assert address.startswith("http://127.0.0.1:")
        before = scraped(address)
        assert before == {**of(panes[:3]), ("evenflow_held", ()): 0}
        metrics.committed(panes[3], (300, 400))
        hold.add_event(tmp_path, "hold", "look at it", 4)
        after = scraped(address)
    assert after["evenflow_held", ()] == 1
    assert after["evenflow_input_read_bytes", ()] == 300
    assert after["evenflow_input_bytes", ()] == 400
    assert after["evenflow_last_commit_timestamp_seconds", ()] > 1.7e9
    expected = of(panes)
    assert {key: after[key] for key in expected if key[0] != "evenflow_held"} == {
        key: value for key, value in expected.items() if key[0] != "evenflow_held"
    }


def test_a_run_that_stood_by_goes_on_from_what_the_other_run_committed() -> None:
    output = at(f"memory://{uuid4().hex}/out")
    panes = entries(4)
    files.write_entry(output, panes[0])
    with serving(output, with_port()) as (metrics, address):
        for entry in panes[1:3]:
            files.write_entry(output, entry)
        assert scraped(address) == {**of(panes[:3]), ("evenflow_held", ()): 0}
        files.write_entry(output, panes[3])
        metrics.committed(panes[3])
        after = scraped(address)
    assert {key: after[key] for key in of(panes)} == of(panes)


def test_a_release_is_seen_under_halt(tmp_path: Path) -> None:
    (tmp_path / "ledger").mkdir()
    [entry] = entries(1)
    files.write_entry(tmp_path, entry.model_copy(update={"folder": "quarantine"}))
    with serving(tmp_path, with_port(**{"gate.policy": "halt"})) as (_, address):
        assert scraped(address)["evenflow_held", ()] == 1
        hold.add_event(tmp_path, "release", "seen", 1)
        assert scraped(address)["evenflow_held", ()] == 0


def test_labels_never_come_from_documents() -> None:
    """Made-up ledgers are full of hostile texts; no metric holds any of them."""
    hostile = entries(6)
    ids = {
        heavy.id for entry in hostile for each in entry.attributes.values() for heavy in each.heavy
    }
    values = {value for _, labels in of(hostile) for _, value in labels}
    assert ids and not ids & values
    assert all(value.isprintable() and "<" not in value for value in values)


def test_nobody_else_reaches_it_unless_told(tmp_path: Path) -> None:
    assert load(None).metrics.port is None
    assert load(None).metrics.host == "127.0.0.1"
    with serving(tmp_path, with_port()) as (_, address):
        port = int(address.rsplit(":", 1)[1].removesuffix("/metrics"))
        with socket.socket() as other, pytest.raises(OSError):
            other.settimeout(2)
            other.connect(("127.0.0.2", port))
    with pytest.raises(OSError):  # nobody listens when it is over
        scraped(address)


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(OSError) as raised,
            serving(tmp_path, load(None, {"metrics.port": port})),
        ):
            pass
    assert raised.value.filename == f"metrics at 127.0.0.1:{port}"


@pytest.mark.parametrize("port", [-1, 65536, "80"])
def test_a_wrong_port_is_refused(port: Any) -> None:
    with pytest.raises(ConfigError, match=r"metrics\.port"):
        load(None, {"metrics.port": port})


def test_a_run_serves_while_it_runs(tmp_path: Path) -> None:
    """The last scrape of a run agrees with the ledger, and a second run continues from there."""
    texts = ["He left his pen. She sang." * 20, "not at all", "A man met a woman."] * 4000
    corpus = tmp_path / "in.jsonl"
    corpus.write_text(
        "\n".join(
            json.dumps({"id": f"d{number}", "text": text}) for number, text in enumerate(texts)
        )
    )
    words = [
        "run",
        "--input",
        str(corpus),
        "--output",
        str(tmp_path / "out"),
        "--pane-docs",
        "1000",
        "--metrics-port",
        "0",
    ]
    command = [
        sys.executable,
        "-c",
        "from evenflow.pipelines.cli.app import main; main()",
        *words,
        "--log-format",
        "json",
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    seen: list[Samples] = []
    address = ""
    for line in process.stderr:
        said = json.loads(line)
        address = (
            said["message"].removeprefix("metrics at ") if said["event"] == "metrics" else address
        )
        if said["event"] == "pane" and address:
            seen.append(scraped(address))
    assert process.wait() == 0
    panes = [
        sum(value for (name, _), value in each.items() if name == "evenflow_panes_total")
        for each in seen
    ]
    assert panes == sorted(panes) and 1 <= panes[0] < panes[-1] <= 12
    committed = files.read_entries(tmp_path / "out")
    expected = of(committed[: int(panes[-1])])
    key = ("evenflow_documents_total", (("fate", "accepted"),))
    assert seen[-1][key] == expected[key]
