"""Tells whether a topic is still the one that a ledger has read, and up to where it is decided."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any, NamedTuple
from uuid import UUID

from kafka import KafkaAdminClient
from kafka import errors as kafka_errors
from kafka.structs import TopicPartition

from evenflow.transforms.kafka.consumers import ANSWER_MS, ask_offsets, connect
from evenflow.transforms.kafka.errors import TopicMissingError, explain
from evenflow.transforms.kafka.reasons import with_reason
from evenflow.transforms.kafka.settings import KafkaSettings

# How long an open transaction is waited for: one that publishes a pane ends within
# kafka.transaction_seconds
OPEN_SECONDS = 90.0
LOOK_SECONDS = 0.5  # between two looks whether it has ended


class TopicFacts(NamedTuple):
    """What a topic is known by.

    Attributes:
        id: The id that Kafka gave it when it was made; None from a broker without such ids.
        partitions: The number of its partitions, which never falls.
    """

    id: str | None
    partitions: int

    @classmethod
    def read(cls, noted: Mapping[str, Any] | None) -> TopicFacts:
        """Read what a ledger noted; nothing was noted of a topic that nothing was read of."""
        return cls(**noted) if noted else cls(None, 0)


def compare(topic: str, known: TopicFacts, seen: TopicFacts) -> None:
    """See that a topic is the one that was known before."""
    if None not in (known.id, seen.id) and known.id != seen.id:
        why = f"has the id {seen.id} and had {known.id}"
    elif seen.partitions < known.partitions:
        why = f"has {seen.partitions} partitions and had {known.partitions}"
    else:
        return
    raise TopicMissingError(
        f"topic {topic} {why}: it was deleted and made anew. Go on with a new output directory"
    )


def facts(described: Mapping[str, Any]) -> TopicFacts:
    """Read the facts of a topic from kafka-python's description of it."""
    given = described.get("topic_id")
    number = UUID(str(given)) if given else UUID(int=0)
    return TopicFacts(str(number) if number.int else None, len(described["partitions"]))


class KnownTopic:
    """A topic whose records a ledger has. It keeps a connection, and is not thread-safe.

    Attributes:
        facts: What the broker said last.
    """

    def __init__(self, settings: KafkaSettings, topic: str, known: TopicFacts):
        self._settings, self._topic, self.facts = settings, topic, known
        self._admin: Any = None

    def check(self) -> None:
        """See that the topic is still the one whose records were read until now.

        An id never comes back. So where this succeeds, no record that was read before is of another
        topic.

        Raises:
            TopicMissingError: It is gone, or was deleted and made anew.
            UnreachableError: No broker answers.
            KafkaSourceError: Another reason.
        """
        what = f"topic {self._topic}"
        try:
            if self._admin is None:
                options: dict[str, Any] = {
                    "bootstrap_timeout_ms": ANSWER_MS,
                    "request_timeout_ms": ANSWER_MS,
                }
                with with_reason():
                    self._admin = KafkaAdminClient(**self._settings.client(), **options)
            (described,) = self._admin.describe_topics([self._topic])
            if described["error_code"]:
                raise kafka_errors.for_code(described["error_code"])()
        except kafka_errors.KafkaError as error:
            self.close()
            raise explain(error, self._settings, what) from error
        seen = facts(described)
        compare(self._topic, self.facts, seen)
        self.facts = TopicFacts(seen.id or self.facts.id, seen.partitions)

    def close(self) -> None:
        """Close the connection."""
        admin, self._admin = self._admin, None
        if admin is not None:
            admin.close()


def decided_ends(
    settings: KafkaSettings, topic: str, partitions: int, on_open: Callable[[str], None]
) -> tuple[list[int], str | None]:
    """Find the ends of a topic's partitions, and wait for the transactions that are open there.

    Records from an open transaction's first one on are hidden until it ends.

    Args:
        on_open: Called with a sentence where a transaction is waited for.

    Returns:
        For each partition, the offset after its last record as of the call; where a transaction was
        open for longer than OPEN_SECONDS, that of its first record. And a sentence on these; None
        where there are none.

    Raises:
        UnreachableError: No broker answers.
        KafkaSourceError: Another reason.
    """
    wanted = [TopicPartition(topic, number) for number in range(partitions)]
    until, noted = time.monotonic() + OPEN_SECONDS, False
    try:
        with (
            closing(connect(settings, "read_uncommitted")) as all_,
            closing(connect(settings)) as decided,
        ):
            ends = ask_offsets(all_.end_offsets, wanted)
            while True:
                stable = ask_offsets(decided.end_offsets, wanted)
                hidden = {
                    each.partition: stable[each] for each in wanted if stable[each] < ends[each]
                }
                where = f"topic {topic}, " + ", ".join(
                    f"partition {number} from offset {first}" for number, first in hidden.items()
                )
                if not hidden:
                    return [ends[each] for each in wanted], None
                if time.monotonic() >= until:
                    return [min(stable[each], ends[each]) for each in wanted], (
                        f"{where}: a transaction is still open after {OPEN_SECONDS:.0f} s; its"
                        " records, and later ones, were not read. Run again when it has ended"
                    )
                if not noted:
                    on_open(
                        f"{where}: a transaction is open; waiting for its end for"
                        f" {OPEN_SECONDS:.0f} s at most"
                    )
                    noted = True
                time.sleep(LOOK_SECONDS)
    except kafka_errors.KafkaError as error:
        raise explain(error, settings, f"topic {topic}") from error
