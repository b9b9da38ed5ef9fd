"""Documents of a topic get weights that continue over the panes: on this machine, on Prism and on
Flink, and after a kill in the middle, the same bytes.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from kill_driver import digests
from services.job_server import JobServer
from services.kafka_broker import Broker
from services.stream_outputs import TopicMaker, command, gate, on_flink, wait_for

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.engine.stream.driver import Stream, StreamRun
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
    files = [*(output / "accepted").glob("*.parquet"), *(output / "quarantine").glob("*.parquet")]
    rows = [row for each in files for row in pq.read_table(each).to_pylist()]
    return sorted((row["id"], row["weight"]) for row in rows)


def test_a_topic_is_weighed_as_files_are(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name = topic(1)
    values = fill(broker, name)
    undisturbed(broker, name, tmp_path / "topic")
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(values))
    Run([str(tmp_path / "in.jsonl")], tmp_path / "files", settings(**{"pane.docs": EACH})).go()
    found, wanted = read_entries(tmp_path / "topic"), read_entries(tmp_path / "files")
    assert len(found) == len(wanted) == PANES
    assert weights(tmp_path / "topic") == weights(tmp_path / "files")
    assert len({weight for _, weight in weights(tmp_path / "topic")}) > 2
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.weights == theirs.weights and mine.checks.success
        assert mine.attributes["gender"].accepted == theirs.attributes["gender"].accepted
    last = found[-1].attributes["gender"]
    assert last.unweighted is not None and last.accepted.dr < 0.15


@pytest.mark.parametrize("where", ["here", "prism", "flink"])
def test_killed_in_the_middle_the_weights_are_those_of_an_undisturbed_run(
    broker: Broker,
    topic: TopicMaker,
    tmp_path: Path,
    where: str,
    request: pytest.FixtureRequest,
) -> None:
    name, output = topic(1), tmp_path / "out"
    fill(broker, name)
    mode = ("--mode", "weight", "--attribute", "gender")
    if where == "flink":
        server: JobServer = request.getfixturevalue("flink")
        words = on_flink(broker, name, output, server.endpoint, *mode)
    else:
        prism = request.getfixturevalue("prism") if where == "prism" else None
        words = command(broker, name, output, *mode, prism=prism)
    with gate(words, tmp_path) as running:
        wait_for(lambda: (output / "ledger" / "00000001.json").exists(), WAIT)
        running.process.kill()
        running.process.wait()
    assert 2 <= len(read_entries(output)) < PANES
    undisturbed(broker, name, output)
    undisturbed(broker, name, tmp_path / "whole")
    assert len(read_entries(output)) == PANES
    assert digests(output) == digests(tmp_path / "whole")
    assert weights(output) == weights(tmp_path / "whole")
