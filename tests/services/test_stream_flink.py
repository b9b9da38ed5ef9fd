"""Faults of the runner and the broker, here and on Flink, by the command; what kills the worker is
in test_stream_kill.py.
"""

from __future__ import annotations

import time
from pathlib import Path

from services.job_server import JobServer
from services.kafka_broker import Broker
from services.stream_outputs import (
    command,
    count,
    documents,
    expected,
    gate,
    on_flink,
    placed,
    recounted,
    wait_for,
)

AWAY_SECONDS = 20.0  # as long is the broker away
# For what takes 5 to 15 s on two cores without other work: it waits for Flink's start, and for
# Python's
LONG = 300.0


def test_no_broker_at_the_start(own_broker: Broker, tmp_path: Path) -> None:
    """It is said and nothing is written; the same command works once there is one."""
    output = tmp_path / "out"
    began, called = time.monotonic(), command(own_broker, "docs", output)
    with gate(called, tmp_path) as running:
        assert running.ended(LONG) == 1
        assert f"no answer from {own_broker.address}" in running.said[-1]
    # 15 s of patience, and what starting takes on a busy machine
    assert time.monotonic() - began < 120
    assert not (output / "ledger").exists()
    own_broker.start()
    own_broker.produce(own_broker.create_topic("docs"), 0, documents(0, 300))
    with gate(called, tmp_path):
        wait_for(lambda: count(output) == 300, LONG)
    assert placed(output) == expected({0: 300}) and recounted(output)


def test_the_broker_is_killed_and_comes_back(
    own_broker: Broker, tmp_path: Path, flink: JobServer
) -> None:
    here, there = tmp_path / "here", tmp_path / "flink"
    here.mkdir()
    there.mkdir()
    own_broker.start()
    name = own_broker.create_topic("docs", 2)
    own_broker.produce(name, 0, documents(0, 300))
    on_runner = on_flink(own_broker, name, there / "out", flink.endpoint)
    with (
        gate(command(own_broker, name, here / "out"), here) as one,
        gate(on_runner, there) as other,
    ):

        def have(messages: int) -> bool:
            return all(count(each / "out") == messages for each in (here, there))

        wait_for(lambda: have(300), LONG)
        own_broker.kill()
        time.sleep(AWAY_SECONDS)
        own_broker.start()
        own_broker.produce(name, 1, documents(0, 300, 1))
        wait_for(lambda: have(600), LONG)
        assert one.process.poll() is None and other.process.poll() is None
    for each in (here, there):
        assert placed(each / "out") == expected({0: 300, 1: 300}) and recounted(each / "out")
