"""Publishing panes, and the group's offsets, on a real broker."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from kafka import KafkaProducer
from kafka.partitioner import murmur2
from services.kafka_broker import Broker
from services.stream_outputs import wait_for

from evenflow.transforms.kafka import proof
from evenflow.transforms.kafka.client import PATIENCE_SECONDS
from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.errors import KafkaSourceError, TopicMissingError, UnreachableError
from evenflow.transforms.kafka.lookups import Lookups
from evenflow.transforms.kafka.offsets import GroupOffsets
from evenflow.transforms.kafka.output import (
    TRANSACTION_SECONDS,
    PanePublisher,
    PublisherFencedError,
)
from evenflow.transforms.kafka.proof import (
    PARTITIONS,
    Proof,
    ProofTopic,
    UnprovenError,
    record_key,
    record_value,
)
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.kafka.sizes import Message

TopicMaker = Callable[..., str]


def values(broker: Broker, topic: str) -> list[bytes]:
    return [record.value for record in broker.committed(topic)]


def publisher_of(
    broker: Broker, source: str, *targets: str, ledger: str = "", **more: Any
) -> PanePublisher:
    """A publisher for a ledger (of the source's name, unless another is given), its topic of proofs
    prepared.
    """
    settings = KafkaSettings(broker.address)
    proofs = ProofTopic(settings, "proofs")
    proofs.prepare()
    return PanePublisher(
        settings, f"{source}-group", proofs, ledger or f"ledger-{source}", source, targets, **more
    )


def test_a_pane_is_published_whole_with_its_offsets_and_once(
    broker: Broker, topic: TopicMaker
) -> None:
    read, accepted, dead = topic(2), topic(), topic()
    keys = [(read, 0), (read, 1)]
    publisher = publisher_of(broker, read, accepted, dead)
    assert publisher.begin(0) == 0
    messages = [
        Message(accepted, b"k", b"a", (("h", b"1"), ("none", None))),
        Message(dead, None, b"d"),
    ]
    assert publisher.publish(0, messages, {keys[0]: 3}) == 2
    assert publisher.begin(1) == 1

    def broken() -> Iterator[Message]:
        yield Message(accepted, None, b"never seen")
        raise OSError("the shard cannot be read")

    with pytest.raises(OSError, match="shard"):
        publisher.publish(1, broken(), {keys[1]: 7})
    assert publisher.begin(2) == 1
    publisher.publish(1, [Message(accepted, None, b"b")], {keys[1]: 7})
    publisher.close()
    assert values(broker, accepted) == [b"a", b"b"]
    assert broker.committed(accepted)[0].headers == [
        ("h", b"1"),
        ("none", b""),
        ("evenflow.pane", f"ledger-{read}/0".encode()),
    ]
    assert values(broker, dead) == [b"d"]
    with closing(GroupOffsets(KafkaSettings(broker.address), f"{read}-group")) as offsets:
        assert offsets.committed(keys) == {keys[0]: 3, keys[1]: 7}


def test_a_topic_has_the_panes_that_a_proof_or_a_person_says(
    broker: Broker, topic: TopicMaker
) -> None:
    read, accepted, dead = topic(), topic(), topic()
    first = publisher_of(broker, read, accepted)
    assert first.begin(0) == 0
    for pane in (0, 1):
        first.publish(pane, [Message(accepted, None, b"a%d" % pane)], {(read, 0): pane + 1})
    first.close()
    both = publisher_of(broker, read, accepted, dead)  # dead letters too, from now on
    with pytest.raises(
        UnprovenError, match=rf"topic {dead}: no record .*--publish-from 0 .*--publish-from 2"
    ):
        both.begin(2)
    with pytest.raises(UnprovenError, match="has 2 panes"):
        both.begin(2, 3)
    assert both.begin(2, 1) == 1
    both.publish(1, [Message(accepted, None, b"twice"), Message(dead, None, b"d1")], {(read, 0): 2})
    # What was said by a person has become a proof
    assert publisher_of(broker, read, accepted, dead).begin(2, 0) == 2
    for ledger, panes, said in (
        (f"ledger-{read}", 1, "old copy"),
        ("another", 5, "another output"),
        ("another", 0, "another output"),
    ):
        with pytest.raises(UnprovenError, match=said):
            publisher_of(broker, read, accepted, ledger=ledger).begin(panes)
    # What comes of another topic is another matter
    assert publisher_of(broker, topic(), accepted).begin(0) == 0
    both.close()
    assert (values(broker, accepted), values(broker, dead)) == ([b"a0", b"a1"], [b"d1"])


@contextmanager
def open_transaction(
    broker: Broker, source: str, partition: int, **more: Any
) -> Iterator[KafkaProducer]:
    """A transaction of another gate that has written a proof to a partition and goes on."""
    more |= {"transactional_id": f"other-{source}"}
    with closing(broker.producer(**more)) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send("proofs", b"{}", b"another's", partition=partition).get(30)
        yield producer
    # What stays open would hide the proofs of a later test whose topics share the partition
    with closing(broker.producer(**more)) as producer:
        producer.init_transactions()


def partition_of(source: str, target: str) -> int:
    """Where the proofs of a pair of topics are."""
    return (murmur2(record_key(source, target)) & 0x7FFFFFFF) % PARTITIONS


def test_an_open_transaction_of_another_gate_stops_no_start(
    broker: Broker, topic: TopicMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, accepted = topic(), topic()
    monkeypatch.setattr(proof, "OPEN_SECONDS", 0.0)  # nothing is waited for
    with closing(publisher_of(broker, read, accepted)) as publisher:
        publisher.begin(0)
        with open_transaction(broker, read, (partition_of(read, accepted) + 1) % PARTITIONS):
            publisher.publish(0, [Message(accepted, None, b"a")], {(read, 0): 1})
            with closing(publisher_of(broker, read, accepted)) as again:
                assert again.begin(1) == 1
        with (  # in the same partition, and after this gate's own proof
            open_transaction(broker, read, partition_of(read, accepted)),
            closing(publisher_of(broker, read, accepted)) as again,
        ):
            assert again.begin(1) == 1
    assert values(broker, accepted) == [b"a"]


def test_an_open_transaction_of_another_gate_hides_no_proof(
    broker: Broker, topic: TopicMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, accepted = topic(), topic()
    with closing(publisher_of(broker, read, accepted)) as publisher:
        publisher.begin(0)
        with open_transaction(broker, read, partition_of(read, accepted)) as producer:
            publisher.publish(0, [Message(accepted, None, b"a")], {(read, 0): 1})
            with closing(publisher_of(broker, read, accepted)) as again:
                monkeypatch.setattr(proof, "OPEN_SECONDS", 0.0)
                with pytest.raises(UnreachableError, match="hides a proof of this one"):
                    again.begin(1)
                monkeypatch.undo()
                # A reader of committed records sees nothing of it before
                ending = threading.Timer(1.0, producer.abort_transaction)
                ending.start()
                assert again.begin(1) == 1
                ending.join()
    assert values(broker, accepted) == [b"a"]


def test_the_broker_ends_the_transaction_of_a_gate_that_does_not_come_back(
    broker: Broker, topic: TopicMaker
) -> None:
    """Two gates share a partition: the wait is no longer than the transaction may be.

    A run tries again for PATIENCE_SECONDS, which is longer.
    """
    read, accepted = topic(), topic()
    with closing(publisher_of(broker, read, accepted)) as publisher:
        publisher.begin(0)
        home = partition_of(read, accepted)
        with open_transaction(broker, read, home, transaction_timeout_ms=1000):
            publisher.publish(0, [Message(accepted, None, b"a")], {(read, 0): 1})
            with closing(publisher_of(broker, read, accepted)) as again:

                def begun() -> bool:
                    try:
                        return again.begin(1) == 1
                    except UnreachableError as error:
                        assert "hides a proof of this one" in str(error)
                        return False

                wait_for(begun)
    assert values(broker, accepted) == [b"a"]
    assert TRANSACTION_SECONDS < PATIENCE_SECONDS


def test_a_topic_of_proofs_of_one_partition_gets_more_and_keeps_what_it_proves(
    broker: Broker, topic: TopicMaker
) -> None:
    read, accepted, proofs = topic(), topic(), topic(cleanup_policy="compact")
    earlier = record_value(Proof("an-older-ledger", 9)), record_value(Proof("ledger", 2))
    with closing(broker.producer()) as producer:
        for value in earlier:
            producer.send(proofs, value, record_key(read, accepted))
        producer.flush()
    known = ProofTopic(KafkaSettings(broker.address), proofs)
    for _ in range(2):
        known.prepare()
        assert Cluster(KafkaSettings(broker.address)).partitions(proofs) == PARTITIONS
        assert known.read(read, [accepted]) == {accepted: Proof("ledger", 2)}
    home = partition_of(read, accepted)
    broker.produce(
        proofs,
        home,
        [record_value(Proof("ledger", 3))],
        key=record_key(read, accepted),
        timestamp_ms=1,  # the clock of its gate is slow
    )
    assert known.read(read, [accepted]) == {accepted: Proof("ledger", 3)}


def test_a_transaction_that_takes_too_long_is_said_and_tried_again(
    broker: Broker, topic: TopicMaker
) -> None:
    read, accepted = topic(), topic()
    publisher = publisher_of(broker, read, accepted, limit=1.0)
    publisher.begin(0)

    def slow() -> Iterator[Message]:
        yield Message(accepted, None, b"never seen" * 1_000_000)
        yield Message(accepted, None, b"nor this")
        with closing(Lookups(KafkaSettings(broker.address), accepted)) as lookups:
            wait_for(lambda: lookups.ends([0])[0] > 0)  # the broker has ended it
        yield Message(accepted, None, b"nor this")

    with pytest.raises(UnreachableError, match=r"kafka\.transaction_seconds \(1 s\)"):
        publisher.publish(0, slow(), {(read, 0): 1})
    assert publisher.begin(1) == 0
    publisher.publish(0, [Message(accepted, None, b"a")], {(read, 0): 1})
    publisher.close()
    assert values(broker, accepted) == [b"a"]


def test_a_topic_that_forgets_is_no_topic_of_proofs(broker: Broker, topic: TopicMaker) -> None:
    with pytest.raises(KafkaSourceError, match=r"cleanup\.policy=delete"):
        ProofTopic(KafkaSettings(broker.address), topic()).prepare()


def test_a_second_publisher_shuts_the_first_one_out(broker: Broker, topic: TopicMaker) -> None:
    read, accepted = topic(), topic()
    first, second = publisher_of(broker, read, accepted), publisher_of(broker, read, accepted)
    assert first.begin(0) == second.begin(0) == 0
    second.publish(0, [Message(accepted, None, b"second")], {(read, 0): 1})
    with pytest.raises(PublisherFencedError):
        first.publish(0, [Message(accepted, None, b"first")], {(read, 0): 1})
    first.close()
    second.close()
    assert values(broker, accepted) == [b"second"]


def test_what_cannot_be_published_is_said_and_nothing_of_the_pane_is_seen(
    broker: Broker, topic: TopicMaker
) -> None:
    read, accepted = topic(), topic()
    publisher = publisher_of(broker, read, accepted, "absent")
    publisher.begin(0)
    with pytest.raises(TopicMissingError, match="absent"):
        publisher.publish(
            0, [Message(accepted, None, b"small"), Message("absent", None, b"x")], {(read, 0): 1}
        )
    assert publisher.begin(1) == 0
    publisher.close()
    assert values(broker, accepted) == []


@pytest.mark.parametrize("compression", ["none", "gzip", "zstd"])
def test_what_is_too_large_for_a_topic_is_told_of_in_another(
    broker: Broker, topic: TopicMaker, compression: Any
) -> None:
    read, accepted, dead = topic(), topic(max_message_bytes=20_000), topic(max_message_bytes=5_000)
    notes: list[str] = []
    publisher = publisher_of(
        broker, read, accepted, dead, compression=compression, notices=dead, on_note=notes.append
    )
    publisher.begin(0)
    # More than one batch takes
    many = [Message(accepted, b"%d" % i, os.urandom(900), kept="accepted/part") for i in range(100)]
    plain = Message(accepted, b"plain", b"a" * 50_000, kept="accepted/part")
    random = Message(accepted, b"random", os.urandom(50_000), (("h", b"v"),), kept="accepted/part")
    headed = Message(
        dead,
        bytes(300),
        b"x",
        (("big", os.urandom(9_000)), ("evenflow.reason", b"why")),
        kept="dead-letter/part",
    )
    publisher.publish(0, [*many, plain, random, headed], {(read, 0): 1})
    publisher.close()
    sent = [*(each.value for each in many), *([] if compression == "none" else [plain.value])]
    assert values(broker, accepted) == sent
    *of_plain, of_random, of_headed = broker.committed(dead)
    assert len(of_plain) == (compression == "none") and (of_random.key, of_random.value) == (
        b"random",
        b"",
    )
    told = dict(of_random.headers)
    assert (
        told["evenflow.withheld"]
        == f"larger than topic {accepted} takes (20000 bytes); it is in accepted/part".encode()
    )
    assert told["evenflow.pane"] and "h" not in told
    assert of_headed.key is None and dict(of_headed.headers)["evenflow.reason"] == b"why"
    assert [f"topic {accepted}" in each or f"topic {dead}" in each for each in notes] == [
        True,
        True,
    ]


@pytest.mark.parametrize("moment", ["after the records", "before the end"])
def test_a_broker_that_goes_away_is_said_soon_and_nothing_is_lost_or_doubled(
    own_broker: Broker, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_broker.start()
    read, accepted = own_broker.create_topic("read"), own_broker.create_topic("accepted")
    publisher = publisher_of(own_broker, read, accepted, delivery=4.0)
    publisher.begin(0)
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
    # Seconds, and what a busy machine adds; without a bound over 120, or for ever
    assert time.monotonic() - began < 60
    monkeypatch.undo()
    with pytest.raises(UnreachableError, match="no answer from"):
        publisher.begin(2)
    own_broker.start()
    for pane in range(publisher.begin(2), 2):
        publisher.publish(
            pane, [Message(accepted, None, b"1-%d" % i) for i in range(100)], {(read, 0): 7}
        )
    assert publisher.begin(2) == 2
    publisher.close()
    assert values(own_broker, accepted) == [b"0", *(b"1-%d" % i for i in range(100))]
