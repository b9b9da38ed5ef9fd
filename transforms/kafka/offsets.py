"""The offsets of a consumer group: they follow the ledger so that other tools can see them.

They are compared with the ledger and never trusted. A pane is committed in this order, each step
durable before the next: (a) the ledger's entry; (b) the offsets of the pane's end, with the pane's
number as a note. A kill between the two leaves the group behind the ledger by one pane; the next
start reads from the ledger and commits again. So only the owner of the ledger commits here, after
the entry, and only up to the first pane that is not in the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka import errors as kafka_errors
from kafka.structs import OffsetAndMetadata, TopicPartition

from evenflow.transforms.kafka.consumers import ANSWER_MS, connect, disconnect
from evenflow.transforms.kafka.errors import explain
from evenflow.transforms.kafka.settings import KafkaSettings

PartitionKey = tuple[str, int]


def offset_note(pane: int) -> str:
    """Write the note that is stored with a committed offset, for people to read."""
    return f"evenflow pane {pane}"


class GroupOffsets:
    """Reads and commits the offsets of a group that no consumer has joined.

    It is not thread-safe.
    """

    def __init__(self, settings: KafkaSettings, group: str):
        self._settings, self._group = settings, group
        self._consumer: Any = None

    def commit(self, offsets: Mapping[PartitionKey, int], pane: int) -> None:
        """Commit the offsets of a pane's end, after its entry is in the ledger.

        Args:
            offsets: The next offset to read, by topic and partition.

        Raises:
            KafkaSourceError: The broker does not answer, or refuses.
        """
        values = {
            TopicPartition(*key): OffsetAndMetadata(offset, offset_note(pane), -1)
            for key, offset in offsets.items()
        }
        try:
            self._connect().commit(values, timeout_ms=ANSWER_MS)
        except kafka_errors.KafkaError as error:
            raise explain(error, self._settings, f"group {self._group}") from error

    def committed(self, partitions: Iterable[PartitionKey]) -> dict[PartitionKey, int]:
        """Read the group's offsets, without those of a transaction that is still open.

        Returns:
            The next offset to read of each partition that has one.

        Raises:
            KafkaSourceError: The broker does not answer, or refuses.
        """
        found: dict[PartitionKey, int] = {}
        try:
            for key in partitions:
                value = self._connect().committed(TopicPartition(*key), timeout_ms=ANSWER_MS)
                if value is not None and value >= 0:
                    found[key] = value
        except kafka_errors.KafkaError as error:
            raise explain(error, self._settings, f"group {self._group}") from error
        return found

    def _connect(self) -> Any:
        """Return the consumer; connect it if there is none."""
        if self._consumer is None:
            # A reader of committed records would wait for the end of another process' transaction
            self._consumer = connect(self._settings, "read_uncommitted", group_id=self._group)
        return self._consumer

    def close(self) -> None:
        """Close the connection."""
        consumer, self._consumer = self._consumer, None
        disconnect(consumer)


@dataclass(frozen=True)
class Difference:
    """A partition whose offset in the group differs from the ledger's."""

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
    """Find where a ledger's positions and a group's offsets differ.

    Nothing has to be done about a difference: reading goes on from the ledger, and the next commit
    corrects the group.

    Args:
        ledger: The ledger's next offsets by topic and partition.
        group: The group's next offsets by topic and partition.

    Returns:
        The differences, in the order of the partitions.
    """
    out = []
    for key in sorted({*ledger, *group}):
        known, seen = ledger.get(key), group.get(key)
        if known != seen:
            out.append(Difference(*key, known, seen))
    return out
