"""From a producer to a pager: the text of a topic turns uneven, the gate blocks,
Prometheus scrapes, Alertmanager tells with the reason, the gate is released, and alerts resolve.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from parts import require
from services.kafka_broker import Broker, free_port
from services.prometheus_server import Alertmanager, Prometheus, installed, scraping
from services.stream_outputs import EVENFLOW, TopicMaker, command, documents, gate, wait_for

from evenflow.gates.alerts import rules
from evenflow.schemas.config import Config

# A busy machine of two cores; alone it takes a few seconds a step
SECONDS = 90.0
GATE = {"on_block": "halt", "warn": 0.25, "block": 0.45}


class Pager:
    """Takes webhooks of Alertmanager."""

    def __init__(self) -> None:
        self.alerts: list[dict[str, Any]] = []
        pager = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                pager.alerts += json.loads(body)["alerts"]
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def last(self, name: str) -> dict[str, Any]:
        """The last word on an alert; empty before the first."""
        found = [each for each in self.alerts if each["labels"]["alertname"] == name]
        return found[-1] if found else {}


@pytest.fixture
def pager() -> Iterator[Pager]:
    found = Pager()
    yield found
    found.server.shutdown()
    found.server.server_close()


@contextmanager
def monitored(folder: Path, port: int, pager: Pager) -> Iterator[Prometheus]:
    """Prometheus and Alertmanager, which look every second."""
    folder.mkdir()
    (folder / "rules.yaml").write_text(rules(Config(), 1))
    times = {"group_wait": "1s", "group_interval": "1s", "repeat_interval": "1h"}
    hook = {"url": f"{pager.url}/alerts", "send_resolved": True}
    alertmanager = Alertmanager(
        folder / "alertmanager",
        {
            "route": {"receiver": "pager", "group_by": ["gate", "attribute"], **times},
            "receivers": [{"name": "pager", "webhook_configs": [hook]}],
        },
    )
    try:
        target = alertmanager.url.removeprefix("http://")
        config = scraping(
            f"127.0.0.1:{port}",
            rule_files=[str(folder / "rules.yaml")],
            alerting={"alertmanagers": [{"static_configs": [{"targets": [target]}]}]},
        )
        prometheus = Prometheus(folder / "prometheus", config)
        try:
            yield prometheus
        finally:
            prometheus.stop()
    finally:
        alertmanager.stop()


def test_from_an_uneven_text_to_the_pager_and_back(
    broker: Broker, topic: TopicMaker, tmp_path: Path, pager: Pager
) -> None:
    require(installed())
    config = tmp_path / "gate.yaml"
    # Each pane is judged alone, so that an even one ends the block
    config.write_text(
        json.dumps({"gate": GATE, "pane": {"rolling": 1}, "attributes": {"gender": {}}})
    )
    name, output, port = topic(2), tmp_path / "news", free_port()
    uneven = [
        json.dumps({"id": f"u-{i}", "text": "He saw his brother and his son."}).encode()
        for i in range(300)
    ]
    words = [
        *command(broker, name, output, "--metrics-port", str(port)),
        *("--config", str(config)),
    ]
    reached: dict[str, float] = {}

    def wait(step: str, holds: Any) -> None:
        began = time.monotonic()
        wait_for(holds, SECONDS)
        reached[step] = time.monotonic() - began

    with gate(words, tmp_path), monitored(tmp_path / "monitoring", port, pager) as prometheus:
        broker.produce(name, 0, documents(0, 300), timestamp_ms=int(time.time() * 1000))
        wait("first pane scraped", lambda: bool(prometheus.query("evenflow_panes_total > 0")))
        assert prometheus.query("evenflow_held == 1") == []
        now = int(time.time() * 1000)
        broker.produce(name, 0, uneven, timestamp_ms=now)
        broker.produce(name, 1, documents(300, 310, 1), timestamp_ms=now + 2000)
        wait("DrBlock fires", lambda: pager.last("EvenflowDrBlock").get("status") == "firing")
        wait("Held fires", lambda: pager.last("EvenflowHeld").get("status") == "firing")
        alert = pager.last("EvenflowDrBlock")
        assert alert["labels"]["gate"] == "news" and alert["labels"]["attribute"] == "gender"
        assert alert["annotations"]["summary"] == "news: panes are blocked because of gender"
        [low] = prometheus.query('evenflow_dr_low{window="rolling"}')
        reason = alert["annotations"]["description"]
        assert f"rolling DR is {float(low['value'][1]):.4g};" in reason
        assert reason.endswith("the threshold of block is 0.45.")
        assert alert["annotations"]["runbook_url"].endswith("#evenflowdrblock")
        wait("backlog seen", lambda: bool(prometheus.query("sum(evenflow_backlog_records) > 0")))
        release = [EVENFLOW, "gate", "release", str(output), "--reason", "looked at by Ada"]
        assert subprocess.run(release, capture_output=True).returncode == 0
        wait("Held resolves", lambda: pager.last("EvenflowHeld")["status"] == "resolved")
        now = int(time.time() * 1000) + 3000
        broker.produce(name, 0, documents(300, 600), timestamp_ms=now)
        broker.produce(name, 0, documents(600, 610), timestamp_ms=now + 2000)
        broker.produce(name, 1, documents(600, 610, 1), timestamp_ms=now + 2000)
        wait("DrBlock resolves", lambda: pager.last("EvenflowDrBlock")["status"] == "resolved")
    print({step: f"{seconds:.1f} s" for step, seconds in reached.items()})
