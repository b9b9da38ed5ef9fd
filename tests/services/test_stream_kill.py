"""Killed by SIGKILL at many moments, each message is in exactly one place and the outputs are those
of an undisturbed run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from kill_driver import digests
from services import stream_kill
from services.job_server import JobServer
from services.kafka_broker import Broker
from services.processes import left_behind
from services.stream_outputs import TopicMaker, flink_runner, placed, recounted, to_end

from evenflow.gates.ledger.files import read_entries
from evenflow.schemas.config import load

DRIVER = str(Path(__file__).with_name("stream_kill.py"))
GRACE_SECONDS = 10.0  # in which a runner ends whose driver was killed
MOST_SECONDS = 1200.0  # for a driver on a busy machine; 45 to 100 on two cores without other work


def check(
    broker: Broker,
    topic: str,
    folder: Path,
    every: int,
    options: list[str],
    settings: dict[str, str] | None = None,
) -> None:
    """Kill at every so many moments on a runner, and compare."""
    command = [
        sys.executable,
        DRIVER,
        broker.address,
        topic,
        str(folder),
        str(every),
        json.dumps(settings or {}),
        *options,
    ]
    driver = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        said, errors = driver.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.communicate()
        raise
    assert driver.returncode == 0, errors
    *moments, last = [json.loads(line) for line in said.splitlines()]
    assert len(moments) == len(stream_kill.MOMENTS[::every])
    as_killed = {"killed": True, "ended": -signal.SIGKILL}
    assert [each for each in moments if not as_killed.items() <= each.items()] == [], errors
    assert last["ended"] == 0, errors
    assert "RunnerError: the runner ended" not in errors
    to_end(broker, topic, folder / "whole", load(None, settings)).go()
    assert placed(folder / "out") == stream_kill.messages(len(moments) + 1) and recounted(
        folder / "out"
    )
    assert digests(folder / "out") == digests(folder / "whole")
    assert left_behind(driver.pid, GRACE_SECONDS) == []


def test_in_process(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    assert len(stream_kill.MOMENTS) >= 10
    check(broker, topic(stream_kill.PARTITIONS), tmp_path, 1, [])


def test_in_process_where_people_are_counted(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    settings = {"measure.count": "people"}
    check(broker, topic(stream_kill.PARTITIONS), tmp_path, 6, [], settings)
    entries = read_entries(tmp_path / "out")
    assert all(entry.attributes["gender"].people for entry in entries)


def test_the_worker_on_flink(
    broker: Broker, topic: TopicMaker, tmp_path: Path, flink: JobServer
) -> None:
    """Some of the moments: for each of them Flink starts a cluster, which takes it seconds."""
    check(broker, topic(stream_kill.PARTITIONS), tmp_path, 4, flink_runner(flink.endpoint))
