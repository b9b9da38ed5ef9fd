"""What is published of a record that is too large for its topic.

A topic's max.message.bytes counts what is sent, so records are sent compressed (kafka.compression).
One that is still too large stays on disk alone, where it is in any case, and a notice of it goes to
the topic of dead letters: without its value, with headers that say why and in which file it is.
Where no such topic is published to, nothing is sent of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from kafka.codec import gzip_encode, zstd_encode

from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.settings import KafkaSettings

Compression = Literal["none", "gzip", "zstd"]

REQUEST_BYTES = 64 << 20  # of a record before it is compressed: so much is held in memory
# A broker's own max.message.bytes, taken where this user may not see a topic's
DEFAULT_BYTES = 1_048_588
MARGIN_BYTES = 1024  # of a record's place in its batch, and of what compression may add
SHOWN_BYTES = 200  # of a key or header that a notice keeps
OWN = "evenflow."  # begins the names of headers that are made here
CODECS: dict[Compression, Callable[[bytes], bytes]] = {
    "none": bytes,
    "gzip": gzip_encode,
    "zstd": zstd_encode,
}


class Message(NamedTuple):
    """A record to be published.

    headers: (name, value) pairs; Kafka's null values become empty, kafka-python takes no others.
    kept: its file in the output.
    """

    topic: str
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes | None], ...] = ()
    kept: str = ""


@dataclass
class Sizes:
    """What topics take, and where notices go.

    compression: of what is sent. limits: bytes by topic. notices: the topic of dead letters.
    withheld: how many records were too large since the start, by topic.
    """

    compression: Compression
    limits: dict[str, int]
    notices: str | None
    withheld: dict[str, int] = field(default_factory=dict)

    def fitted(self, message: Message) -> Message | None:
        """The message, or the notice in its place; None: nothing is sent."""
        size, limit = self._size(message), self.limits.get(message.topic, DEFAULT_BYTES)
        if size is not None and size <= limit:
            return message
        self.withheld[message.topic] = self.withheld.get(message.topic, 0) + 1
        if self.notices is None:
            return None
        short = message.key is not None and len(message.key) <= SHOWN_BYTES
        said = f"larger than topic {message.topic} takes ({limit} bytes); it is in {message.kept}"
        own = [
            (name, (value or b"")[:SHOWN_BYTES])
            for name, value in message.headers
            if name.startswith(OWN)
        ]
        headers = (*own, (f"{OWN}withheld", said.encode()))
        return Message(self.notices, message.key if short else None, b"", headers)

    def _size(self, message: Message) -> int | None:
        """Bytes that a record takes when it is sent, at most; None: more than is worth finding out."""
        parts = [message.key or b"", message.value]
        for name, value in message.headers:
            parts += [name.encode(), value or b""]
        plain = sum(map(len, parts)) + 10 * len(parts)  # lengths before each part
        if plain + MARGIN_BYTES <= self.limits.get(message.topic, DEFAULT_BYTES):
            return plain + MARGIN_BYTES
        if plain > REQUEST_BYTES:
            return None
        return len(CODECS[self.compression](b"".join(parts))) + MARGIN_BYTES


def limits(settings: KafkaSettings, topics: Sequence[str]) -> dict[str, int]:
    """Bytes that topics take of a batch of records, and so of one record. Raises KafkaSourceError."""
    found = Cluster(settings).topic_settings(topics)
    return {topic: int(found[topic].get("max.message.bytes", DEFAULT_BYTES)) for topic in topics}
