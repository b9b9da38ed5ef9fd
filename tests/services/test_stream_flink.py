"""Faults of the runner and the broker on Flink, by the command; what kills the worker is in
test_stream_kill.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kill_driver import digests
from services import stream_kill
from services.conftest import require
from services.job_server import JobServer, installed
from services.kafka_broker import Broker
from services.stream_outputs import (
    TopicMaker,
    count,
    documents,
    expected,
    gate,
    on_flink,
    placed,
    recounted,
    to_end,
    wait_for,
)

FlinkMaker = Callable[..., JobServer]
AWAY_SECONDS = 20.0  # as long is the broker away
# For what takes 5 to 15 s on two cores without other work: it waits for Flink's start, and for
# Python's
LONG = 300.0


@pytest.fixture
def own_flink(tmp_path: Path) -> Iterator[FlinkMaker]:
    """Starts a job server for one test, which may do to it what it likes."""
    require(installed("flink"))
    servers: list[JobServer] = []

    def make(port: int | None = None) -> JobServer:
        servers.append(JobServer("flink", tmp_path / f"flink-{len(servers)}", port))
        return servers[-1]

    yield make
    for server in servers:
        server.kill()


def test_the_runner_is_killed(
    broker: Broker, topic: TopicMaker, tmp_path: Path, own_flink: FlinkMaker
) -> None:
    name, output, batches = topic(stream_kill.PARTITIONS), tmp_path / "out", 4
    for batch in range(batches):
        stream_kill.fill(broker.address, name, batch)
    server, wanted = own_flink(), stream_kill.messages(batches)
    with gate(on_flink(broker, name, output, server.endpoint), tmp_path) as running:
        wait_for(lambda: (output / "ledger" / "00000000.json").exists(), LONG)
        server.kill()
        wait_for(lambda: any("the runner ended" in line for line in running.said), LONG)
        own_flink(int(server.endpoint.partition(":")[2]))
        wait_for(lambda: count(output) >= sum(wanted.values()), LONG)
    to_end(broker, name, output).go()
    to_end(broker, name, tmp_path / "whole").go()
    assert placed(output) == wanted and recounted(output)
    assert digests(output) == digests(tmp_path / "whole")


def test_no_broker_at_the_start(own_broker: Broker, tmp_path: Path, flink: JobServer) -> None:
    """It is said and nothing is written; the same command works once there is one."""
    output = tmp_path / "out"
    words = on_flink(own_broker, "docs", output, flink.endpoint)
    with gate(words, tmp_path) as running:
        assert running.ended(LONG) == 1
        assert f"no answer from {own_broker.address}" in running.said[-1]
    assert not (output / "ledger").exists()
    own_broker.start()
    own_broker.produce(own_broker.create_topic("docs"), 0, documents(0, 300))
    with gate(words, tmp_path):
        wait_for(lambda: count(output) == 300, LONG)
    assert placed(output) == expected({0: 300}) and recounted(output)


def test_the_broker_is_killed_and_comes_back(
    own_broker: Broker, tmp_path: Path, flink: JobServer
) -> None:
    output = tmp_path / "out"
    own_broker.start()
    own_broker.produce(own_broker.create_topic("docs", 2), 0, documents(0, 300))
    with gate(on_flink(own_broker, "docs", output, flink.endpoint), tmp_path) as running:
        wait_for(lambda: count(output) == 300, LONG)
        own_broker.kill()
        time.sleep(AWAY_SECONDS)
        own_broker.start()
        own_broker.produce("docs", 1, documents(0, 300, 1))
        wait_for(lambda: count(output) == 600, LONG)
        assert running.process.poll() is None
    assert placed(output) == expected({0: 300, 1: 300}) and recounted(output)
