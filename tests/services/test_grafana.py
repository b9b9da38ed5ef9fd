"""Every query of every dashboard, asked of a real Prometheus with the data of two real runs.

No package registry has Grafana itself as a binary, so the JSON is not loaded into one.
"""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from parts import require
from scripted_llm import MODEL, ScriptedLLM, Turn
from services.kafka_broker import ROOT, Broker
from services.prometheus_server import Prometheus, installed, scraping
from services.stream_outputs import EVENFLOW, TopicMaker, documents, to_end, wait_for

from evenflow.gates import triggers
from evenflow.pipelines.metrics.serving import serving
from evenflow.pipelines.metrics.watching import Watched
from evenflow.pipelines.terminal.outcome import Observer
from evenflow.schemas.config import load

DASHBOARDS = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
VARIABLES = {"$gate": ".*", "$attribute": ".*", "$__rate_interval": "1m"}


def called(*words: object) -> None:
    """Call evenflow; a blocked pane is no failure."""
    found = subprocess.run([EVENFLOW, *map(str, words)], capture_output=True, text=True)
    assert found.returncode in (0, 3), found.stderr


def a_run_on_files(folder: Path) -> Path:
    """The output of a run that does all that a gate on files can do, with a model that stumbles."""
    output, corpus, config = folder / "books", folder / "books.jsonl", folder / "config.yaml"
    with gzip.open(ROOT / "tests" / "data" / "speeches.jsonl.gz", "rt") as speeches:
        lines = [line.strip() for line in islice(speeches, 11)]
    corpus.write_text("\n".join(["not JSON", *lines]))
    asked = iter(range(1_000_000))
    with ScriptedLLM(lambda _: Turn(content="no" if next(asked) % 4 == 0 else None)) as server:
        settings = {
            "pane": {"docs": 4},
            "gate": {"warn": 0.9, "block": 1.0},
            "repair": {"mode": "substitute"},
            "stereotypes": {"action": "flag"},
            "coverage": {"tau": 5, "block": 1.0},
            "bias_score": {"mode": "measure", "reference": "reference.json"},
            "alerts": {"tokens_a_day": 1000},
            "triggers": {"each": {"panes": 1, "command": ["true"]}},
            "llm": {
                "url": server.url,
                "model": MODEL,
                "cache": str(folder / "cache.sqlite"),
                "tokens": 12_000,
            },
        }
        called("lab", "bias-score", corpus, "--reference", folder / "reference.json")
        config.write_text(json.dumps(settings))
        called("run", "-i", corpus, "-o", output, "--config", config, "-q")
    # Nobody acts for the gate any more: this one stays pending
    triggers.write_decision(output, triggers.Decision(rule="hand", pane=0, reason="by hand"))
    return output


def a_run_on_a_topic(folder: Path, broker: Broker, topic: str) -> Watched:
    """A run to a topic's end, watched as `--metrics-port` does."""
    output = folder / "news"
    watched = Watched(output, load(None))
    broker.produce(topic, 0, documents(0, 300))
    run = to_end(broker, topic, output)
    run.observer = Observer(watched.committed, backlog=watched.look_at_topic)
    run.go()
    return watched


@pytest.fixture
def prometheus(broker: Broker, topic: TopicMaker, tmp_path: Path) -> Iterator[Prometheus]:
    """Prometheus with the metrics of both runs and their recording rules."""
    require(installed())
    gates = [Watched(a_run_on_files(tmp_path)), a_run_on_a_topic(tmp_path, broker, topic(2))]
    with serving(gates, "127.0.0.1", 0) as address:
        rules = str(ROOT / "deploy" / "prometheus" / "evenflow.rules.yaml")
        config = scraping(address, rule_files=[rules])
        server = Prometheus(tmp_path / "prometheus", config)
        try:
            yield server
        finally:
            server.stop()


def queries(dashboard: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Title of the panel and query, with variables filled in."""
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            expr = target["expr"]
            for name, value in VARIABLES.items():
                expr = expr.replace(name, value)
            yield panel["title"], expr


def test_no_panel_is_without_a_series(prometheus: Prometheus) -> None:
    asked = [
        (path.stem, *each)
        for path in DASHBOARDS
        for each in queries(json.loads(path.read_text(encoding="utf-8")))
    ]
    assert len(asked) > 60

    def empty() -> list[tuple[str, str, str]]:
        return [each for each in asked if not prometheus.query(each[2])]

    wait_for(lambda: not empty() or bool(prometheus.query("count_over_time(up[1m]) > 20")), 90)
    assert empty() == []
    for name in ("gate", "attribute"):
        assert prometheus.ask(f"label/{name}/values")
