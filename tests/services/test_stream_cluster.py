"""The gate on a topic on a Flink cluster with two TaskManagers, and with a second driver."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

from services.flink_cluster import FlinkCluster
from services.kafka_broker import Broker
from services.stream_outputs import (
    Gate,
    TopicMaker,
    accepted,
    count,
    documents,
    expected,
    gate,
    on_cluster,
    placed,
    recounted,
    wait_for,
)

LONG = 400.0  # for what takes some 20 s on two cores without other work
PARTITIONS = 10


def fill(broker: Broker, topic: str, first: int, last: int, partitions: int = PARTITIONS) -> None:
    for partition in range(partitions):
        broker.produce(topic, partition, documents(first, last, partition))


def test_panes_are_made_by_the_taskmanagers_that_are_there(
    broker: Broker, topic: TopicMaker, tmp_path: Path, flink_cluster: FlinkCluster
) -> None:
    name, output = topic(PARTITIONS), tmp_path / "out"
    fill(broker, name, 0, 100)
    with gate(on_cluster(broker, name, output, flink_cluster), tmp_path):
        wait_for(lambda: count(output) == 1000, LONG)
        flink_cluster.kill("taskmanager-1")
        flink_cluster.kill("pool-1")
        fill(broker, name, 100, 200)
        wait_for(lambda: count(output) == 2000, LONG)
        broker.add_partitions(name, 12)
        fill(broker, name, 200, 300)
        for partition in (10, 11):
            broker.produce(name, partition, documents(0, 300, partition))
        wait_for(lambda: count(output) == 3600, LONG)
        flink_cluster.launch("pool-1")
        flink_cluster.launch("taskmanager-1")
        flink_cluster.wait()
        fill(broker, name, 300, 400, 12)
        wait_for(lambda: count(output) == 4800, LONG)
    assert placed(output) == expected(dict.fromkeys(range(12), 400)) and recounted(output)
    wait_for(lambda: "RUNNING" not in {each["state"] for each in flink_cluster.jobs()}, LONG)


def test_a_lost_job_is_submitted_again(
    broker: Broker, topic: TopicMaker, tmp_path: Path, reached: FlinkCluster, bucket: str
) -> None:
    """The output is in a store. Readers of the job before may still be at work."""
    name, output = topic(PARTITIONS), f"{bucket}/out"
    fill(broker, name, 0, 100)
    with gate(on_cluster(broker, name, output, reached), tmp_path) as running:
        wait_for(lambda: accepted(output).total() == 1000, LONG)
        for again, what in enumerate(("jobmanager", "job-server"), 1):
            reached.kill(what)
            fill(broker, name, again * 100, again * 100 + 50)
            reached.restart(what)
            wait_for(lambda again=again: submitted(running) >= again, LONG)
            fill(broker, name, again * 100 + 50, again * 100 + 100)
            wait_for(lambda again=again: accepted(output).total() == 1000 + again * 1000, LONG)
    assert accepted(output) == expected(dict.fromkeys(range(PARTITIONS), 300))


def submitted(running: Gate) -> int:
    """How often a gate has said that it submitted its job again."""
    return sum("submitted again" in line for line in running.said)


def test_a_second_driver_takes_over(
    broker: Broker, topic: TopicMaker, tmp_path: Path, flink_cluster: FlinkCluster
) -> None:
    """The first driver's job ends by itself: its readers see that its run is over."""
    name, output = topic(PARTITIONS), tmp_path / "out"
    words = on_cluster(broker, name, output, flink_cluster)
    fill(broker, name, 0, 100)
    first = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    wait_for(lambda: count(output) == 1000, LONG)
    with gate([*words, "--standby"], tmp_path) as second:
        wait_for(lambda: any("standing by" in line for line in second.said), LONG)
        first.kill()
        first.wait()
        fill(broker, name, 100, 200)
        wait_for(lambda: count(output) == 2000, LONG)
        wait_for(lambda: states(flink_cluster)["RUNNING"] == 1, LONG)
    assert placed(output) == expected(dict.fromkeys(range(PARTITIONS), 200)) and recounted(output)


def states(cluster: FlinkCluster) -> Counter[str]:
    """How many jobs are in each state."""
    return Counter(each["state"] for each in cluster.jobs())
