"""Publishes what the gate has committed: accepted documents and dead letters.

Each pane is one transaction. A consumer with isolation.level=read_committed sees every accepted
document and every dead letter exactly once. It sees the panes in the order of the ledger, and each
pane whole or not at all. Kills and restarts do not change this. A consumer that reads
uncommitted records may see those of a pane twice, or those of an aborted transaction.

The steps, each durable before the next:

1. The pane's entry is in the ledger, and its shards are in place.
2. One transaction writes the pane's records, and the source offsets of its end to the group. It
   also writes to the topic of proofs how many panes of which ledger each topic has (see proof.py).
3. At the next start the proofs say, for each topic, from which pane on to publish from the shards.
   A transaction that was open is aborted before that. If there is no proof, or only the proof of
   another ledger, nothing is published until a person names the first pane.

The transactional id is the ledger's. So if an output was copied, the second publisher shuts out the
first. Group offsets are only for other tools: if they are changed or lost, still nothing is
published twice or left out.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from kafka import KafkaProducer
from kafka import errors as kafka_errors
from kafka.structs import OffsetAndMetadata, TopicPartition

from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.consumers import ANSWER_MS
from evenflow.transforms.kafka.errors import (
    KafkaSourceError,
    TopicMissingError,
    UnreachableError,
    explain,
)
from evenflow.transforms.kafka.offsets import PartitionKey, offset_note
from evenflow.transforms.kafka.proof import (
    Proof,
    ProofTopic,
    next_pane,
    record_key,
    record_value,
)
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.kafka.sizes import (
    MARGIN_BYTES,
    REQUEST_BYTES,
    Compression,
    Message,
    Sizes,
    Times,
    topic_limits,
    topic_times,
)

PANE_HEADER = "evenflow.pane"  # LEDGER/PANE, on each record
BATCH_BYTES = 256 << 10  # size of the records that are sent together
# Records are sent at the latest when they have this size, because kafka-python holds what it has
# not sent in memory, without a limit of its own
FLUSH_BYTES = 8 << 20
# Time that the broker may take for FLUSH_BYTES, or for the end of a transaction; then the pane is
# tried again
DELIVERY_SECONDS = 20.0
# Time to wait for a topic's partitions, or for the broker at the start of a transaction
BLOCK_MS = 10_000
CLOSE_SECONDS = 1.0  # time for what is being sent when a producer is closed
# Time to publish a pane, after which the broker aborts it. As long, readers of committed records
# wait for a gate that was killed and does not come back
TRANSACTION_SECONDS = 90.0


class PublisherFencedError(KafkaSourceError):
    """Another publisher of the same ledger has taken over."""


class TooSlowError(UnreachableError):
    """The broker ended a transaction that took too long."""


class PanePublisher:
    """Publishes panes in the order of a ledger. It is not thread-safe.

    Args:
        group: The group that the source's offsets are committed to.
        delivery: Seconds after which a broker that confirms nothing counts as unreachable.
        limit: Seconds that a transaction may take.
        notices: The target for notices of records that are too large for their topic.
        on_note: Called with what a user should know.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        group: str,
        proofs: ProofTopic,
        ledger: str,
        source: str,
        targets: Sequence[str],
        delivery: float = DELIVERY_SECONDS,
        limit: float = TRANSACTION_SECONDS,
        compression: Compression = "zstd",
        notices: str | None = None,
        on_note: Callable[[str], None] = lambda text: None,
    ):
        self._settings, self._group = settings, group
        self._delivery, self._limit = delivery, limit
        self._proofs, self._ledger, self._source, self._targets = proofs, ledger, source, targets
        self._compression: Compression = compression
        self._notices, self._on_note = notices, on_note
        self._next: dict[str, int] = {}  # the first pane that each target lacks
        self._limits: dict[str, int] = {}
        self._times: dict[str, Times] = {}
        self._producer: Any = None

    def begin(self, panes: int, given: int | None = None) -> int:
        """Find the first pane to publish, and prove it where a person had to name it.

        Args:
            panes: How many panes the ledger has.
            given: The pane that a person named; see `proof.next_pane`.

        Returns:
            The first pane that a topic lacks.

        Raises:
            UnprovenError: Nothing says what is published.
            KafkaSourceError: Another reason.
        """
        # Connecting ends the transaction that an earlier publisher left open, so that its proofs
        # are there or never will be
        self.connect()
        known = self._proofs.read(self._source, self._targets)
        found = {
            each: next_pane(each, known.get(each), self._ledger, panes, given, self._proofs.name)
            for each in self._targets
        }
        unproven = {
            each: at for each, at in found.items() if known.get(each) != Proof(self._ledger, at)
        }
        if unproven:
            self._transaction("the start", (), unproven, {}, 0)
        self._next = found
        return min(found.values(), default=panes)

    def publish(
        self, pane: int, messages: Iterable[Message], positions: Mapping[PartitionKey, int]
    ) -> int:
        """Publish a pane of the ledger to the topics that lack it.

        A read_committed consumer sees nothing of the pane unless it sees all of it.

        Args:
            messages: Its records; those for topics that have the pane are left out.
            positions: The source's next offsets at its end, by topic and partition.

        Returns:
            How many records were published.

        Raises:
            UnreachableError: The broker does not answer in time. Then `begin` finds out whether the
                pane is published.
            KafkaSourceError: Another reason.
        """
        lacking = {topic for topic, first in self._next.items() if first <= pane}
        notices = self._notices if self._notices in lacking else None
        self.connect()
        sizes = Sizes(self._compression, self._limits, notices)
        mark = (PANE_HEADER, f"{self._ledger}/{pane}".encode())
        marked = (
            each._replace(headers=(*each.headers, mark))
            for each in messages
            if each.topic in lacking
        )
        records = (fitted for each in marked if (fitted := sizes.fit(each)) is not None)
        count = self._transaction(
            f"pane {pane}", records, dict.fromkeys(lacking, pane + 1), positions, pane
        )
        for topic, withheld in sizes.withheld.items():
            where = f"; notices are in {notices}" if notices else ""
            self._on_note(
                f"pane {pane}: {withheld} records are larger than topic {topic} takes and are on"
                f" disk alone{where}"
            )
        self._next |= dict.fromkeys(lacking, pane + 1)
        return count

    def _transaction(
        self,
        what: str,
        messages: Iterable[Message],
        proven: Mapping[str, int],
        positions: Mapping[PartitionKey, int],
        pane: int,
    ) -> int:
        """Send messages, proofs and offsets in one transaction; return the number of messages."""
        producer = self.connect()
        count = held = 0
        topic, since = "", time.monotonic()
        try:
            producer.begin_transaction()
            for message in messages:
                topic = message.topic
                message = self._times[topic].fit(message, int(time.time() * 1000))
                headers = [(name, value or b"") for name, value in message.headers]
                producer.send(
                    topic, message.value, message.key, headers, timestamp_ms=message.timestamp
                )
                count += 1
                held += len(message.value)
                if held > FLUSH_BYTES:
                    producer.flush(self._delivery)
                    held = 0
            producer.flush(self._delivery)
            # Proofs come last, because from here to the end proofs of others may be hidden
            for target, panes in proven.items():
                producer.send(
                    self._proofs.name,
                    record_value(Proof(self._ledger, panes)),
                    record_key(self._source, target),
                )
            producer.flush(self._delivery)
            if positions:
                offsets = {
                    TopicPartition(*key): OffsetAndMetadata(at, offset_note(pane), -1)
                    for key, at in positions.items()
                }
                _within(
                    self._delivery,
                    lambda: producer.send_offsets_to_transaction(offsets, self._group),
                )
            _within(self._delivery, producer.commit_transaction)
        except kafka_errors.KafkaError as error:
            self.close()  # a new producer begins by aborting the open transaction
            # The client has several errors for a transaction that the broker has ended
            if time.monotonic() - since > self._limit:
                raise TooSlowError(
                    f"publishing {what} took longer than kafka.transaction_seconds"
                    f" ({self._limit:g} s), so the broker has ended it ({error}): raise this (a"
                    " broker allows 900 unless its transaction.max.timeout.ms says otherwise), or"
                    " make panes smaller (pane.mib)"
                ) from error
            if _is_fenced(error):
                raise PublisherFencedError(
                    f"ledger {self._ledger}: another publisher of this ledger has taken over"
                ) from error
            if isinstance(error, kafka_errors.MessageSizeTooLargeError):
                raise KafkaSourceError(
                    f"publishing {what}: a topic takes less than its max.message.bytes said, or"
                    " this user may not see that: allow DescribeConfigs on it"
                ) from error
            if topic and Cluster(self._settings).is_missing(topic, 0):
                raise TopicMissingError(
                    f"topic {topic} is not on {self._settings.bootstrap}: create it"
                ) from error
            raise explain(error, self._settings, f"publishing {what}") from error
        except BaseException:
            self.close()
            raise
        return count

    def connect(self) -> Any:
        """Connect to the cluster as a producer of transactions, if that was not done.

        Returns:
            kafka-python's producer.

        Raises:
            KafkaSourceError: The broker does not answer, or refuses.
        """
        if self._producer is None:
            found = Cluster(self._settings).topic_settings(self._targets)
            self._limits = topic_limits(found)
            self._times = {topic: topic_times(each) for topic, each in found.items()}
            options: dict[str, Any] = {
                "transactional_id": f"evenflow-{self._ledger}",
                "transaction_timeout_ms": int(self._limit * 1000),
                # In whole milliseconds, as requests have them. A record's own limit is longer than
                # that of `flush`: the error of a transaction that lost a record no longer says that
                # an answer was missing.
                "delivery_timeout_ms": int(self._delivery * 2000),
                "request_timeout_ms": int(self._delivery * 1000),
                "max_request_size": 2 * REQUEST_BYTES,
                "compression_type": None if self._compression == "none" else self._compression,
                "allow_auto_create_topics": False,
                "bootstrap_timeout_ms": ANSWER_MS,
                "max_block_ms": BLOCK_MS,
                "linger_ms": 20,  # so that records go out in batches of batch_size
                # So small that every topic takes a batch
                "batch_size": max(1, min(BATCH_BYTES, *self._limits.values()) - MARGIN_BYTES),
            }
            try:
                self._producer = KafkaProducer(**self._settings.client(), **options)
                self._producer.init_transactions()
            except kafka_errors.KafkaError as error:
                self.close()
                raise explain(
                    error, self._settings, f"publishing for ledger {self._ledger}"
                ) from error
        return self._producer

    def close(self) -> None:
        """Close the connection; an open transaction is aborted."""
        producer, self._producer = self._producer, None
        if producer is None:
            return
        try:
            producer.close(timeout=CLOSE_SECONDS)
        except kafka_errors.KafkaError:
            # The producer waits for its records. Where they cannot be sent, its thread goes on
            # trying. They must not be sent any more, as the next producer aborts their transaction.
            # kafka-python has no public way to stop it.
            producer._sender.force_close()


def _is_fenced(error: Exception) -> bool:
    """Return whether a broker refused a producer that has a successor.

    Only the message says so in calls after the first.
    """
    text = f"{type(error).__name__}: {error}"
    return "ProducerFenced" in text or "InvalidProducerEpoch" in text


def _within(seconds: float, call: Callable[[], None]) -> None:
    """Make a call with a limit of seconds; without it, the call waits until a broker answers.

    After that it raises KafkaTimeoutError. The call goes on in a thread that then waits for
    nothing: one an attempt, until the process ends.
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
        raise kafka_errors.KafkaTimeoutError(
            f"nothing was confirmed within {seconds:.0f} s"
        ) from error
