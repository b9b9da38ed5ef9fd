"""What producers of all kinds write and what becomes of a topic: nothing is lost without a word."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import kafka_codecs
import pytest
from kafka.errors import TopicAlreadyExistsError
from services.kafka_broker import Broker
from services.stream_outputs import (
    TopicMaker,
    command,
    count,
    documents,
    expected,
    letters,
    placed,
    recounted,
    to_end,
    wait_for,
)

from evenflow.gates.ledger.files import read_entries, read_meta
from evenflow.pipelines.engine.topics.publish import Topics
from evenflow.schemas.config import load
from evenflow.transforms.kafka import batches, topics
from evenflow.transforms.kafka.errors import TopicMissingError

CODECS = ("gzip", "snappy", "lz4", "zstd")


def write(broker: Broker, topic: str, codec: str, batches_: Sequence[Sequence[bytes]]) -> None:
    """Write values to partition 0, a batch each list."""
    settings = {"batch_size": 8 << 20, "linger_ms": 10_000, "max_request_size": 1 << 30}
    begin = int(time.time() * 1000) - 60_000
    with closing(broker.producer(compression_type=codec, **settings)) as sending:
        for values in batches_:
            sending.put(topic, [(0, value) for value in values], timestamp_ms=begin)


@pytest.mark.parametrize("codec", CODECS)
def test_of_a_batch_over_the_bound_nothing_is_lost_that_could_be_read(
    codec: str, broker: Broker, topic: TopicMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """60 good records with a much larger one between them."""
    kafka_codecs.use(monkeypatch)
    monkeypatch.setattr(batches, "BATCH_BYTES", 1 << 20)
    monkeypatch.setattr("evenflow.transforms.kafka.records.RECORD_BYTES", 1 << 20)
    name = topic(1, max_message_bytes=12 << 20)
    large = b'{"id": "large", "text": "' + b"She saw him. " * 200_000 + b'"}'
    mixed = [*documents(0, 30), large, *documents(30, 60)]
    write(broker, name, codec, [mixed, documents(60, 65)])
    to_end(broker, name, tmp_path).go()
    [letter] = letters(tmp_path)
    assert (letter["ordinal"], letter["bytes"]) == (30, len(large))
    assert letter["reason"] == f"the value has {len(large)} bytes; only its beginning is kept here"
    assert [entry.dead_reasons for entry in read_entries(tmp_path)] == [{"too long": 1}]
    kept = placed(tmp_path)
    assert sum(kept.values()) == 66 and kept > expected({0: 65}) and recounted(tmp_path)


def test_a_block_that_has_to_be_read_at_once_counts_for_its_records(
    broker: Broker, topic: TopicMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Librdkafka writes a batch as one block of snappy."""
    kafka_codecs.use(monkeypatch, kafka_codecs.snappy_block)
    monkeypatch.setattr(batches, "BATCH_BYTES", 1 << 20)
    name = topic(1)
    write(broker, name, "snappy", [documents(0, 3), [bytes(1000)] * 2000, documents(3, 5)])
    to_end(broker, name, tmp_path).go()
    [letter] = letters(tmp_path)
    assert (letter["ordinal"], letter["records"]) == (3, 2000)
    assert "offsets 3 to 2002 are in a block of snappy" in letter["reason"]
    [entry] = read_entries(tmp_path)
    assert entry.dead_reasons == {"batch too large": 2000} and entry.verdict.state == "block"
    assert placed(tmp_path) == expected({0: 5}, ("",))


def remake(broker: Broker, name: str, partitions: int = 1) -> None:
    """Delete a topic and make it anew."""
    with closing(broker.admin()) as admin:
        admin.delete_topics([name])
        for _ in range(100):
            try:
                broker.create_topic(name, partitions)
                return
            except TopicAlreadyExistsError:
                time.sleep(0.05)
    raise AssertionError(f"{name} is still there")


@pytest.mark.parametrize(("partitions", "records"), [(2, 25), (2, 5), (1, 12)])
def test_a_topic_that_was_made_anew_is_refused(
    partitions: int, records: int, broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    """Whether it is longer than the ledger's, shorter, or has fewer partitions."""
    name = topic(2)
    broker.produce(name, 0, documents(0, 10))
    to_end(broker, name, tmp_path).go()
    noted = read_meta(tmp_path)
    assert noted is not None and noted["topic"]["partitions"] == 2
    remake(broker, name, partitions)
    broker.produce(name, 0, documents(100, 100 + records))
    with pytest.raises(TopicMissingError, match=r"made anew\. Go on with a new output directory"):
        to_end(broker, name, tmp_path).go()
    assert placed(tmp_path) == expected({0: 10})


def test_a_topic_that_is_made_anew_while_it_is_read_is_refused(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    """None of the new topic's records is committed, also where their offsets go on."""
    name, output = topic(1), tmp_path / "out"
    broker.produce(name, 0, documents(0, 10))
    with running(command(broker, name, output), tmp_path) as process:
        wait_for(lambda: count(output) == 10)
        remake(broker, name)
        broker.produce(name, 0, documents(100, 200))
        process.wait(60)
        said = (tmp_path / "said").read_text(encoding="utf-8")
    assert process.returncode == 1
    assert "made anew" in said and "Go on with a new output directory" in said
    assert placed(output) == expected({0: 10})


@contextmanager
def running(words: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A command that may end by itself, whose words are in the file `said`."""
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(words, stdout=said, stderr=said)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def until_end(broker: Broker, name: str, output: Path) -> list[str]:
    """The command up to the topic's end."""
    return [*command(broker, name, output), "--until-end"]


def test_until_end_waits_for_an_open_transaction(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name, output = topic(1), tmp_path / "out"
    broker.produce(name, 0, documents(0, 5))
    with closing(broker.producer(transactional_id=f"t-{name}")) as sending:
        sending.init_transactions()
        sending.begin_transaction()
        sending.put(name, [(0, value) for value in documents(5, 10)])
        with running(until_end(broker, name, output), tmp_path) as process:
            wait_for(lambda: "a transaction is open" in (tmp_path / "said").read_text())
            assert process.poll() is None
            sending.commit_transaction()
            assert process.wait(60) == 0
    assert "partition 0 from offset 5: a transaction is open" in (tmp_path / "said").read_text()
    assert placed(output) == expected({0: 10})


def test_until_end_says_what_an_open_transaction_hides(
    broker: Broker, topic: TopicMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "OPEN_SECONDS", 1.0)
    name = topic(1)
    broker.produce(name, 0, documents(0, 5))
    with closing(broker.producer(transactional_id=f"t-{name}")) as sending:
        sending.init_transactions()
        sending.begin_transaction()
        sending.put(name, [(0, value) for value in documents(5, 10)])
        outcome = to_end(broker, name, tmp_path).go()
        sending.commit_transaction()
    assert outcome.unread is not None
    assert "partition 0 from offset 5: a transaction is still open after 1 s" in outcome.unread
    assert placed(tmp_path) == expected({0: 5})
    assert to_end(broker, name, tmp_path).go().unread is None
    assert placed(tmp_path) == expected({0: 10})


DAY_MS = 86_400_000
VALUES = {
    "nulls": b'{"id":"nulls","text":"She paid.","x":{"a":null,"b":[1]}}',
    "order": b'{ "z": [], "text": "He paid.", "a": {}, "id": "order" }',
    "numbers": b'{"id":"numbers","text":"They paid.","n":' + b"7" * 40 + b',"f":1.50E+3}',
    "escapes": b'{"id":"escapes","text":"\\u00e9t\\u00e9","e":"\\u00e9\\/"}',
    "mixed": b'{"id":"mixed","text":"We paid.","x":"text","_kafka":1}',
}


def test_what_is_published_is_what_was_read(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    """Value, key, headers and time, of accepted documents and dead letters; a duplicate has them
    too.
    """
    name, accepted, dead = (topic(1, message_timestamp_after_max_ms=2**62), topic(1), topic(1))
    begin = int(time.time() * 1000) - 60_000
    headers = [("trace", b"\xff\x00"), ("evenflow.pane", b"of another gate"), ("trace", b"2")]
    made = b'{"text":"No id and no key."}'
    with closing(broker.producer()) as sending:
        for number, value in enumerate([*VALUES.values(), VALUES["order"], b"dead"]):
            key = b"key %d \xff" % number
            sending.put(name, [(0, value)], key=key, headers=headers, timestamp_ms=begin + number)
        sending.put(name, [(0, made)], timestamp_ms=begin + 900 * DAY_MS)
    more: dict[str, Any] = {"group": f"g-{name}", "publish": Topics(accepted, dead)}
    to_end(broker, name, tmp_path, load(None, {"gate.most_dead": 1.0}), **more).go()
    found, letters_ = broker.committed(accepted), broker.committed(dead)
    last = found.pop()
    assert [each.value for each in found] == list(VALUES.values())
    assert [each.value for each in letters_] == [VALUES["order"], b"dead"]
    for number, each in enumerate([*found, *letters_]):
        assert (each.key, each.timestamp) == (b"key %d \xff" % number, begin + number)
        assert each.headers[:3] == headers
        assert dict(each.headers)["evenflow.pane"] != b"of another gate"
    own = dict(last.headers)
    assert (last.key, last.value, own["evenflow.id"]) == (None, made, f"{name}/0#7".encode())
    assert int(own["evenflow.time"]) == begin + 900 * DAY_MS  # the topic takes no such time
    assert abs(last.timestamp - time.time() * 1000) < DAY_MS


def test_a_compacted_topic_gets_a_key_for_each_document(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    """It takes no record without one."""
    name, accepted = topic(1), topic(1, cleanup_policy="compact")
    broker.produce(name, 0, documents(0, 3))
    more: dict[str, Any] = {"group": f"g-{name}", "publish": Topics(accepted)}
    to_end(broker, name, tmp_path, **more).go()
    assert [each.key for each in broker.committed(accepted)] == [b"0-0", b"0-1", b"0-2"]


def test_of_a_mended_document_the_text_alone_differs(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name, accepted = topic(1), topic(1)
    given = [
        b'{"n": {"a": null}, "text": "The woman paid. %d", "id": "%d"}' % (number, number)
        for number in range(40)
    ]
    broker.produce(name, 0, given, key=b"k")
    config = load(None, {"repair.mode": "substitute", "gate.warn": 1.0, "gate.block": 1.0})
    more: dict[str, Any] = {"group": f"g-{name}", "publish": Topics(accepted)}
    to_end(broker, name, tmp_path, config, **more).go()
    found = broker.committed(accepted)
    assert [each.key for each in found] == [b"k"] * 40
    changed = 0
    for before, each in zip(given, found, strict=True):
        begin, text = before.split(b"The woman paid.")
        changed += each.value != before
        assert each.value.startswith(begin + b"The ") and each.value.endswith(b" paid." + text)
    assert changed
