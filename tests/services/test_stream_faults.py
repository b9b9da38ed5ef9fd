"""Faults of the broker, the disk and the messages: the gate says what is wrong, and
nothing is lost or doubled.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kafka.structs import OffsetAndMetadata, TopicPartition
from services.kafka_broker import Broker
from services.stream_outputs import (
    TopicMaker,
    command,
    count,
    documents,
    expected,
    gate,
    placed,
    published,
    recounted,
    to_end,
    wait_for,
)

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.topics.publish import Topics
from evenflow.pipelines.terminal.outcome import Observer, PaneProgress
from evenflow.transforms.kafka.errors import UnreachableError
from evenflow.transforms.kafka.offsets import GroupOffsets
from evenflow.transforms.kafka.output import PanePublisher
from evenflow.transforms.kafka.settings import KafkaSettings

HOUR_MS = 3_600_000


@pytest.mark.parametrize("more", [(), ("--until-end",)])
def test_no_such_topic(broker: Broker, tmp_path: Path, more: tuple[str, ...]) -> None:
    began = time.monotonic()
    with gate(command(broker, "absent", tmp_path / "out", *more), tmp_path) as running:
        assert running.ended(120) == 1
        assert time.monotonic() - began < 60
        assert running.said == [
            f"evenflow: topic absent is not on {broker.address}: check its name, or create it"
        ]
    # The right name may be given with the same --output
    assert not (tmp_path / "out" / "ledger").exists()


def test_the_topic_is_deleted_while_it_is_read(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name, output = topic(2), tmp_path / "out"
    broker.produce(name, 0, documents(0, 100))
    with gate(command(broker, name, output), tmp_path) as running:
        wait_for(lambda: count(output) == 100)
        with closing(broker.admin()) as admin:
            admin.delete_topics([name])
        assert running.ended(120) == 1
        assert len(running.said[-1]) < 300 and name in running.said[-1]
        assert "deleted" in running.said[-1] or "is not on" in running.said[-1]
    assert placed(output) == expected({0: 100}) and recounted(output)


def test_a_group_follows_the_ledger_and_a_disagreement_is_said(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name, output, group = topic(1), tmp_path / "out", "follows"
    key = (name, 0)
    broker.produce(name, 0, documents(0, 100))
    reader = GroupOffsets(KafkaSettings(broker.address), group)
    with (
        closing(reader),
        gate(command(broker, name, output, "--group", group), tmp_path) as running,
    ):

        def next_of_ledger() -> int:
            return max((entry.source[-1].last + 1 for entry in read_entries(output)), default=0)

        def offset() -> int:
            return reader.committed([key])[key] if reader.committed([key]) else 0

        for i in range(100, 400, 50):
            broker.produce(name, 0, documents(i, i + 50))
            for _ in range(10):
                seen = offset()  # before the ledger is read: what the group had then must be in it
                assert seen <= next_of_ledger()
                time.sleep(0.05)
        wait_for(lambda: offset() == 400)
        assert not any("group" in line for line in running.said)
    tp = TopicPartition(name, 0)
    admin: Any
    with closing(broker.admin()) as admin:
        admin.alter_group_offsets(group, {tp: OffsetAndMetadata(7, "", -1)})
    broker.produce(name, 0, documents(400, 450))
    with gate(command(broker, name, output, "--group", group), tmp_path) as running:
        wait_for(lambda: count(output) == 450)
        [line] = [line for line in running.said if "group" in line]
        assert f"{name} partition 0" in line and "at 7" in line and "400" in line
    assert placed(output) == expected({0: 450}) and recounted(output)


@pytest.mark.parametrize("publish", [Topics(), Topics("accepted")])
def test_the_broker_dies_between_the_ledger_and_the_group(
    own_broker: Broker, tmp_path: Path, publish: Topics
) -> None:
    """The ledger's entries stand; offsets and accepted documents come when the broker is back."""
    own_broker.start()
    name, output = own_broker.create_topic("docs"), tmp_path / "out"
    accepted = own_broker.create_topic("accepted")
    begin = int(time.time() * 1000) - HOUR_MS
    for i in range(3):
        own_broker.produce(name, 0, documents(10 * i, 10 * i + 10), timestamp_ms=begin + i * 2000)
    notes: list[str] = []
    starting: list[threading.Timer] = []

    def on_pane(done: PaneProgress) -> None:
        if done.entry.pane == 0:
            own_broker.kill()
            starting.append(threading.Timer(3.0, own_broker.start))
            starting[0].start()

    run = to_end(own_broker, name, output, group="g", publish=publish)
    run.observer = Observer(on_pane, notes.append)
    try:
        assert run.go().new == 3
    finally:
        starting[0].join()
    assert any("no answer" in each and "trying on" in each for each in notes)
    with closing(GroupOffsets(KafkaSettings(own_broker.address), "g")) as reader:
        assert reader.committed([(name, 0)])[name, 0] == 30
    assert placed(output) == expected({0: 30}) and recounted(output)
    seen = published(own_broker, accepted)
    assert seen == (expected({0: 30}) if publish else Counter())


def test_a_pane_is_published_once_where_the_answer_was_lost(
    broker: Broker, topic: TopicMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, accepted, output = topic(1), topic(1), tmp_path / "out"
    broker.produce(name, 0, documents(0, 30))
    publish, lost = PanePublisher.publish, [UnreachableError("no answer")]

    def without_answer(self: PanePublisher, *arguments: Any) -> int:
        done = publish(self, *arguments)
        if lost:
            raise lost.pop()
        return done

    monkeypatch.setattr(PanePublisher, "publish", without_answer)
    to_end(broker, name, output, group=f"g-{name}", publish=Topics(accepted)).go()
    assert not lost
    seen = published(broker, accepted)
    assert seen == expected({0: 30}) == placed(output)
