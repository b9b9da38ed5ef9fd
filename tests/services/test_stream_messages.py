"""Messages and partitions of all kinds, by the command: each message is in exactly one
place, and panes close.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from contextlib import closing
from itertools import pairwise
from pathlib import Path

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
        [line] = ended.stderr.splitlines()
        assert ended.returncode == 0 and f"reading topic {name}, 2 partitions" in line
        assert read_entries(output) == [] and (output / "report.html").exists()


def test_marks_of_transactions_and_what_was_given_up_are_no_records(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name = topic(1)
    with closing(broker.producer(transactional_id=f"{name}-id")) as producer:
        producer.init_transactions()
        for number in range(6):
            producer.begin_transaction()
            producer.put(name, [(0, value) for value in documents(number * 3, number * 3 + 3)])
            end = producer.abort_transaction if number % 2 else producer.commit_transaction
            end()
    to_end(broker, name, tmp_path).go()
    kept = [f"0-{n * 3 + i}" for n in (0, 2, 4) for i in range(3)]
    assert placed(tmp_path) == Counter(kept) and recounted(tmp_path)
