"""Asks what the brokers know of a topic's partitions: their ends, and the offset of a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from kafka import errors as kafka_errors
from kafka.structs import TopicPartition

from evenflow.transforms.kafka.consumers import ANSWER_MS, ask_offsets, connect, disconnect
from evenflow.transforms.kafka.errors import explain
from evenflow.transforms.kafka.settings import KafkaSettings

RECONNECT_MS = 2_000


class Found(NamedTuple):
    """The first record from a time on: its offset, and its timestamp in ms since 1970."""

    offset: int
    time: int


class Lookups:
    """Asks about partitions over one connection. It reads no record, and is not thread-safe.

    All that it answers is of committed records: an end is the offset after the last readable one.
    """

    def __init__(self, settings: KafkaSettings, topic: str):
        self._settings, self.topic = settings, topic
        self._consumer: Any = None

    def firsts(self, partitions: Iterable[int]) -> dict[int, int]:
        """Find the first offsets of partitions. Raises KafkaSourceError."""
        return self._ask("beginning_offsets", partitions)

    def ends(self, partitions: Iterable[int]) -> dict[int, int]:
        """Find the ends of partitions. Raises KafkaSourceError."""
        return self._ask("end_offsets", partitions)

    def since(self, time: int, partitions: Iterable[int]) -> dict[int, Found]:
        """Find the first record of each partition whose timestamp is at least a time.

        Args:
            time: In milliseconds since 1970.

        Returns:
            What was found by partition; a partition without such a record is missing.

        Raises:
            KafkaSourceError: The broker does not answer, or refuses.
        """

        def ask(consumer: Any, wanted: list[TopicPartition]) -> dict[int, Found]:
            found = consumer.offsets_for_times(dict.fromkeys(wanted, time), timeout_ms=ANSWER_MS)
            return {
                key.partition: Found(each.offset, each.timestamp)
                for key, each in found.items()
                if each is not None
            }

        return self._asked(ask, partitions)

    def _ask(self, what: str, partitions: Iterable[int]) -> dict[int, int]:
        def ask(consumer: Any, wanted: list[TopicPartition]) -> dict[int, int]:
            found = ask_offsets(getattr(consumer, what), wanted)
            return {key.partition: offset for key, offset in found.items()}

        return self._asked(ask, partitions)

    def _asked(self, ask: Any, partitions: Iterable[int]) -> Any:
        wanted = [TopicPartition(self.topic, number) for number in partitions]
        if not wanted:
            return {}
        try:
            if self._consumer is None:
                self._consumer = connect(self._settings, reconnect_backoff_max_ms=RECONNECT_MS)
            return ask(self._consumer, wanted)
        except KeyError as error:
            self.close()
            timeout = kafka_errors.KafkaTimeoutError(f"no offset of {error} in the answer")
            raise explain(timeout, self._settings, f"topic {self.topic}") from error
        except kafka_errors.KafkaError as error:
            self.close()  # a new connection knows new partitions
            raise explain(error, self._settings, f"topic {self.topic}") from error

    def close(self) -> None:
        """Close the connection."""
        consumer, self._consumer = self._consumer, None
        disconnect(consumer)
