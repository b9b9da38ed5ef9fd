"""What is published: each document once, also after kills and after changes to the group."""

from __future__ import annotations

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
    documents,
    expected,
    fill,
    placed,
    published,
    to_end,
)

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.topics.publish import Topics
from evenflow.transforms.kafka.proof import UnprovenError

DRIVER = str(Path(__file__).with_name("publish_kill.py"))
PANES, EACH = 6, 10
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
    return published(broker, topic)


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
        *("--kafka", broker.address, "--topic", name, "--pane-seconds", "1", "--until-end"),
        *("--accepted-topic", accepted),
    ]
    run = [EVENFLOW, "stream", "--output", str(output), *words, "--group", f"g-{name}"]
    for _ in range(2):
        ended = subprocess.run(
            [*run, "--publish-from", "0"], capture_output=True, text=True, timeout=180
        )
        assert ended.returncode == 0, ended.stderr
    assert keys(broker, accepted) == expected({0: 40}) == placed(output)
