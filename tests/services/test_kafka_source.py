"""A partition is read from a real broker, without Beam: every message once, in order, in panes."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise

import pytest
from kafka.structs import TopicPartition
from services.kafka_broker import Broker, free_port

from evenflow.transforms.kafka.blocks import Item, Lost, PartitionBlock
from evenflow.transforms.kafka.client import Ends, PartitionReader
from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.errors import TopicMissingError, UnreachableError
from evenflow.transforms.kafka.panes import END, PaneCutter, PaneId, Start
from evenflow.transforms.kafka.reading import PartitionReading
from evenflow.transforms.kafka.settings import KafkaSettings

TopicMaker = Callable[..., str]
CUTTER = PaneCutter(2000)
FIRST = Start(0, CUTTER.start())


def reading(
    address: str,
    topic: str,
    partition: int = 0,
    start: Start = FIRST,
    stop: int | None = None,
    patience: float = 60.0,
) -> PartitionReading:
    settings = KafkaSettings(address)
    reader = PartitionReader(settings, topic, partition, Ends(settings), patience)
    return PartitionReading(reader, start, stop, CUTTER)


def collect(
    of: PartitionReading, enough: Callable[[list[Item]], bool] = lambda items: False
) -> list[Item]:
    """What a reading gives up to its end, or until it is enough; the test fails after a minute."""
    found: list[Item] = []
    deadline = time.monotonic() + 60
    while not of.ended and not enough(found):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(max(of.due - time.monotonic(), 0))
        found += of.read()
    return found


def to_end(broker: Broker, topic: str, partition: int = 0, start: Start = FIRST) -> list[Item]:
    """What a partition has up to its end as of now."""
    _, end = Cluster(KafkaSettings(broker.address)).bounds(topic, 0)[partition]
    of = reading(broker.address, topic, partition, start, end)
    with closing(of):
        found = collect(of)
    assert of.passed == END
    assert all(before.next == after.start for before, after in pairwise(found))
    return found


def values(items: list[Item]) -> list[bytes | None]:
    return [value for item in items if isinstance(item, PartitionBlock) for value in item.values]


def fill(broker: Broker, topic: str, partition: int, first: int, last: int) -> list[bytes]:
    sent = [f"{partition}-{i}".encode() for i in range(first, last)]
    broker.produce(topic, partition, sent)
    return sent


def count(items: list[Item]) -> int:
    return len(values(items))


def test_partitions_to_their_ends(broker: Broker, topic: TopicMaker) -> None:
    name = topic(3)  # one partition stays empty
    sent = {partition: fill(broker, name, partition, 0, n) for partition, n in ((0, 2000), (1, 1))}
    for partition in range(3):
        assert values(to_end(broker, name, partition)) == sent.get(partition, [])


def test_what_comes_while_it_is_read_and_the_clock_of_a_quiet_partition(
    broker: Broker, topic: TopicMaker
) -> None:
    name = topic(1)
    sent = fill(broker, name, 0, 0, 50)
    with closing(reading(broker.address, name)) as of:
        found = collect(of, lambda items: count(items) == 50)
        passed = of.passed
        # Its clock goes on without a message, and passes the pane
        collect(of, lambda items: of.passed > passed)
        sent += fill(broker, name, 0, 50, 80)
        found += collect(of, lambda items: count(items) == 30)
    assert values(found) == sent
    assert found[-1].pane >= passed


def test_a_broker_is_killed_and_started_again(own_broker: Broker) -> None:
    own_broker.start()
    name = own_broker.create_topic("outage")
    sent = fill(own_broker, name, 0, 0, 300)
    with closing(reading(own_broker.address, name)) as of:
        found = collect(of, lambda items: count(items) == 300)
        own_broker.kill()
        passed = of.passed
        until = time.monotonic() + 4
        assert collect(of, lambda items: time.monotonic() > until) == []
        assert of.passed <= PaneId(passed.span + CUTTER.span_ms, 0)  # its clock stands still
        own_broker.start()
        sent += fill(own_broker, name, 0, 300, 600)
        found += collect(of, lambda items: count(items) == 300)
    assert values(found) == sent


def test_a_record_is_kept_as_it_is_stored(broker: Broker, topic: TopicMaker) -> None:
    name = topic(1, max_message_bytes=12 << 20)
    with closing(broker.producer()) as producer:
        producer.send(name, b"v", b"k", [("h", b"1"), ("h", b"2")], 0, 1_600_000_000_123)
        producer.send(name, bytes(9_000_000), b"large", [], 0, 1_600_000_000_124)
        producer.send(name, None, b"gone", [], 0, 1_600_000_000_125)
        producer.flush()
    found = [item for item in to_end(broker, name) if isinstance(item, PartitionBlock)]
    assert [key for block in found for key in block.keys] == [b"k", b"large", b"gone"]
    assert [time for block in found for time in block.timestamps] == [
        1_600_000_000_123 + i for i in range(3)
    ]
    assert values([*found]) == [b"v", bytes(9_000_000), None]
    assert [each for block in found for each in block.headers] == [
        (("h", b"1"), ("h", b"2")),
        (),
        (),
    ]
    assert {block.pane for block in found} == {PaneId(1_600_000_000_000, 0)}


def test_what_retention_took_is_reported(broker: Broker, topic: TopicMaker) -> None:
    name = topic(2)
    sent = fill(broker, name, 0, 0, 100)
    with closing(broker.admin()) as admin:
        admin.delete_records({TopicPartition(name, 0): 30})
    found = to_end(broker, name, start=Start(10, CUTTER.start()))
    assert [(each.start, each.next) for each in found if isinstance(each, Lost)] == [(10, 30)]
    assert values(found) == sent[30:]


def test_marks_of_transactions_and_what_was_given_up_are_no_records(
    broker: Broker, topic: TopicMaker
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
    assert values(to_end(broker, name)) == [
        f"{n}-{i}".encode() for n in (0, 2, 4) for i in range(3)
    ]


def test_a_topic_that_is_not_there_and_a_broker_that_does_not_answer(broker: Broker) -> None:
    with pytest.raises(TopicMissingError, match="absent"):
        Cluster(KafkaSettings(broker.address)).partitions("absent")
    nobody = f"127.0.0.1:{free_port()}"
    with pytest.raises(UnreachableError, match="no answer"):
        Cluster(KafkaSettings(nobody)).partitions("any")
    with (
        closing(reading(nobody, "any", patience=1.0)) as of,
        pytest.raises(UnreachableError, match="no answer"),
    ):
        collect(of)


def test_a_topic_deleted_while_it_is_read_is_an_error(broker: Broker, topic: TopicMaker) -> None:
    name = topic(1)
    fill(broker, name, 0, 0, 20)
    with closing(reading(broker.address, name)) as of:
        collect(of, lambda items: count(items) == 20)
        with closing(broker.admin()) as admin:
            admin.delete_topics([name])
        with pytest.raises(TopicMissingError, match="deleted"):
            collect(of)
