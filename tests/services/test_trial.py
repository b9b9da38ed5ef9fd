"""A few kills of the trial, which `make trial` does fifty of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from parts import require
from services import kafka_broker, s3_server

TRIAL = Path(__file__).parents[1] / "trial" / "kills.py"


def test_what_kills_leave_is_there_once() -> None:
    require(kafka_broker.installed())
    require(s3_server.installed())
    ended = subprocess.run(
        [sys.executable, str(TRIAL), "3", "7"], capture_output=True, text=True, timeout=600
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    table = ended.stdout.splitlines()[-3:]
    assert [line.split()[0] for line in table] == ["files", "store", "topic"]
    assert all("each once: " in line and "NOT" not in line for line in table)
