"""A consumer group's offsets: they follow the ledger, for other tools to see, and are compared with
it, never believed.

Order of a pane's commit, each step durable before the next: (a) the ledger's entry; (b) the offsets
of the pane's end, with the pane's number beside them. A kill between the two leaves the group
behind the ledger by one pane; the next start reads from the ledger and commits again. So only the
owner of the ledger commits here, after the entry, and only up to the first pane that is not in the
ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka import KafkaConsumer
from kafka import errors as kafka_errors
from kafka.structs import OffsetAndMetadata, TopicPartition

from evenflow.transforms.kafka.cluster import ANSWER_MS
from evenflow.transforms.kafka.errors import explained
from evenflow.transforms.kafka.settings import KafkaSettings

PartitionKey = tuple[str, int]
_NOTE = "evenflow pane "


def note(pane: int) -> str:
    """What is written beside an offset, for people."""
    return f"{_NOTE}{pane}"


class GroupOffsets:
    """Reads and commits the offsets of a group that no consumer has joined. Not for two threads at
    a time.
    """

    def __init__(self, settings: KafkaSettings, group: str):
        self._settings, self._group = settings, group
        self._consumer: Any = None

    def commit(self, offsets: Mapping[PartitionKey, int], pane: int) -> None:
        """Commit offsets (topic, partition) -> next, after a pane's entry is in the ledger. Raises
        KafkaSourceError.
        """
        values = {
            TopicPartition(*key): OffsetAndMetadata(offset, note(pane), -1)
            for key, offset in offsets.items()
        }
        try:
            self._connected().commit(values, timeout_ms=ANSWER_MS)
        except kafka_errors.KafkaError as error:
            raise explained(error, self._settings, f"group {self._group}") from error

    def committed(self, partitions: Iterable[PartitionKey]) -> dict[PartitionKey, int]:
        """The group's offsets of those partitions that have one, the next to be read. Raises
        KafkaSourceError.
        """
        found: dict[PartitionKey, int] = {}
        try:
            for key in partitions:
                value = self._connected().committed(TopicPartition(*key), timeout_ms=ANSWER_MS)
                if value is not None and value >= 0:
                    found[key] = value
        except kafka_errors.KafkaError as error:
            raise explained(error, self._settings, f"group {self._group}") from error
        return found

    def _connected(self) -> Any:
        if self._consumer is None:
            options: dict[str, Any] = {
                "enable_auto_commit": False,
                "bootstrap_timeout_ms": ANSWER_MS,
            }
            self._consumer = KafkaConsumer(
                **self._settings.client(), group_id=self._group, **options
            )
        return self._consumer

    def close(self) -> None:
        """Close the connection."""
        if self._consumer is not None:
            self._consumer.close(autocommit=False, timeout_ms=1_000)
            self._consumer = None


@dataclass(frozen=True)
class Difference:
    """A partition whose offset in the group (None: none) is not the ledger's (None: not in the
    ledger).
    """

    topic: str
    partition: int
    ledger: int | None
    group: int | None

    def __str__(self) -> str:
        where = f"{self.topic} partition {self.partition}"
        if self.ledger is None:
            return (
                f"{where}: the group is at {self.group}, the ledger has nothing of it: another"
                " reader or output directory"
            )
        if self.group is None:
            return (
                f"{where}: the ledger is at {self.ledger}, the group has no offset: it expired, or"
                " was never committed"
            )
        if self.group < self.ledger:
            return (
                f"{where}: the group is at {self.group}, behind the ledger at {self.ledger}: a kill"
                " between entry and commit"
            )
        return (
            f"{where}: the group is at {self.group}, ahead of the ledger at {self.ledger}: moved by"
            " another tool"
        )


def compare(
    ledger: Mapping[PartitionKey, int], group: Mapping[PartitionKey, int]
) -> list[Difference]:
    """Where a ledger's positions (the next offsets) and a group's offsets disagree, in the order of
    the partitions.

    Nothing is to be done about it: reading goes on from the ledger, and the next commit brings the
    group in line.
    """
    out = []
    for key in sorted({*ledger, *group}):
        known, seen = ledger.get(key), group.get(key)
        if known != seen:
            out.append(Difference(*key, known, seen))
    return out
