"""What a process that ends at once leaves to others."""

from __future__ import annotations

import subprocess
import sys

STOPPED = """
import multiprocessing, os
from concurrent.futures import ProcessPoolExecutor
from evenflow.pipelines.engine import forks
executor = ProcessPoolExecutor(1, forks.context())
print(executor.submit(int).result(), flush=True)
for child in multiprocessing.active_children():
    child.terminate()
os._exit(0)
"""


def test_a_stop_at_once_leaves_no_warning_behind_its_last_line() -> None:
    ended = subprocess.run([sys.executable, "-c", STOPPED], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "0\n", "")
