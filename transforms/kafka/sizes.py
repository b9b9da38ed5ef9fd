"""Replaces a record that is too large for its topic by a notice.

A topic's max.message.bytes counts what is sent, so records are sent compressed (kafka.compression).
A record that is still too large stays on disk only. A notice goes to the topic of dead letters,
without the record's value. Its headers say why, and in which file the record is. Without a topic of
dead letters, nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from kafka.codec import gzip_encode, zstd_encode

from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.settings import KafkaSettings

Compression = Literal["none", "gzip", "zstd"]

REQUEST_BYTES = 64 << 20  # largest record before compression, as it is held in memory
# A broker's default max.message.bytes, used where this user may not see a topic's
DEFAULT_BYTES = 1_048_588
MARGIN_BYTES = 1024  # for a record's place in its batch, and for what compression may add
NOTICE_BYTES = 200  # most bytes of a key or header that a notice keeps
OWN = "evenflow."  # begins the names of headers that are made here
CODECS: dict[Compression, Callable[[bytes], bytes]] = {
    "none": bytes,
    "gzip": gzip_encode,
    "zstd": zstd_encode,
}


class Message(NamedTuple):
    """A record to be published.

    Attributes:
        topic: The topic.
        key: The key.
        value: The value.
        headers: (name, value) pairs. Null values become empty, as kafka-python takes no others.
        kept: The record's file in the output.
    """

    topic: str
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes | None], ...] = ()
    kept: str = ""


@dataclass
class Sizes:
    """The limits of topics, and where notices go.

    Attributes:
        compression: Compression of the records that are sent.
        limits: The most bytes of a record, by topic.
        notices: The topic of dead letters; None where it is not published to.
        withheld: How many records were too large since the start, by topic.
    """

    compression: Compression
    limits: dict[str, int]
    notices: str | None
    withheld: dict[str, int] = field(default_factory=dict)

    def fit(self, message: Message) -> Message | None:
        """Return the message if its topic takes it, or a notice in its place.

        Args:
            message: The message.

        Returns:
            What to send; None for nothing.
        """
        size, limit = self._size(message), self.limits.get(message.topic, DEFAULT_BYTES)
        if size is not None and size <= limit:
            return message
        self.withheld[message.topic] = self.withheld.get(message.topic, 0) + 1
        if self.notices is None:
            return None
        short = message.key is not None and len(message.key) <= NOTICE_BYTES
        reason = f"larger than topic {message.topic} takes ({limit} bytes); it is in {message.kept}"
        own = [
            (name, (value or b"")[:NOTICE_BYTES])
            for name, value in message.headers
            if name.startswith(OWN)
        ]
        headers = (*own, (f"{OWN}withheld", reason.encode()))
        return Message(self.notices, message.key if short else None, b"", headers)

    def _size(self, message: Message) -> int | None:
        """Return the most bytes of a record when sent; None where it is too large to find out."""
        parts = [message.key or b"", message.value]
        for name, value in message.headers:
            parts += [name.encode(), value or b""]
        plain = sum(map(len, parts)) + 10 * len(parts)  # each part has its length before it
        if plain + MARGIN_BYTES <= self.limits.get(message.topic, DEFAULT_BYTES):
            return plain + MARGIN_BYTES
        if plain > REQUEST_BYTES:
            return None
        return len(CODECS[self.compression](b"".join(parts))) + MARGIN_BYTES


def topic_limits(settings: KafkaSettings, topics: Sequence[str]) -> dict[str, int]:
    """Find how many bytes topics take of a batch of records, and so of one record.

    Args:
        settings: The cluster.
        topics: The topics.

    Returns:
        The bytes by topic.

    Raises:
        KafkaSourceError: The broker does not answer, or answers with an error.
    """
    found = Cluster(settings).topic_settings(topics)
    return {topic: int(found[topic].get("max.message.bytes", DEFAULT_BYTES)) for topic in topics}
