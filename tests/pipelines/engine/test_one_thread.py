"""OpenBLAS starts no second thread in a command, or in the workers of a program that imports us."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

NAME = "OPENBLAS_NUM_THREADS"
WORKER = f"""
import os
from evenflow.pipelines.engine.loop import pool
with pool(2) as workers:
    print(workers.submit(os.getenv, {NAME!r}).result())
"""
COMMAND = f"""
import os, sys
from evenflow.pipelines.cli.app import main
assert "numpy" not in sys.modules
try:
    main(["doctor", "--print", "config"])
finally:
    print(os.environ[{NAME!r}])
"""


@pytest.mark.parametrize("program", [WORKER, COMMAND])
@pytest.mark.parametrize("given", [{}, {NAME: "2"}])
def test_one_thread_unless_the_user_says_otherwise(program: str, given: dict[str, str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != NAME} | given
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert ended.stdout.splitlines()[-1] == given.get(NAME, "1")
