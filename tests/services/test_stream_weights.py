"""Documents of a topic get weights that continue over the panes: on this machine and on
Flink, and after a kill in the middle, the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from kill_driver import digests
from put_out import rows
from services.kafka_broker import Broker
from services.stream_outputs import TopicMaker, gate, wait_for

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.topics.driver import Stream, StreamRun
from evenflow.schemas.config import Config, load
from evenflow.transforms.kafka.settings import KafkaSettings

PANES, EACH = 8, 30
BEGIN_MS = 1_600_000_000_000
# The share of women grows from pane to pane, so weights of later panes make good for earlier ones
TEXTS = ["She met her sister in the town."] * 2 + ["He met his brother and his father."] * 7
WAIT = 300.0  # for a runner on a busy machine


def settings(**more: object) -> Config:
    return load(None, {"repair.mode": "weight", **more}, ["gender"])


def fill(broker: Broker, topic: str) -> list[bytes]:
    values = [
        json.dumps({"id": f"d{n}", "text": TEXTS[(n * (1 + n // 90)) % len(TEXTS)]}).encode()
        for n in range(PANES * EACH)
    ]
    with closing(broker.producer()) as producer:
        for n, value in enumerate(values):
            when = BEGIN_MS + n // EACH * 1000
            producer.send(topic, value, partition=0, timestamp_ms=when)
        producer.flush()
    return values


def undisturbed(broker: Broker, topic: str, output: Path) -> None:
    stream = Stream(KafkaSettings(broker.address), topic, pane_seconds=1.0, until_end=True)
    StreamRun(stream, output, settings()).go()


def weights(output: Path) -> list[tuple[str, float]]:
    found = rows(output, "accepted", "quarantine")
    return sorted((row["id"], row["weight"]) for row in found)


def test_killed_in_the_middle_the_weights_are_those_of_an_undisturbed_run(
    broker: Broker, topic: TopicMaker, tmp_path: Path, words: Callable[..., list[str]]
) -> None:
    name, output = topic(1), tmp_path / "out"
    fill(broker, name)
    called = words(broker, name, output, "--repair-mode", "weight", "--attribute", "gender")
    with gate(called, tmp_path) as running:
        wait_for(lambda: (output / "ledger" / "00000001.json").exists(), WAIT)
        running.process.kill()
        running.process.wait()
    assert 2 <= len(read_entries(output)) < PANES
    undisturbed(broker, name, output)
    undisturbed(broker, name, tmp_path / "whole")
    assert len(read_entries(output)) == PANES
    assert digests(output) == digests(tmp_path / "whole")
    assert weights(output) == weights(tmp_path / "whole")
