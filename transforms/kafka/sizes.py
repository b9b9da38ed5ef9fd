"""Replaces a record that is too large for its topic by a notice.

A topic's max.message.bytes counts what is sent, so records are sent compressed (kafka.compression).
A record that is still too large stays on disk only. A notice goes to the topic of dead letters,
without the record's value. Its headers say why, and in which file the record is. Without a topic of
dead letters, nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from kafka.codec import gzip_encode, zstd_encode

from evenflow.transforms.kafka.panes import FUTURE_MS

Compression = Literal["none", "gzip", "zstd"]

REQUEST_BYTES = 64 << 20  # largest record before compression, as it is held in memory
# A broker's default max.message.bytes, used where this user may not see a topic's
DEFAULT_BYTES = 1_048_588
MARGIN_BYTES = 1024  # for a record's place in its batch, and for what compression may add
NOTICE_BYTES = 200  # most bytes of a key or header that a notice keeps
SKEW_MS = 60_000  # by which a time must be within those that a topic takes
OWN = "evenflow."  # begins the names of headers that are made here
CODECS: dict[Compression, Callable[[bytes], bytes]] = {
    "none": bytes,
    "gzip": gzip_encode,
    "zstd": zstd_encode,
}


class Message(NamedTuple):
    """A record to be published.

    Attributes:
        headers: (name, value) pairs. Null values become empty, as kafka-python takes no others.
        kept: The record's file in the output.
        timestamp: In milliseconds since 1970; None: the time of publishing.
    """

    topic: str
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes | None], ...] = ()
    kept: str = ""
    timestamp: int | None = None


@dataclass
class Sizes:
    """The limits of topics, and where notices go.

    `limits`: The most bytes of a record, by topic.
    """

    compression: Compression
    limits: dict[str, int]
    notices: str | None
    withheld: dict[str, int] = field(default_factory=dict)

    def fit(self, message: Message) -> Message | None:
        """Return the message if its topic takes it, or a notice in its place."""
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


class Times(NamedTuple):
    """The times that a topic takes of records, and whether each record needs a key."""

    before_ms: int
    after_ms: int
    needs_key: bool

    def fit(self, message: Message, now: int) -> Message:
        """Return the message as the topic takes it.

        A time that it does not take becomes the header `evenflow.time`, and a key that is needed is
        the document's id.

        `now`: The clock, in milliseconds since 1970.
        """
        time = message.timestamp
        if time is not None and not now - self.before_ms < time < now + self.after_ms:
            headers = (*message.headers, (f"{OWN}time", str(time).encode()))
            message = message._replace(timestamp=None, headers=headers)
        if self.needs_key and message.key is None:
            message = message._replace(key=dict(message.headers).get(f"{OWN}id"))
        return message


def topic_times(found: Mapping[str, str]) -> Times:
    """Find what times a topic takes, from its settings; by default those of a broker of Kafka 4."""
    before = int(found.get("message.timestamp.before.max.ms", 2**63 - 1))
    after = int(found.get("message.timestamp.after.max.ms", FUTURE_MS))
    # The broker's clock is another one, and sending takes a while
    return Times(
        before - SKEW_MS, after - SKEW_MS, "compact" in found.get("cleanup.policy", "delete")
    )


def topic_limits(found: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
    """Find how many bytes topics take of a batch of records, from their settings."""
    return {
        topic: int(each.get("max.message.bytes", DEFAULT_BYTES)) for topic, each in found.items()
    }
