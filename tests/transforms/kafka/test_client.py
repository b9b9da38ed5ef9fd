"""A partition's reader holds few records that are large once decompressed, and few headers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from evenflow.transforms.kafka import client
from evenflow.transforms.kafka.batches import BatchTooLargeError, LargeBatchError, Record
from evenflow.transforms.kafka.client import LEFT_OUT, MOST_HEADERS, PartitionReader, Trimmed
from evenflow.transforms.kafka.settings import KafkaSettings


class Consumer:
    """A consumer of kafka-python whose records have a size of their own."""

    def __init__(self, sizes: list[int]):
        self.sizes, self.asked, self.at = sizes, [], 0

    def poll(self, timeout_ms: int, max_records: int) -> dict[Any, list[Any]]:
        """The next records."""
        self.asked.append(max_records)
        taken = self.sizes[self.at : self.at + max_records]
        self.at += len(taken)
        values = {size: bytes(size) for size in {*taken}}
        return {TP: [SimpleNamespace(key=None, value=values[each], headers=[]) for each in taken]}

    def position(self, partition: Any, timeout_ms: int) -> int:
        """Where it stands."""
        return self.at

    def seek(self, partition: Any, offset: int) -> None:
        """Go there."""
        self.at = offset


TP = client.TopicPartition("t", 0)


def test_a_poll_takes_more_records_as_long_as_they_are_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    consumer = Consumer([*[client.POLL_BYTES // 2] * 40, *[100] * 50_000])
    reader = PartitionReader(KafkaSettings("h:1"), "t", 0, 1.0)
    monkeypatch.setattr(reader, "_connect", lambda: consumer)
    at = 0
    while at < len(consumer.sizes):
        _, at = reader.read(at, 0.0)
    assert consumer.asked[0] == client.FIRST_RECORDS and max(consumer.asked[1:10]) <= 4
    assert consumer.asked[-1] == max(consumer.asked) == client.POLL_RECORDS


@pytest.mark.parametrize("number", [0, 1, MOST_HEADERS, MOST_HEADERS + 1, 10_000])
def test_the_first_headers_are_kept_and_the_others_counted(number: int) -> None:
    given: list[tuple[str, bytes | None]] = [(f"h{each}", b"") for each in range(number)]
    headers = list(given)
    assert Trimmed().deserialize("t", headers, b"value") == b"value"
    more = max(number - MOST_HEADERS, 0)
    assert headers[:MOST_HEADERS] == given[:MOST_HEADERS]
    assert headers[MOST_HEADERS:] == ([(LEFT_OUT, b"%d" % more)] if more else [])


def test_a_large_batch_is_read_in_several_steps_and_what_follows_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A failure within it comes after the records before it."""

    class Large:
        next = 9

        def records(self, topic: str, partition: int, first: int) -> Any:
            """Four records of half a poll, and an error."""
            for offset in range(first, 8):
                yield Record(topic, partition, offset, 0, None, value, [])
            raise BatchTooLargeError(9)

    value = bytes(client.POLL_BYTES // 2)
    consumer = Consumer([1] * 12)
    taken = consumer.poll

    def poll(**asked: Any) -> dict[Any, list[Any]]:
        if consumer.at == 4:
            raise LargeBatchError(Large())  # type: ignore[arg-type]
        return taken(**asked)

    consumer.poll = poll  # type: ignore[method-assign]
    reader = PartitionReader(KafkaSettings("h:1"), "t", 0, 1.0)
    monkeypatch.setattr(reader, "_connect", lambda: consumer)
    at, steps = 4, []
    for _ in range(2):
        records, at = reader.read(at, 0.0)
        steps.append(([each.offset for each in records], at))
    assert steps == [([4, 5], 6), ([6, 7], 8)]
    with pytest.raises(BatchTooLargeError) as raised:
        reader.read(at, 0.0)
    assert len(reader.read(raised.value.next, 0.0)[0]) == 3
