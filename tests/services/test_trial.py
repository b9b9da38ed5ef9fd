"""Seconds of the trials that `make trial` and `make storm` run for long."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from kafka.errors import KafkaTimeoutError
from parts import require
from services import kafka_broker, prometheus_server, s3_server
from services.job_server import installed as job_server_installed
from trial.alerts import Fired, untold
from trial.steady import Writer

TRIAL = Path(__file__).parents[1] / "trial"


def test_what_kills_leave_is_there_once() -> None:
    require(kafka_broker.installed())
    require(s3_server.installed())
    ended = subprocess.run(
        [sys.executable, str(TRIAL / "kills.py"), "3", "7"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    table = ended.stdout.splitlines()[-3:]
    assert [line.split()[0] for line in table] == ["files", "store", "topic"]
    assert all("each once: " in line and "NOT" not in line for line in table)


def test_a_storm_leaves_what_an_undisturbed_run_leaves(tmp_path: Path) -> None:
    require(job_server_installed())
    for part in (kafka_broker, prometheus_server, s3_server):
        require(part.installed())
    words = [str(TRIAL / "storm.py"), str(tmp_path), "--minutes", "0.1", "--mb-per-second", "0.05"]
    ended = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=1500)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["events"] and result["documents"] and result["panes"]


def test_what_a_producer_could_not_send_is_sent_by_another() -> None:
    written, closed = list[tuple[int, bytes]](), list[bool]()

    class Producer:
        """The first one gets no answer, and the third one to close does not end."""

        def put(self, topic: str, records: list[tuple[int, bytes]]) -> None:
            if not closed:
                raise KafkaTimeoutError("no answer")
            written.extend(records)
            writer.stopping.set()

        def close(self) -> None:
            closed.append(True)
            raise KafkaTimeoutError("it does not end")

    class Broker:
        def producer(self, **settings: Any) -> Producer:
            return Producer()

    given: Any = Broker()
    writer = Writer(given, "topic", 1e6)
    writer.run()
    assert len(closed) == 2 and len(written) == writer.documents > 0
    assert [json.loads(value)["id"] for _, value in written] == [*map(str, range(len(written)))]


def test_a_stop_that_no_alert_tells_of_is_found() -> None:
    def sample(seconds: float, panes: int) -> dict[str, float]:
        return {"seconds": seconds, "panes": panes, "behind": 5.0}

    # Two minutes to the first pane, 50 s and 70 s between panes, and 80 s at the end
    samples = [sample(*each) for each in [(0, 0), (120, 1), (170, 2), (240, 2), (241, 3), (321, 3)]]
    assert untold(samples, []) == [(170, 240), (241, 321)]
    told = [Fired("EvenflowPaneOverdue", 200, 210), Fired("EvenflowDrWarn", 0, 400)]
    assert untold(samples, told) == [(241, 321)]
    idle = [each | {"behind": 0.0} for each in samples]
    assert untold(idle, []) == []
