"""The Kafka source against a real broker, on the in-process runner and on Prism: every message exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from services import kafka_graph as graph
from services.kafka_broker import Broker

from evenflow.transforms.kafka import ReadFromKafkaToEnd, Source
from evenflow.transforms.kafka_panes import PaneCutter
from evenflow.transforms.kafka_settings import KafkaSettings

TopicMaker = Callable[..., str]
SPAN_MS = 2000


def source(broker: Broker, topic: str, folder: Path, **more: object) -> Source:
    return Source(KafkaSettings(broker.address), (topic,), PaneCutter(SPAN_MS, 1 << 30), graph.Stage(str(folder)), **more)  # type: ignore[arg-type]


def expected(counts: dict[int, int]) -> list[tuple[int, int, str]]:
    return [(partition, i, f"{partition}-{i}") for partition, count in sorted(counts.items()) for i in range(count)]


def fill(broker: Broker, topic: str, partition: int, first: int, last: int) -> None:
    broker.produce(topic, partition, [f"{partition}-{i}".encode() for i in range(first, last)])


def to_end(of: Source, folder: Path, prism: str | None) -> None:
    if prism is None:
        with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([])) as pipeline:
            graph.draw(pipeline, of, folder, ReadFromKafkaToEnd)
    else:
        with beam.Pipeline(options=graph.prism_options(prism)) as pipeline:
            graph.draw(pipeline, of, folder, ReadFromKafkaToEnd)


@pytest.mark.parametrize("runner", ["in-process", "prism"])
def test_three_partitions_to_the_end(
    broker: Broker, topic: TopicMaker, tmp_path: Path, runner: str, request: pytest.FixtureRequest
) -> None:
    counts = {0: 2000, 1: 1, 2: 700}
    name = topic(4)  # one partition stays empty
    for partition, count in counts.items():
        fill(broker, name, partition, 0, count)
    to_end(source(broker, name, tmp_path), tmp_path, request.getfixturevalue("prism") if runner == "prism" else None)
    assert graph.messages(tmp_path) == expected(counts)


def test_what_comes_while_it_runs_and_new_partitions(broker: Broker, topic: TopicMaker, tmp_path: Path, prism: str) -> None:
    name = topic(2)
    fill(broker, name, 0, 0, 500)
    running = graph.Running(source(broker, name, tmp_path), tmp_path, prism)
    try:
        assert running.wait(lambda: len(graph.messages(tmp_path)) == 500), "the first panes did not close"
        fill(broker, name, 1, 0, 300)
        broker.add_partitions(name, 3)
        time.sleep(1)
        fill(broker, name, 2, 0, 200)
        assert running.wait(lambda: len(graph.messages(tmp_path)) >= 1000)
    finally:
        running.stop()
    assert graph.messages(tmp_path) == expected({0: 500, 1: 300, 2: 200})


def test_broker_killed_and_started_again(own_broker: Broker, tmp_path: Path, prism: str) -> None:
    own_broker.start()
    name = own_broker.create_topic("outage", 2)
    fill(own_broker, name, 0, 0, 300)
    running = graph.Running(source(own_broker, name, tmp_path), tmp_path, prism)
    try:
        assert running.wait(lambda: len(graph.messages(tmp_path)) == 300)
        fill(own_broker, name, 1, 0, 400)
        own_broker.kill()
        time.sleep(4)
        own_broker.start()
        fill(own_broker, name, 0, 300, 600)
        assert running.wait(lambda: len(graph.messages(tmp_path)) >= 1000)
    finally:
        running.stop()
    assert graph.messages(tmp_path) == expected({0: 600, 1: 400})
