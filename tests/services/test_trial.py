"""A few kills of the trial, which `make trial` does fifty of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from parts import require
from services.kafka_broker import installed

TRIAL = Path(__file__).parents[1] / "trial" / "kills.py"


def test_what_kills_leave_is_there_once() -> None:
    require(installed())
    ended = subprocess.run(
        [sys.executable, str(TRIAL), "3", "7"], capture_output=True, text=True, timeout=600
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "each once" in ended.stdout and "NOT" not in ended.stdout
