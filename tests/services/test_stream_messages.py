"""Messages and partitions of all kinds, on Prism by the command: each message is in exactly one
place, and panes close.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from base64 import b64encode
from collections import Counter
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from kafka.structs import TopicPartition
from services.kafka_broker import Broker
from services.stream_outputs import (
    EVENFLOW,
    TopicMaker,
    command,
    count,
    documents,
    expected,
    gate,
    letters,
    placed,
    recounted,
    to_end,
    wait_for,
)

from evenflow.gates.ledger.files import read_entries
from evenflow.transforms.kafka import batches
from evenflow.transforms.kafka.client import LEFT_OUT, MOST_HEADERS

HOUR_MS = 3_600_000


def test_timestamps_of_all_kinds(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name, output = topic(2, message_timestamp_after_max_ms=str(2**62)), tmp_path / "out"
    now = int(time.time() * 1000)
    # More than an hour ahead counts as no timestamp; a record that is less ahead holds its pane
    # until the clock is there.
    times = (0, -HOUR_MS, 2 * HOUR_MS, -now, 5_000, 400 * 24 * HOUR_MS)
    with closing(broker.producer()) as producer:
        for partition in (0, 1):
            for i, value in enumerate(documents(0, 200, partition)):
                producer.send(
                    name, value, partition=partition, timestamp_ms=now + times[i % 6] - i % 7 * 700
                )
        producer.flush()
    with gate(command(broker, name, output), tmp_path):
        wait_for(lambda: count(output) >= 400)
        broker.produce(name, 0, documents(200, 220))
        wait_for(lambda: count(output) >= 420)
    broker.produce(
        name, 0, documents(220, 230), timestamp_ms=int(time.time() * 1000) + HOUR_MS // 2
    )
    to_end(broker, name, output).go()
    assert placed(output) == expected({0: 230, 1: 200}) and recounted(output)


POISON = {
    "not JSON": b"poison",
    "nested": b"[" * 100_000,
    "nested object": b'{"text": "a", "more": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}",
    "not UTF-8": b'{"text": "\xff\xfe"}',
    "empty": b"",
    "blank": b"  ",
    "tombstone": None,
    "list": b"[1]",
    "NUL": b"\x00" * 50,
    "number": b'{"id": "n", "text": 1e999}',
    "lone surrogate": b'{"id": "s", "text": "\\ud800"}',
}


def test_poison(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name, output = topic(1), tmp_path / "out"
    for number, value in enumerate(POISON.values()):
        broker.produce(name, 0, [value, *documents(number, number + 1)], key=b"key")
    with gate(command(broker, name, output), tmp_path):
        wait_for(lambda: count(output) >= 2 * len(POISON))
    found = letters(output)
    assert [letter["ordinal"] for letter in found] == [2 * i for i in range(len(POISON))]
    assert all(letter["reason"] for letter in found)
    good = Counter(
        {key: number for key, number in placed(output).items() if re.fullmatch(r"0-\d+", key)}
    )
    assert good == expected({0: len(POISON)}) and recounted(output)


def test_a_few_bytes_that_hold_many_headers(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    """An empty header has 2 bytes before compression, and would have 150 in memory."""
    name, headers = topic(1), [("", b"")] * 300_000
    with closing(broker.producer(compression_type="gzip")) as producer:
        for value in (b"dead", *documents(0, 1)):
            producer.send(name, value, partition=0, headers=headers)
        producer.flush()
    to_end(broker, name, tmp_path).go()
    [letter] = letters(tmp_path)
    assert letter["headers"][:-1] == [["", ""]] * MOST_HEADERS
    assert letter["headers"][-1] == [LEFT_OUT, b64encode(b"299900").decode()]
    assert placed(tmp_path) == expected({0: 1}, ("dead",)) and recounted(tmp_path)


def test_a_batch_that_is_too_large_once_decompressed(
    broker: Broker, topic: TopicMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch of 0.5 MB may hold some GB; it is left out as one dead letter with its records."""
    monkeypatch.setattr(batches, "BATCH_BYTES", 1 << 20)
    name, begin = topic(1), int(time.time() * 1000) - 60_000
    with closing(
        broker.producer(compression_type="gzip", batch_size=4 << 20, linger_ms=10_000)
    ) as producer:
        for values in (documents(0, 3), [bytes(1000)] * 2000, documents(3, 5)):
            for value in values:
                producer.send(name, value, partition=0, timestamp_ms=begin)
            producer.flush()
    to_end(broker, name, tmp_path).go()
    [letter] = letters(tmp_path)
    assert (letter["ordinal"], letter["records"]) == (3, 2000)
    assert "offsets 3 to 2002 are in a batch that holds more than" in letter["reason"]
    assert [entry.dead_reasons for entry in read_entries(tmp_path)] == [{"batch too large": 1}]
    assert placed(tmp_path) == expected({0: 5}, ("",)) and recounted(tmp_path)


def test_a_message_of_9_mb(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name, output = topic(1, max_message_bytes=12 << 20), tmp_path / "out"
    large = json.dumps({"id": "0-5", "text": "She saw him. " * 692_000}).encode()
    assert len(large) > 8_990_000
    broker.produce(name, 0, [*documents(0, 5), large, *documents(6, 10)])
    with gate(command(broker, name, output), tmp_path):
        wait_for(lambda: count(output) == 10)
    assert placed(output) == expected({0: 10}) and recounted(output)


def test_a_stalled_partition_and_a_quiet_topic(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name, output = topic(2), tmp_path / "out"
    broker.produce(name, 0, documents(0, 10))
    broker.produce(name, 1, documents(0, 10, 1))
    with gate(command(broker, name, output), tmp_path):
        wait_for(lambda: count(output) == 20)
        waits = []
        for i in range(10, 50, 10):  # partition 1 is still, partition 0 goes on and rests
            began = time.monotonic()
            broker.produce(name, 0, documents(i, i + 10))
            wait_for(lambda i=i: count(output) == 20 + i)
            waits.append(time.monotonic() - began)
    # A span of 1 s, 1 s for late senders, 1 s between looks for partitions, and the commit: 4 s;
    # more on a busy machine.
    assert min(waits) < 20
    assert placed(output) == expected({0: 50, 1: 10}) and recounted(output)


def test_a_burst_is_cut_into_parts(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name, output = topic(1), tmp_path / "out"
    begin = int(time.time() * 1000) // 60_000 * 60_000 - HOUR_MS
    values = [
        json.dumps({"id": f"0-{i}", "text": "She saw him. " * 800}).encode() for i in range(400)
    ]
    with closing(broker.producer()) as producer:
        for value in values:
            producer.send(name, value, partition=0, timestamp_ms=begin)
        producer.flush()
    with gate(
        command(
            broker,
            name,
            output,
            "--pane-mib",
            "1",
            "--pane-seconds",
            "60",
            "--max-panes",
            "3",
        ),
        tmp_path,
    ):
        wait_for(lambda: len(read_entries(output)) >= 3)
    streams = [entry.stream for entry in read_entries(output)]
    assert [(each.span, each.part) for each in streams if each] == [
        (begin, part) for part in range(3)
    ]
    most = 1.05 * (1 << 20) / len(values[0]) + 1
    assert all(0 < entry.documents <= most for entry in read_entries(output))
    run = to_end(broker, name, output)
    run.config.pane.mib = 1
    object.__setattr__(run.stream, "pane_seconds", 60.0)
    run.go()
    assert placed(output) == expected({0: 400}) and recounted(output)


def test_partitions_come_while_it_runs(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name, output = topic(1), tmp_path / "out"
    broker.produce(name, 0, documents(0, 100))
    with gate(command(broker, name, output), tmp_path):
        wait_for(lambda: count(output) == 100)
        broker.add_partitions(name, 3)
        for partition in (1, 2):
            broker.produce(name, partition, documents(0, 100, partition))
        wait_for(lambda: count(output) == 300)
    assert placed(output) == expected({0: 100, 1: 100, 2: 100}) and recounted(output)


def test_retention_took_messages_between_two_runs(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name, output = topic(2), tmp_path / "out"
    broker.produce(name, 0, documents(0, 100))
    to_end(broker, name, output).go()
    broker.produce(name, 0, documents(100, 300))
    with closing(broker.admin()) as admin:
        admin.delete_records({TopicPartition(name, 0): 250})
    with gate(command(broker, name, output), tmp_path):
        wait_for(lambda: count(output) >= 151)
    [letter] = letters(output)
    assert (letter["file"], letter["ordinal"], letter["records"]) == (f"kafka:{name}/0", 100, 150)
    assert "100 to 249" in letter["reason"] and "retention" in letter["reason"]
    kept = [f"0-{i}" for i in (*range(100), *range(250, 300))]
    assert placed(output) == Counter([*kept, ""]) and recounted(output)
    ranges = sorted(
        (each.first, each.last) for entry in read_entries(output) for each in entry.source
    )
    assert ranges[0][0] == 0 and ranges[-1][1] == 299
    assert all(before[1] + 1 == after[0] for before, after in pairwise(ranges))


def test_a_topic_without_messages(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name = topic(2)
    for number, words in enumerate(
        (
            command(broker, name, tmp_path / "0", "--until-end"),
            [EVENFLOW, "stream", "--until-end", "--kafka", broker.address],
        )
    ):
        output = tmp_path / str(number)
        more = [] if number == 0 else ["--topic", name, "--output", str(output)]
        ended = subprocess.run([*words, *more], capture_output=True, text=True, timeout=180)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert read_entries(output) == [] and (output / "report.html").exists()
