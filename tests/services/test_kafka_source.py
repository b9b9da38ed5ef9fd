"""The Kafka source against a real broker, on the in-process runner and on Prism: every message
exactly once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from kafka.structs import TopicPartition
from services import kafka_graph as graph
from services.flink_server import FlinkServer
from services.kafka_broker import Broker, free_port

from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.errors import TopicMissingError, UnreachableError
from evenflow.transforms.kafka.panes import PaneCutter
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.kafka.source import ReadFromKafkaToEnd, Source, Start

TopicMaker = Callable[..., str]
SPAN_MS = 2000


def source(broker: Broker, topic: str, folder: Path, **more: Any) -> Source:
    return Source(
        KafkaSettings(broker.address),
        (topic,),
        PaneCutter(SPAN_MS, 1 << 30),
        graph.Stage(str(folder)),
        **more,
    )  # type: ignore[arg-type]


def joined(blocks: list[dict[str, Any]]) -> bool:
    """Whether the blocks of each partition join up: each starts where the one before ended."""
    at: dict[int, int] = {}
    for block in sorted(blocks, key=lambda each: (each["partition"], each["start"])):
        if at.setdefault(block["partition"], block["start"]) != block["start"]:
            return False
        at[block["partition"]] = block["next"]
    return True


def expected(counts: dict[int, int]) -> list[tuple[int, int, str]]:
    return [
        (partition, i, f"{partition}-{i}")
        for partition, count in sorted(counts.items())
        for i in range(count)
    ]


def fill(broker: Broker, topic: str, partition: int, first: int, last: int) -> None:
    broker.produce(topic, partition, [f"{partition}-{i}".encode() for i in range(first, last)])


def on_prism(of: Source, folder: Path, prism: str) -> graph.Running:
    return graph.Running(of, folder, graph.prism_options(prism, "--streaming"))


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
    to_end(
        source(broker, name, tmp_path),
        tmp_path,
        request.getfixturevalue("prism") if runner == "prism" else None,
    )
    assert graph.messages(tmp_path) == expected(counts)


def test_what_comes_while_it_runs_and_new_partitions(
    broker: Broker, topic: TopicMaker, tmp_path: Path, prism: str
) -> None:
    name = topic(2)
    fill(broker, name, 0, 0, 500)
    running = on_prism(source(broker, name, tmp_path), tmp_path, prism)
    try:
        assert running.wait(lambda: len(graph.messages(tmp_path)) == 500), (
            "the first panes did not close"
        )
        fill(broker, name, 1, 0, 300)
        broker.add_partitions(name, 3)
        time.sleep(1)
        fill(broker, name, 2, 0, 200)
        assert running.wait(lambda: len(graph.messages(tmp_path)) >= 1000)
    finally:
        running.stop()
    assert graph.messages(tmp_path) == expected({0: 500, 1: 300, 2: 200})


def test_on_flink(broker: Broker, topic: TopicMaker, tmp_path: Path, flink: FlinkServer) -> None:
    name = topic(2)
    fill(broker, name, 0, 0, 500)
    options = graph.flink_options(flink.endpoint, "--streaming")
    running = graph.Running(source(broker, name, tmp_path), tmp_path, options)
    try:
        assert running.wait(lambda: len(graph.messages(tmp_path)) == 500), (
            "the first panes did not close"
        )
        fill(broker, name, 1, 0, 300)
        assert running.wait(lambda: len(graph.messages(tmp_path)) >= 800)
    finally:
        running.stop()
    assert graph.messages(tmp_path) == expected({0: 500, 1: 300})


def test_broker_killed_and_started_again(own_broker: Broker, tmp_path: Path, prism: str) -> None:
    own_broker.start()
    name = own_broker.create_topic("outage", 2)
    fill(own_broker, name, 0, 0, 300)
    running = on_prism(source(own_broker, name, tmp_path), tmp_path, prism)
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


def test_a_backlog_beside_quiet_partitions_is_never_late(
    broker: Broker, topic: TopicMaker, tmp_path: Path, prism: str
) -> None:
    """The clock of quiet partitions must not close panes that a partition with old records still
    fills.
    """
    name = topic(5)
    begin, spans, count = 1_600_000_000_000, 60, 3000
    with closing(broker.producer()) as producer:
        for partition in (0, 1):
            for i in range(count):
                when = begin + i * spans * SPAN_MS // count
                value = f"{partition}-{i}".encode() + bytes(4000)
                producer.send(name, value, partition=partition, timestamp_ms=when)
        producer.flush()
    fill(broker, name, 4, 0, 10)
    running = on_prism(source(broker, name, tmp_path), tmp_path, prism)
    try:
        assert running.wait(
            lambda: sum(len(each["offsets"]) for each in graph.closed(tmp_path)) >= 2 * count + 10,
            90,
        )
    finally:
        running.stop()
    values = [
        (partition, offset, value.rstrip("\0"))
        for partition, offset, value in graph.messages(tmp_path)
    ]
    assert values == expected({0: count, 1: count, 4: 10})
    assert joined(graph.closed(tmp_path))
    # Panes of the old records are those of the spans, and none was closed twice.
    panes = sorted((tmp_path / "panes").glob("16*.txt"))
    assert [int(path.stem.split("-")[0]) for path in panes] == [
        begin + i * SPAN_MS for i in range(spans)
    ]
    assert all(len(path.read_text().splitlines()) == 1 for path in panes)


def test_a_record_is_kept_as_it_is_stored(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name = topic(1, max_message_bytes=12 << 20)
    with closing(broker.producer()) as producer:
        producer.send(name, b"v", b"k", [("h", b"1"), ("h", b"2")], 0, 1_600_000_000_123)
        producer.send(name, bytes(9_000_000), b"large", [], 0, 1_600_000_000_124)
        producer.send(name, None, b"gone", [], 0, 1_600_000_000_125)
        producer.flush()
    to_end(source(broker, name, tmp_path), tmp_path, None)
    blocks = graph.closed(tmp_path)
    together = {
        key: [each for block in blocks for each in block[key]]
        for key in ("keys", "timestamps", "sizes", "headers")
    }
    assert together == {
        "keys": ["k", "large", "gone"],
        "timestamps": [1_600_000_000_123, 1_600_000_000_124, 1_600_000_000_125],
        "sizes": [1, 9_000_000, 0],
        "headers": [[["h", "1"], ["h", "2"]], [], []],
    }
    assert {block["pane"] for block in blocks} == {"1600000000000-0"}


def test_what_retention_took_is_reported(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name = topic(2)
    for partition in (0, 1):
        fill(broker, name, partition, 0, 100)
    with closing(broker.admin()) as admin:
        admin.delete_records({TopicPartition(name, 0): 30})
    cutter = PaneCutter(SPAN_MS)
    starts = {(name, 0): Start(10, cutter.start()), (name, 1): Start(95, cutter.start())}
    to_end(source(broker, name, tmp_path, starts=starts), tmp_path, None)
    blocks = graph.closed(tmp_path)
    assert [block["lost"] for block in blocks if "lost" in block] == [[10, 30]]
    kept = [{"offsets": [], "values": [], **block} for block in blocks]
    offsets = sorted((block["partition"], offset) for block in kept for offset in block["offsets"])
    assert offsets == [(0, i) for i in range(30, 100)] + [(1, i) for i in range(95, 100)]
    assert joined(blocks)


def test_marks_of_transactions_and_what_was_given_up_are_no_records(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name = topic(1)
    with closing(broker.producer(transactional_id=f"{name}-id")) as producer:
        producer.init_transactions()
        for number in range(6):
            producer.begin_transaction()
            for i in range(3):
                producer.send(name, f"{number}-{i}".encode(), partition=0)
            producer.flush()
            if number % 2:
                producer.abort_transaction()
            else:
                producer.commit_transaction()
    to_end(source(broker, name, tmp_path), tmp_path, None)
    assert [value for _, _, value in graph.messages(tmp_path)] == [
        f"{n}-{i}" for n in (0, 2, 4) for i in range(3)
    ]
    assert joined(graph.closed(tmp_path))


@dataclass(frozen=True)
class FileThere:
    path: Path

    def __call__(self) -> bool:
        return self.path.exists()


def test_a_source_that_is_held_reads_nothing_and_goes_on_without_a_restart(
    broker: Broker, topic: TopicMaker, tmp_path: Path, prism: str
) -> None:
    name, flag = topic(1), tmp_path / "held"
    flag.touch()
    fill(broker, name, 0, 0, 50)
    running = on_prism(source(broker, name, tmp_path, held=FileThere(flag)), tmp_path, prism)
    try:
        time.sleep(4)
        assert list((tmp_path / "staged").glob("*")) == []
        flag.unlink()
        assert running.wait(lambda: len(graph.messages(tmp_path)) >= 50)
    finally:
        running.stop()
    assert graph.messages(tmp_path) == expected({0: 50})


def test_a_topic_that_is_not_there_and_a_broker_that_does_not_answer(
    broker: Broker, tmp_path: Path
) -> None:
    with pytest.raises(TopicMissingError, match="absent"):
        Cluster(KafkaSettings(broker.address)).partitions("absent")
    nobody = KafkaSettings(f"127.0.0.1:{free_port()}")
    with pytest.raises(UnreachableError, match="no answer"):
        Cluster(nobody).partitions("any")
    with pytest.raises(Exception, match="no answer"):
        to_end(
            Source(nobody, ("any",), PaneCutter(SPAN_MS), graph.Stage(str(tmp_path)), patience=1.0),
            tmp_path,
            None,
        )


def test_a_topic_deleted_while_it_is_read_is_an_error(
    broker: Broker, topic: TopicMaker, tmp_path: Path, prism: str
) -> None:
    name = topic(2)
    fill(broker, name, 0, 0, 20)
    running = on_prism(source(broker, name, tmp_path), tmp_path, prism)
    try:
        assert running.wait(lambda: len(graph.messages(tmp_path)) == 20)
        with closing(broker.admin()) as admin:
            admin.delete_topics([name])
        assert running.wait(lambda: running.result.state == "FAILED", 120)
    finally:
        running.stop()
