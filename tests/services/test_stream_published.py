"""What is published: each document once, also after kills and after changes to the group."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from services.kafka_broker import Broker
from services.stream_outputs import (
    EVENFLOW,
    TopicMaker,
    command,
    count,
    documents,
    expected,
    fill,
    gate,
    letters,
    placed,
    recounted,
    to_end,
    wait_for,
)

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.stream.publish import Topics
from evenflow.transforms.kafka.proof import UnprovenError
from evenflow.transforms.kafka.sizes import MARGIN_BYTES, Message, Sizes

DRIVER = str(Path(__file__).with_name("publish_kill.py"))
PANES, EACH = 6, 10
LIMIT = 20_000  # bytes that a topic takes
# Of the driver's process: the entry stands and nothing of it is sent; the transaction is open; all
# of it is sent and it is open; it has ended.
MOMENTS = {
    "between entry and transaction": ("shutil.rmtree", r"/staged/[0-9a-f]+/\d{12}\.", "2"),
    "within the transaction": ("open", r"/dead-letter/part-", "1"),
    "before its end": ("send_offsets_to_transaction", "", "1"),
    "after the transaction": ("open", r"/gate/timings\.jsonl$", "1"),
}


def forget(broker: Broker, group: str) -> None:
    """Delete a group with its offsets."""
    admin: Any
    with closing(broker.admin()) as admin:
        admin.delete_groups([group])


def keys(broker: Broker, topic: str) -> Counter[str]:
    """How often each document is in a topic."""
    return Counter(record.key.decode() for record in broker.committed(topic))


def test_killed_at_each_moment_and_the_group_deleted(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name, accepted, dead = topic(), topic(), topic()
    fill(broker, name, range(PANES), EACH, (int(time.time()) - 3600) * 1000)
    words = [sys.executable, DRIVER, broker.address, name, accepted, dead, str(tmp_path)]
    for moment in MOMENTS.values():
        ended = subprocess.run([*words, *moment], capture_output=True, text=True, timeout=300)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        if moment[0] != "send_offsets_to_transaction":  # the group is left with offsets undecided
            forget(broker, f"g-{name}")
    ended = subprocess.run([*words, "", "", "0"], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert len(read_entries(tmp_path)) == PANES
    assert keys(broker, accepted) == expected({0: PANES * EACH})
    assert [record.value for record in broker.committed(dead)] == [
        b"dead %d" % pane for pane in range(PANES)
    ]


def test_a_record_that_was_written_compressed_is_published(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    """Its plain form exceeds what a topic takes."""
    name, accepted, dead = topic(), topic(), topic()
    long = json.dumps({"id": "0-20", "text": "She saw him. He saw her. " * 120_000}).encode()
    with closing(broker.producer(compression_type="gzip")) as producer:
        producer.send(name, long, partition=0)
        producer.flush()
    broker.produce(name, 0, documents(0, 20))
    more: dict[str, Any] = {"group": f"g-{name}", "publish": Topics(accepted, dead)}
    to_end(broker, name, tmp_path, **more).go()
    assert keys(broker, accepted) == expected({0: 21})


def test_a_dead_letter_that_its_headers_make_too_large(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    """Its value fits the topic, its value and the headers that say where it is from do not: a
    notice goes in its place.
    """
    name, dead, output = topic(), topic(max_message_bytes=LIMIT), tmp_path / "out"
    # No text, and no compression makes it smaller
    large = b"\xff" + os.urandom(LIMIT - MARGIN_BYTES - 100)
    bare = Message(dead, b"key", large)
    assert Sizes("zstd", {dead: LIMIT}, dead).fit(bare) == bare
    broker.produce(name, 0, [*documents(0, 5), large, b"small"], key=b"key")
    words = ["--dead-letter-topic", dead, "--group", f"g-{name}"]
    with gate(command(broker, name, output, *words), tmp_path) as running:
        wait_for(lambda: count(output) == 7)
        broker.produce(name, 0, documents(5, 10))  # the stream goes on
        wait_for(lambda: count(output) == 12)
        wait_for(lambda: len(broker.committed(dead)) == 2)
    notice, small = broker.committed(dead)
    assert (notice.key, notice.value, small.key, small.value) == (b"key", b"", b"key", b"small")
    assert dict(notice.headers)["evenflow.source"] == f"kafka:{name}/0".encode()
    assert dict(notice.headers)["evenflow.offset"] == b"5"
    assert dict(notice.headers)["evenflow.reason"].startswith(b"invalid UTF-8")
    said = dict(notice.headers)["evenflow.withheld"].decode()
    assert said.startswith(f"larger than topic {dead} takes ({LIMIT} bytes)")
    assert any(f"1 records are larger than topic {dead} takes" in line for line in running.said)
    kept = [
        json.loads(line) for line in (output / said.rpartition(" ")[2]).read_text().splitlines()
    ]
    assert base64.b64decode(kept[0]["raw_base64"]) == large
    assert "evenflow.withheld" not in dict(small.headers)
    assert len(letters(output)) == 2 and placed(output) > expected({0: 10}) and recounted(output)


def test_whatever_becomes_of_the_group(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name, accepted = topic(), topic()
    broker.produce(name, 0, documents(0, 40))
    group: dict[str, Any] = {"group": f"g-{name}", "publish": Topics(accepted)}
    to_end(broker, name, tmp_path, **group).go()
    forget(broker, f"g-{name}")
    to_end(broker, name, tmp_path, **group).go()
    to_end(broker, name, tmp_path, **group | {"group": f"another-{name}"}).go()
    assert keys(broker, accepted) == expected({0: 40})


def test_a_topic_that_is_named_later_needs_a_word(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name, accepted, output = topic(), topic(), tmp_path / "out"
    broker.produce(name, 0, documents(0, 20))
    to_end(broker, name, output).go()
    broker.produce(name, 0, documents(20, 40))
    more: dict[str, Any] = {"group": f"g-{name}", "publish": Topics(accepted)}
    with pytest.raises(UnprovenError, match=f"topic {accepted}: no record .*--publish-from 0"):
        to_end(broker, name, output, **more).go()
    assert keys(broker, accepted) == Counter()
    words = [
        "--kafka",
        broker.address,
        "--topic",
        name,
        "--pane-seconds",
        "1",
        "--until-end",
        "--accepted-topic",
        accepted,
    ]
    run = [EVENFLOW, "stream", "--output", str(output), *words, "--group", f"g-{name}"]
    for _ in range(2):
        ended = subprocess.run(
            [*run, "--publish-from", "0"], capture_output=True, text=True, timeout=180
        )
        assert ended.returncode == 0, ended.stderr
    assert keys(broker, accepted) == expected({0: 40}) == placed(output)


def test_another_output_with_the_same_group_is_refused(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name, accepted = topic(), topic()
    broker.produce(name, 0, documents(0, 20))
    more: dict[str, Any] = {"group": f"g-{name}", "publish": Topics(accepted)}
    to_end(broker, name, tmp_path / "first", **more).go()
    with pytest.raises(UnprovenError, match="another output"):
        to_end(broker, name, tmp_path / "second", **more).go()
    assert keys(broker, accepted) == expected({0: 20})
    to_end(broker, name, tmp_path / "second", **more, publish_from=0).go()
    assert keys(broker, accepted) == Counter(dict.fromkeys(expected({0: 20}), 2))
