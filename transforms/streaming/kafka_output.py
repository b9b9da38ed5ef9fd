"""Publishes what the gate has committed to topics: accepted documents and dead letters, each pane in one transaction.

What a consumer with isolation.level=read_committed is promised: it sees every accepted document and every dead letter
exactly once, the panes in the order of the ledger, a pane whole or not at all, whatever was killed and started again.
A consumer that reads uncommitted records may see those of a pane twice, or of a transaction that was given up.

How that comes about, each step durable before the next:

1. The pane's entry is in the ledger, its shards are in place.
2. One transaction writes the pane's records and the source offsets of its end, with the pane's number, to the group.
3. At the next start the number in the group says up to which pane all is published; panes of the ledger after it are
   published again from their shards. Their earlier attempt, if any, was given up: its transaction never ended.

The transactional id is the group's, so a second publisher of the same group shuts the first one out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple

from kafka import KafkaProducer
from kafka import errors as kafka_errors
from kafka.structs import OffsetAndMetadata, TopicPartition

from evenflow.transforms.streaming.kafka_cluster import ANSWER_MS, Cluster
from evenflow.transforms.streaming.kafka_errors import KafkaSourceError, TopicMissingError, explained
from evenflow.transforms.streaming.kafka_offsets import GroupOffsets, PartitionKey, note
from evenflow.transforms.streaming.kafka_settings import KafkaSettings

FLUSH_BYTES = 8 << 20  # kafka-python holds what it has not sent in memory, without a limit of its own
REQUEST_BYTES = 64 << 20  # of one record; the topic's max.message.bytes is what really limits it
DELIVERY_SECONDS = 20.0  # that the broker may take for FLUSH_BYTES, or for the end of a transaction; then the pane is tried again
BLOCK_MS = 10_000  # to wait for a topic's partitions, or for the broker at the start of a transaction
CLOSE_SECONDS = 1.0  # for what is under way when a producer is closed
TRANSACTION_MS = 600_000  # a pane's publishing; brokers allow 15 minutes by default (transaction.max.timeout.ms)


class Message(NamedTuple):
    """A record to be published. headers: (name, value) pairs; Kafka's null values become empty, kafka-python takes no others."""

    topic: str
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes | None], ...] = ()


class PublisherFencedError(KafkaSourceError):
    """Another publisher of the same group has taken over."""


class PanePublisher:
    """Publishes panes in the order of the ledger. Not for two threads at a time.

    delivery: seconds after which a broker that confirms nothing counts as not reachable.
    """

    def __init__(self, settings: KafkaSettings, group: str, delivery: float = DELIVERY_SECONDS):
        self._settings, self._group, self._delivery = settings, group, delivery
        self._producer: Any = None

    def published(self, partitions: Iterable[PartitionKey]) -> int:
        """Number of panes that are published: the next one to publish. partitions: all of the source's in the ledger.

        Raises KafkaSourceError.
        """
        self._connected()  # ends what an earlier publisher left open, so that the offsets are final
        offsets = GroupOffsets(self._settings, self._group)
        try:
            panes = [each.pane for each in offsets.committed(partitions).values() if each.pane is not None]
        finally:
            offsets.close()
        return max(panes, default=-1) + 1

    def publish(self, pane: int, messages: Iterable[Message], positions: Mapping[PartitionKey, int]) -> int:
        """Publish a pane of the ledger with the source offsets (topic, partition) -> next of its end; how many records.

        Nothing is visible to a read_committed consumer unless all is. Raises UnreachableError where the broker does not
        answer in time, after which `published` says whether the pane is, and the other KafkaSourceErrors.
        """
        producer = self._connected()
        count = held = 0
        topic = ""
        try:
            producer.begin_transaction()
            for message in messages:
                topic = message.topic
                headers = [(name, value or b"") for name, value in message.headers]
                producer.send(topic, message.value, message.key, headers)
                count += 1
                held += len(message.value)
                if held > FLUSH_BYTES:
                    producer.flush(self._delivery)
                    held = 0
            producer.flush(self._delivery)
            offsets = {TopicPartition(*key): OffsetAndMetadata(at, note(pane), -1) for key, at in positions.items()}
            _within(self._delivery, lambda: producer.send_offsets_to_transaction(offsets, self._group))
            _within(self._delivery, producer.commit_transaction)
        except kafka_errors.KafkaError as error:
            self.close()  # a new producer begins by giving up the open transaction
            if _is_fenced(error):
                raise PublisherFencedError(f"group {self._group}: another publisher of this group has taken over") from error
            if topic and Cluster(self._settings).is_missing(topic, 0):
                raise TopicMissingError(f"topic {topic} is not on {self._settings.bootstrap}: create it") from error
            raise explained(error, self._settings, f"publishing pane {pane}") from error
        except BaseException:
            self.close()
            raise
        return count

    def _connected(self) -> Any:
        if self._producer is None:
            options: dict[str, Any] = {
                "transactional_id": f"evenflow-{self._group}",
                "transaction_timeout_ms": TRANSACTION_MS,
                # In whole milliseconds, as requests have them. kafka-python gives a record up later than `flush` does: a
                # transaction that lost one tells no more that it was for want of an answer.
                "delivery_timeout_ms": int(self._delivery * 2000),
                "request_timeout_ms": int(self._delivery * 1000),
                "max_request_size": REQUEST_BYTES,
                "allow_auto_create_topics": False,
                "bootstrap_timeout_ms": ANSWER_MS,
                "max_block_ms": BLOCK_MS,
                "linger_ms": 20,  # so that records go out in batches of batch_size
                "batch_size": 256 << 10,
            }
            try:
                self._producer = KafkaProducer(**self._settings.client(), **options)
                self._producer.init_transactions()
            except kafka_errors.KafkaError as error:
                self.close()
                raise explained(error, self._settings, f"publishing for group {self._group}") from error
        return self._producer

    def close(self) -> None:
        """Close the connection; a transaction that is open is given up."""
        producer, self._producer = self._producer, None
        if producer is None:
            return
        try:
            producer.close(timeout=CLOSE_SECONDS)
        except kafka_errors.KafkaError:
            # It waits for its records, and where they cannot be sent, leaves its thread trying. They are not to be sent any
            # more: the next producer has given up their transaction. There is no public way to say so.
            producer._sender.force_close()


def _is_fenced(error: Exception) -> bool:
    """Whether a broker refused a producer that has a successor; calls after the first say so in their message alone."""
    said = f"{type(error).__name__}: {error}"
    return "ProducerFenced" in said or "InvalidProducerEpoch" in said


def _within(seconds: float, call: Callable[[], None]) -> None:
    """Do a call of kafka-python that waits for ever while no broker answers. Raises what it does, and KafkaTimeoutError.

    The call goes on in a thread that then waits for nothing: one an attempt, until the process ends.
    """
    done: Future[None] = Future()

    def work() -> None:
        try:
            call()
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(None)

    threading.Thread(target=work, daemon=True).start()
    try:
        done.result(seconds)
    except TimeoutError as error:
        raise kafka_errors.KafkaTimeoutError(f"nothing was confirmed within {seconds:.0f} s") from error
