"""Reads partitions through kafka-python and explains what went wrong.

Each partition has a consumer of its own, which is kept between calls. A new consumer needs hundreds
of milliseconds until it has its first records, so consumers wait in a pool for the next call. Each
fetches ahead on its own thread: what arrives between two calls is there at once at the next.
Partitions are assigned by hand. No consumer group is joined, so nothing is ever rebalanced.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any

from kafka import errors as kafka_errors
from kafka.serializer import Deserializer
from kafka.structs import TopicPartition

from evenflow.transforms.kafka.batches import (
    BatchTooLargeError,
    LargeBatch,
    LargeBatchError,
    Record,
    bound,
    one_poll,
)
from evenflow.transforms.kafka.blocks import weight
from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.consumers import ask_offsets, connect, disconnect
from evenflow.transforms.kafka.errors import (
    BeyondEndError,
    OutOfRangeError,
    TopicMissingError,
    UnreachableError,
    explain,
)
from evenflow.transforms.kafka.settings import KafkaSettings

# Bytes of a partition in one fetch. The broker gives a larger batch alone (KIP-74), so messages of
# 9 MB come too.
FETCH_BYTES = 4 << 20
# So many that a poll takes a whole fetch: then the next fetch is under way while this one is
# processed
POLL_RECORDS = 10_000
# Records of a partition's first poll: 64 KiB of a fetch may hold gigabytes once decompressed. Each
# poll takes twice as many as the last one, or fewer where that one had more than POLL_BYTES
FIRST_RECORDS = 10
POLL_BYTES = 16 << 20
# Headers of a record that are kept; an empty one has 2 bytes in a batch, and 150 here
MOST_HEADERS = 100
LEFT_OUT = "evenflow.headers-left-out"  # a header in place of those above, with their number
# How long the broker holds a fetch that finds nothing; an arriving record ends the wait
FETCH_WAIT_MS = 500
# The longest time between two attempts to connect, so that a broker that is back is soon found
RECONNECT_MS = 2_000
# How long a broker may be away before reading gives up; a restart takes seconds to minutes
PATIENCE_SECONDS = 300.0

AGAIN_SECONDS = 1.0  # time until a broker that did not answer is asked again
ASK_SECONDS = 10.0  # time between two questions whether a topic that gives nothing still exists
OUT_OF_RANGE = (
    kafka_errors.OffsetOutOfRangeError,
    kafka_errors.LogTruncationError,  # pyright: ignore[reportAttributeAccessIssue]
)

_LOG = logging.getLogger(__name__)


class Trimmed(Deserializer):
    """Leaves a record's value as it is, and keeps the first MOST_HEADERS of its headers.

    kafka-python calls it while it takes one record after the other from a batch.
    """

    # The types know the form of kafka-python 2 alone, without headers
    def deserialize(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, topic: str, headers: list[tuple[str, bytes | None]], data: bytes | None
    ) -> bytes | None:
        """Shorten the list of headers in place."""
        more = len(headers) - MOST_HEADERS
        if more > 0:
            headers[MOST_HEADERS:] = [(LEFT_OUT, str(more).encode())]
        return data


class PartitionReader:
    """Reads one partition with a consumer of its own. It is not thread-safe.

    Args:
        patience: How many seconds a broker may be away.

    Attributes:
        failing_since: When the broker's failure began, on the same clock; None while it answers.
    """

    def __init__(self, settings: KafkaSettings, topic: str, partition: int, patience: float):
        self.topic, self.partition = topic, partition
        self.failing_since: float | None = None
        self._asked = 0.0
        self._patience = patience
        self._settings = settings
        self._tp = TopicPartition(topic, partition)
        self._consumer: Any = None
        self._asked_for = -1  # the offset that a caller is to go on from
        # Where the consumer is; beyond _asked_for where only offsets without a record came
        self._position = -1
        self._most = FIRST_RECORDS  # records of the next poll
        self._large: tuple[LargeBatch, Iterator[Record]] | None = None  # what is being read of it

    @property
    def name(self) -> str:
        """Topic and partition, for messages."""
        return f"{self.topic} partition {self.partition}"

    def read(self, position: int, wait: float, most: int = POLL_RECORDS) -> tuple[list[Any], int]:
        """Read the records from an offset on.

        Marks of transactions and records that were compacted away have offsets too. So the next
        offset may be after the last record's, and after `position` where there is no record at all.
        An unreachable broker gives nothing until patience ends.

        Args:
            wait: How many seconds to wait for records.
            most: How many records are wanted; others stay with the consumer for the next call.

        Returns:
            Records of kafka-python, and the next offset.

        Raises:
            KafkaSourceError: Reading cannot go on.
            OutOfRangeError: The broker no longer has the offset.
            BatchTooLargeError: The records from the offset on are in a batch that is too large.
        """
        try:
            consumer = self._connect()
            if self._large is not None and self._asked_for == position:
                return self._read_large(*self._large, position)
            if self._asked_for != position:
                consumer.seek(self._tp, position)
                self._asked_for, self._position, self._large = position, position, None
            with one_poll():
                wanted = min(self._most, most)
                polled = consumer.poll(timeout_ms=int(wait * 1000), max_records=wanted)
            records = polled.get(self._tp, [])
            after = consumer.position(self._tp, timeout_ms=100)
        except LargeBatchError as error:
            self._asked_for = position
            self._large = error.batch, error.batch.records(self.topic, self.partition, position)
            return self.read(position, wait, most)
        except OUT_OF_RANGE:
            self._asked_for = -1
            first = self._first(position)
            raise OutOfRangeError(first) from None
        except BatchTooLargeError:
            self._asked_for, self._large = -1, None  # the consumer goes to where the caller goes on
            raise
        except kafka_errors.KafkaError as error:
            self._note_failure(error)
            return [], position
        self._position = max(self._position, after or 0)
        if records:
            self.failing_since = None
            self._asked_for = self._position
            size = sum(map(weight, records))
            most = 2 * self._most if size <= POLL_BYTES else len(records) * POLL_BYTES // size
            self._most = min(max(most, 1), POLL_RECORDS)
        return records, self._position

    def _read_large(
        self, batch: LargeBatch, rest: Iterator[Record], position: int
    ) -> tuple[list[Any], int]:
        """Read some records of a large batch, and the next offset."""
        records: list[Any] = []
        size, headers = 0, Trimmed()
        try:
            for record in rest:
                headers.deserialize(self.topic, record.headers, record.value)
                records.append(record)
                size += weight(record)
                self._asked_for = self._position = record.offset + 1
                if size > POLL_BYTES or len(records) >= POLL_RECORDS:
                    return records, self._position
        except (BatchTooLargeError, kafka_errors.CorruptRecordError) as error:
            if not records:
                self._asked_for, self._large = -1, None
                raise
            self._large = batch, _failing(error)
            return records, self._position
        self._asked_for, self._large = -1, None  # the consumer has to leave the batch
        self._position = batch.next
        return records, batch.next

    def _first(self, position: int) -> int:
        """Find the partition's first offset; BeyondEndError if `position` is after its end."""
        try:
            first = ask_offsets(self._consumer.beginning_offsets, [self._tp])[self._tp]
            end = ask_offsets(self._consumer.end_offsets, [self._tp])[self._tp]
        except kafka_errors.KafkaError as error:
            self._note_failure(error)
            return position
        if position > end:
            raise BeyondEndError(
                f"{self.name}: offset {position} is due but the partition ends at {end}: was the"
                " topic deleted and made anew, or its log cut? Go on with a new output directory"
            )
        return first

    def end(self) -> int | None:
        """Ask for the offset after the partition's last readable record.

        Returns:
            The offset; None if the broker does not answer.

        Raises:
            KafkaSourceError: The failure will not pass, or has lasted too long.
        """
        try:
            end = ask_offsets(self._connect().end_offsets, [self._tp])[self._tp]
        except kafka_errors.KafkaError as error:
            self._note_failure(error)
            return None
        self.failing_since = None
        return end

    def _connect(self) -> Any:
        """Return the consumer; connect it if there is none."""
        if self._consumer is None:
            bound()
            self._consumer = connect(
                self._settings,
                auto_offset_reset="none",  # an offset that is gone is reported, never skipped
                allow_auto_create_topics=False,
                max_partition_fetch_bytes=FETCH_BYTES,
                value_deserializer=Trimmed(),
                fetch_max_wait_ms=FETCH_WAIT_MS,
                reconnect_backoff_max_ms=RECONNECT_MS,
            )
            self._consumer.assign([self._tp])
            self._asked_for = -1
        return self._consumer

    def _note_failure(self, error: Exception) -> None:
        """Note a failure; raise it, explained, if it will not pass or has lasted too long."""
        if not getattr(error, "retriable", False):
            raise explain(error, self._settings, self.name) from error
        now = time.monotonic()
        if self.failing_since is None:
            self.failing_since = now
            _LOG.warning(
                "%s: no answer from %s (%s); trying on", self.name, self._settings.bootstrap, error
            )
        if now - self._asked > ASK_SECONDS and not isinstance(
            error, kafka_errors.KafkaConnectionError
        ):
            self._asked = now
            missing = Cluster(self._settings).is_missing(self.topic, self.partition)
        else:
            missing = False
        if missing:
            raise TopicMissingError(
                f"{self.name} is no longer on {self._settings.bootstrap}: it was deleted; read up"
                f" to offset {self._position}"
            )
        if now - self.failing_since > self._patience:
            raise UnreachableError(
                f"{self.name}: no answer from {self._settings.bootstrap} for {self._patience:.0f}"
                f" s: {error}; start again when the broker is back, nothing is lost"
            ) from error

    def close(self) -> None:
        """Close the connection."""
        consumer, self._consumer = self._consumer, None
        disconnect(consumer)


def _failing(error: Exception) -> Iterator[Record]:
    """Records that cannot be read: the error comes when they are asked for."""
    raise error
    yield
