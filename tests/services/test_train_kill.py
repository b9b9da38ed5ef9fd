"""Training, benchmarks and experiments, killed at ten moments each and continued."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from parts import needs_training
from places import HELPERS

needs_training("torch", "transformers", "peft")


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By command the moments at which a kill changed the result."""
    folder = str(tmp_path_factory.mktemp("kills"))
    done = subprocess.run(
        [sys.executable, str(HELPERS / "kill_training.py"), folder], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("command", ["finetune", "benchmark", "paper"])
def test_killed_at_ten_moments_it_ends_the_same(wrong: dict[str, Any], command: str) -> None:
    assert wrong[command] == []
