"""The gate on a topic against a real broker: every message in exactly one place, even if the run is
killed.
"""

from __future__ import annotations

import json
from contextlib import closing
from itertools import product
from pathlib import Path

import psutil
from kill_driver import digests
from services.kafka_broker import Broker
from services.stream_outputs import (
    Gate,
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

from evenflow.schemas.config import load
from evenflow.transforms.kafka.settings import KafkaSettings


def test_to_the_end_and_on_from_there(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name = topic(3)
    for partition in range(2):
        broker.produce(
            name, partition, [*documents(0, 500, partition), f"poison-{partition}".encode()]
        )
    to_end(broker, name, tmp_path).go()
    dead = ("poison-0", "poison-1")
    assert placed(tmp_path) == expected({0: 500, 1: 500}, dead)
    again = to_end(broker, name, tmp_path).go()
    assert again.new == 0
    broker.produce(name, 2, documents(0, 50, 2))
    assert to_end(broker, name, tmp_path).go().new >= 1
    assert placed(tmp_path) == expected({0: 500, 1: 500, 2: 50}, dead) and recounted(tmp_path)


def test_group_offsets_follow_and_panes_are_published(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    from evenflow.pipelines.engine.topics.publish import Topics
    from evenflow.transforms.kafka.offsets import GroupOffsets

    name, accepted, dead = topic(2), topic(1), topic(1)
    broker.produce(name, 0, [*documents(0, 30), b"poison"])
    more = {"group": f"g-{name}", "publish": Topics(accepted, dead)}
    to_end(broker, name, tmp_path, **more).go()
    broker.produce(name, 1, documents(0, 5, 1))
    to_end(broker, name, tmp_path, **more).go()
    offsets = GroupOffsets(KafkaSettings(broker.address), f"g-{name}")
    found = offsets.committed([(name, 0), (name, 1)])
    offsets.close()
    assert found == {(name, 0): 31, (name, 1): 5}
    assert published(broker, accepted) == expected({0: 30, 1: 5})
    assert [record.value for record in broker.committed(dead)] == [b"poison"]


def test_any_number_of_workers_makes_the_same_bytes(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    """Timestamps are out of order, partitions quiet for a while, and fields come that were not."""
    name = topic(3)
    with closing(broker.producer()) as producer:
        for pane, partition in product(range(12), range(3)):
            if (pane + partition) % 4 == 3:
                continue
            more = {f"field_{each}": pane for each in (5, 8, 9) if pane >= each}
            for number, raw in enumerate(documents(pane * 20, pane * 20 + 20, partition)):
                when = 1_600_000_000_000 + pane * 1000 + (number * 377) % 3000
                value = json.dumps(json.loads(raw) | more).encode()
                producer.send(name, value, partition=partition, timestamp_ms=when)
        producer.flush()
    found = []
    for workers in (1, 2, 3):
        run = to_end(broker, name, tmp_path / str(workers), load(None, {"pane.docs": 25}))
        run.workers = workers
        done = run.go()
        assert done.new > 20
        found.append(digests(tmp_path / str(workers)))
    assert found[0] == found[1] == found[2] and len(found[0]) > 40
    assert len(json.loads((tmp_path / "1" / "ledger" / "meta.json").read_text())["schema"]) == 4


def test_a_worker_is_killed_and_then_all_processes(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name, output = topic(2), tmp_path / "out"
    for partition in range(2):
        broker.produce(name, partition, documents(0, 300, partition))
    with gate(command(broker, name, output, "--workers", "2"), tmp_path) as running:
        wait_for(lambda: count(output) == 600)
        for partition in range(2):
            broker.produce(name, partition, documents(300, 400, partition))
        wait_for(lambda: count(output) == 800)
        for worker in workers(running):
            worker.kill()
        for partition in range(2):
            broker.produce(name, partition, documents(400, 500, partition))
        assert running.ended(60) == 1
        assert "a worker process died while it worked on pane" in running.said[-1]
    with gate(command(broker, name, output, "--workers", "2"), tmp_path) as running:
        wait_for(lambda: count(output) > 800)
        for each in [running.process, *workers(running)]:
            each.kill()
    to_end(broker, name, output).go()
    assert placed(output) == expected({0: 500, 1: 500}) and recounted(output)


def workers(running: Gate) -> list[psutil.Process]:
    """The processes of a gate that make panes."""
    found = [
        process
        for process in psutil.Process(running.process.pid).children(recursive=True)
        if "multiprocessing" not in " ".join(process.cmdline())
    ]
    assert found
    return found
