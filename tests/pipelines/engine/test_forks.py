"""How worker processes are made, and what a process that ends at once leaves to others."""

from __future__ import annotations

import subprocess
import sys

import pytest

from evenflow.pipelines.engine import forks

# A copy, or one of the fork server, has what a pane needs, such as the classifier of languages
STOPPED = """
import multiprocessing, os, pathlib, sys, threading, time
from concurrent.futures import ProcessPoolExecutor
from evenflow.pipelines.engine import forks
threading.Thread(target=time.sleep, args=[60], name=sys.argv[1], daemon=True).start()
glob = pathlib.Path.glob  # a thread that ends meanwhile has no folder
pathlib.Path.glob = lambda *of: [*glob(*of), of[0] / "0"]
how = forks.context()
executor = ProcessPoolExecutor(1, how)
loaded = executor.submit(eval, "'py3langid' in __import__('sys').modules").result()
print(loaded, how.get_start_method(), flush=True)
for child in multiprocessing.active_children():
    child.terminate()
os._exit(0)
"""


@pytest.mark.parametrize(("thread", "how"), [(forks.WATCH, "fork"), ("other", "forkserver")])
def test_a_stop_at_once_leaves_no_warning_behind_its_last_line(thread: str, how: str) -> None:
    program = [sys.executable, "-c", STOPPED, thread]
    one = {"OPENBLAS_NUM_THREADS": "1"}  # else numpy has threads
    ended = subprocess.run(program, env=one, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"True {how}\n", "")
