"""The proof of what was published: a compacted topic that each transaction writes to.

Every start reads it. The key of a proof's record is a pair of topics (read from, published to). The
value says which ledger published to the second topic what it made of the first, and how many of its
panes. The record is part of the transaction that publishes a pane, so there is never one without
the other. The broker keeps the last record of a key permanently, even if groups, their offsets and
the published records are deleted.

An open transaction hides the records that come after its first in a partition. So keys are spread
over partitions, and a start waits only if a record of its own keys is hidden.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple

from kafka import errors as kafka_errors
from kafka.partitioner import murmur2
from kafka.structs import TopicPartition

from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.consumers import ANSWER_MS, ask_offsets, connect
from evenflow.transforms.kafka.errors import (
    KafkaSourceError,
    TopicMissingError,
    UnreachableError,
    explain,
)
from evenflow.transforms.kafka.settings import KafkaSettings

# The segments are small, so that the broker compacts them soon and a start reads little
TOPIC_SETTINGS = {
    "cleanup.policy": "compact",
    "segment.bytes": str(16 << 20),
    "min.cleanable.dirty.ratio": "0.1",
}
# So many that two of some dozen gates rarely share one; __transaction_state has as many
PARTITIONS = 50
POLL_MS = 200
# Time without a record before the end, after which the broker counts as unreachable
SILENT_SECONDS = 10.0
# Time to wait for an open transaction of another gate, which writes its proofs just before it ends
OPEN_SECONDS = 10.0


class Proof(NamedTuple):
    """What a topic has of a ledger."""

    ledger: str
    panes: int


class UnprovenError(KafkaSourceError):
    """Nothing says which panes of a ledger a topic has."""


def record_key(source: str, target: str) -> bytes:
    """Write the key of a proof's record."""
    return json.dumps([source, target]).encode()


def record_value(proof: Proof) -> bytes:
    """Write the value of a proof's record."""
    return json.dumps(proof._asdict()).encode()


def next_pane(
    target: str, proof: Proof | None, ledger: str, panes: int, given: int | None, where: str
) -> int:
    """Find the next pane of a ledger to publish to a topic."""
    if proof is not None and proof.ledger == ledger and proof.panes <= panes:
        return proof.panes
    if proof is None and panes == 0:
        return 0
    if given is not None and given <= panes:
        return given
    if given is not None:
        raise UnprovenError(f"--publish-from {given}: the ledger has {panes} panes, counted from 0")
    if proof is None:
        why = f"no record in {where} proves which of this output's {panes} panes it has"
    elif proof.ledger == ledger:
        why = (
            f"{where} proves that it has {proof.panes} panes of this output, whose ledger has"
            f" {panes}: is it an old copy?"
        )
    else:
        why = (
            f"{where} proves that it has {proof.panes} panes of another output (ledger"
            f" {proof.ledger}) on the same topic"
        )
    raise UnprovenError(
        f"topic {target}: {why}. Nothing was published. The header evenflow.pane of its last"
        " records says LEDGER/PANE. To go on, name the first pane that it lacks: --publish-from 0"
        f" publishes all panes, --publish-from {panes} none of those so far"
    )


class ProofTopic:
    """The topic of proofs."""

    def __init__(self, settings: KafkaSettings, name: str):
        self._settings, self.name = settings, name

    def prepare(self) -> None:
        """Create the topic if it is not there, and check that the broker keeps its records.

        A topic of an earlier version had one partition; it gets more where this user may add them.

        Raises:
            KafkaSourceError: The broker deletes records, does not answer, or refuses.
        """
        cluster = Cluster(self._settings)
        try:
            if cluster.partitions(self.name) < PARTITIONS:
                cluster.add_partitions(self.name, PARTITIONS)
        except TopicMissingError:
            cluster.create(self.name, PARTITIONS, TOPIC_SETTINGS)
        policy = cluster.topic_settings([self.name])[self.name].get("cleanup.policy", "compact")
        if policy != "compact":
            raise KafkaSourceError(
                f"topic {self.name} has cleanup.policy={policy}, so that proofs expire: set it to"
                " compact, or name another topic in kafka.proof_topic"
            )

    def read(self, source: str, targets: Iterable[str]) -> dict[str, Proof]:
        """Read the proofs of what was read from a topic.

        This publisher's own open transaction must have ended before (`init_transactions`).

        Returns:
            The proofs, by topic published to.

        Raises:
            UnreachableError: Another publisher's transaction is open, or no broker answers.
            KafkaSourceError: Another reason.
        """
        wanted = {record_key(source, target): target for target in targets}
        found: dict[str, tuple[tuple[bool, int, int], Proof]] = {}
        try:
            with (
                closing(connect(self._settings, "read_uncommitted")) as all_,
                closing(connect(self._settings)) as decided,
            ):
                partitions = [
                    TopicPartition(self.name, number)
                    for number in range(Cluster(self._settings).partitions(self.name))
                ]
                ends = ask_offsets(all_.end_offsets, partitions)
                own = {
                    TopicPartition(self.name, record.partition): record.offset + 1
                    for record in _records(all_, ends, self.name)
                    if record.key in wanted
                }
                ends = _wait(lambda: ask_offsets(decided.end_offsets, partitions), own, self.name)
                for record in _records(decided, ends, self.name):
                    if record.key in wanted:
                        # A topic that got more partitions has old records of a key in another one
                        at_home = record.partition == _partition(record.key, len(partitions))
                        rank = (at_home, record.timestamp, record.offset)
                        target = wanted[record.key]
                        if target not in found or found[target][0] < rank:
                            found[target] = rank, _parse(record, self.name)
        except kafka_errors.KafkaError as error:
            raise explain(error, self._settings, f"topic {self.name}") from error
        return {target: proof for target, (_, proof) in found.items()}


def _partition(key: bytes, partitions: int) -> int:
    """The partition of a key's records, as Kafka's clients choose it."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def _wait(
    ask: Callable[[], dict[TopicPartition, int]], own: Mapping[TopicPartition, int], name: str
) -> dict[TopicPartition, int]:
    """Wait until partitions are decided up to some offsets.

    An open transaction hides all records that come after its first.
    """
    until = time.monotonic() + OPEN_SECONDS
    while True:
        decided = ask()
        if all(decided[each] >= offset for each, offset in own.items()):
            return decided
        if time.monotonic() > until:
            raise UnreachableError(
                f"topic {name}: another gate's transaction is open and hides a proof of this one;"
                " the broker ends it within kafka.transaction_seconds of the other gate"
            )
        time.sleep(POLL_MS / 1000)


def _records(consumer: Any, ends: Mapping[TopicPartition, int], name: str) -> Iterator[Any]:
    """Read the records of partitions from their beginning up to some ends."""
    consumer.assign(list(ends))
    consumer.seek_to_beginning(*ends)
    until = time.monotonic() + SILENT_SECONDS
    while any(consumer.position(each, timeout_ms=ANSWER_MS) < ends[each] for each in ends):
        for records in consumer.poll(POLL_MS).values():
            until = time.monotonic() + SILENT_SECONDS
            yield from records
        if time.monotonic() > until:
            raise UnreachableError(f"topic {name}: no answer: its records do not come")


def _parse(record: Any, name: str) -> Proof:
    """Parse a proof's record."""
    try:
        data = json.loads(record.value)
        return Proof(str(data["ledger"]), int(data["panes"]))
    except (ValueError, KeyError, TypeError) as error:
        where = f"topic {name} partition {record.partition} offset {record.offset}"
        raise KafkaSourceError(
            f"{where}: no proof of Evenflow's; name a topic for proofs alone in kafka.proof_topic"
        ) from error
