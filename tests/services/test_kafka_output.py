"""Publishing panes, and the group's offsets, on a real broker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.structs import OffsetAndMetadata, TopicPartition
from services.kafka_broker import Broker

from evenflow.transforms.streaming.kafka_errors import KafkaSourceError, TopicMissingError, UnreachableError
from evenflow.transforms.streaming.kafka_offsets import GroupOffsets, compare
from evenflow.transforms.streaming.kafka_output import Message, PanePublisher, PublisherFencedError
from evenflow.transforms.streaming.kafka_settings import KafkaSettings

TopicMaker = Callable[..., str]


def values(broker: Broker, topic: str) -> list[bytes]:
    return [record.value for record in broker.committed(topic)]


@pytest.fixture
def group(topic: TopicMaker) -> str:
    return topic() + "-group"


def test_a_pane_is_published_whole_with_its_offsets_and_once(broker: Broker, topic: TopicMaker, group: str) -> None:
    read, accepted, dead = topic(2), topic(), topic()
    keys = [(read, 0), (read, 1)]
    settings = KafkaSettings(broker.address)
    publisher = PanePublisher(settings, group)
    assert publisher.published(keys) == 0
    messages = [Message(accepted, b"k", b"a", (("h", b"1"), ("none", None))), Message(dead, None, b"d")]
    assert publisher.publish(0, messages, {keys[0]: 3}) == 2
    assert publisher.published(keys) == 1

    def broken() -> Iterator[Message]:
        yield Message(accepted, None, b"never seen")
        raise OSError("the shard cannot be read")

    with pytest.raises(OSError, match="shard"):
        publisher.publish(1, broken(), {keys[1]: 7})
    assert publisher.published(keys) == 1
    publisher.publish(1, [Message(accepted, None, b"b")], {keys[1]: 7})
    publisher.close()
    assert values(broker, accepted) == [b"a", b"b"]
    assert broker.committed(accepted)[0].headers == [("h", b"1"), ("none", b"")]
    assert values(broker, dead) == [b"d"]
    offsets = GroupOffsets(settings, group)
    assert {key: tuple(value) for key, value in offsets.committed(keys).items()} == {keys[0]: (3, 0), keys[1]: (7, 1)}
    offsets.close()


def test_a_second_publisher_shuts_the_first_one_out(broker: Broker, topic: TopicMaker, group: str) -> None:
    read, accepted = topic(), topic()
    settings = KafkaSettings(broker.address)
    first, second = PanePublisher(settings, group), PanePublisher(settings, group)
    assert first.published([(read, 0)]) == second.published([(read, 0)]) == 0
    second.publish(0, [Message(accepted, None, b"second")], {(read, 0): 1})
    with pytest.raises(PublisherFencedError):
        first.publish(0, [Message(accepted, None, b"first")], {(read, 0): 1})
    first.close()
    second.close()
    assert values(broker, accepted) == [b"second"]


def test_what_cannot_be_published_is_said_and_nothing_of_the_pane_is_seen(broker: Broker, topic: TopicMaker, group: str) -> None:
    read, accepted = topic(), topic(max_message_bytes=1000)
    publisher = PanePublisher(KafkaSettings(broker.address), group)
    with pytest.raises(TopicMissingError, match="absent"):
        publisher.publish(0, [Message("absent", None, b"x")], {(read, 0): 1})
    with pytest.raises(KafkaSourceError, match="pane 0"):
        publisher.publish(0, [Message(accepted, None, b"small"), Message(accepted, None, bytes(100_000))], {(read, 0): 1})
    assert publisher.published([(read, 0)]) == 0
    publisher.close()
    assert values(broker, accepted) == []


def test_offsets_of_the_group_are_compared_with_the_ledger(broker: Broker, topic: TopicMaker, group: str) -> None:
    name = topic(4)
    settings = KafkaSettings(broker.address)
    offsets = GroupOffsets(settings, group)
    keys = [(name, number) for number in range(4)]
    assert offsets.committed(keys) == {}
    offsets.commit({keys[0]: 5, keys[1]: 5, keys[2]: 5}, pane=3)
    assert offsets.committed(keys)[keys[1]] == (5, 3)
    consumer: Any = KafkaConsumer(bootstrap_servers=broker.address, group_id=group, enable_auto_commit=False)
    consumer.commit({TopicPartition(*keys[2]): OffsetAndMetadata(9, "by hand", -1)})
    consumer.close()
    found = offsets.committed(keys)
    assert found[keys[2]] == (9, None)
    differences = compare({keys[0]: 5, keys[1]: 8, keys[2]: 5, keys[3]: 2}, found)
    assert [(each.partition, each.ledger, each.group) for each in differences] == [(1, 8, 5), (2, 5, 9), (3, 2, None)]
    words = ("behind the ledger", "ahead of the ledger", "no offset")
    for difference, word in zip(differences, words, strict=True):
        assert word in str(difference)
    offsets.close()


@pytest.mark.parametrize("moment", ["after the records", "before the end"])
def test_a_broker_that_goes_away_is_said_soon_and_nothing_is_lost_or_doubled(
    own_broker: Broker, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_broker.start()
    read, accepted = own_broker.create_topic("read"), own_broker.create_topic("accepted")
    publisher = PanePublisher(KafkaSettings(own_broker.address), "group", delivery=4.0)
    publisher.publish(0, [Message(accepted, None, b"0")], {(read, 0): 1})

    def records() -> Iterator[Message]:
        for i in range(100):
            yield Message(accepted, None, b"1-%d" % i)
        if moment == "after the records":
            own_broker.kill()

    commit = KafkaProducer.commit_transaction

    def killing(self: KafkaProducer) -> None:
        if moment == "before the end":
            own_broker.kill()
        commit(self)

    monkeypatch.setattr(KafkaProducer, "commit_transaction", killing)
    began = time.monotonic()
    with pytest.raises(UnreachableError, match="publishing pane 1: no answer from"):
        publisher.publish(1, records(), {(read, 0): 7})
    assert time.monotonic() - began < 60  # seconds, and what a busy machine adds; without a bound over 120, or for ever
    monkeypatch.undo()
    with pytest.raises(UnreachableError, match="publishing for group group: no answer from"):
        publisher.published([(read, 0)])
    own_broker.start()
    for pane in range(publisher.published([(read, 0)]), 2):
        publisher.publish(pane, [Message(accepted, None, b"1-%d" % i) for i in range(100)], {(read, 0): 7})
    assert publisher.published([(read, 0)]) == 2
    publisher.close()
    assert values(own_broker, accepted) == [b"0", *(b"1-%d" % i for i in range(100))]
