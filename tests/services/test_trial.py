"""Seconds of the trials that `make trial` and `make storm` run for long."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from parts import require
from services import kafka_broker, s3_server
from services.job_server import installed as job_server_installed

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
    require(job_server_installed("flink"))
    for installed in (kafka_broker.installed, s3_server.installed):
        require(installed())
    words = [str(TRIAL / "storm.py"), str(tmp_path), "--minutes", "0.5", "--mb-per-second", "0.05"]
    ended = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=1500)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["events"] and result["documents"] and result["panes"]
