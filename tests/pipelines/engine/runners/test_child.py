"""A command that is run by child.py is unchanged, and ends when its parent is killed."""

from __future__ import annotations

import subprocess
import sys
import time

import psutil
import pytest

from evenflow.pipelines.engine.runners import child as stream_child

START = [sys.executable, "-I", "-S", stream_child.__file__]
PARENT = """
import os, subprocess, sys
sleeping = [sys.executable, "-c", "import time; time.sleep(600)"]
child = subprocess.Popen([*sys.argv[1:], str(os.getpid()), *sleeping])
print(child.pid, flush=True)
child.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_it_ends_with_a_parent_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, *START], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        deadline = time.monotonic() + 60
        # It has not become the command yet
        while "sleep" not in " ".join(child.cmdline()[1:3]) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert child.is_running()
        parent.kill()
        gone, alive = psutil.wait_procs([child], timeout=60)
    assert gone == [child] and alive == []


def test_it_does_not_begin_without_its_parent() -> None:
    done = subprocess.run([*START, "1", "/bin/echo", "begun"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "" if sys.platform == "linux" else "begun\n")


def test_arguments_and_status_are_those_of_the_command() -> None:
    words = [
        sys.executable,
        "-c",
        "import os, sys; print(sys.argv[1:], os.getppid()); sys.exit(7)",
        "a b",
        "--c",
    ]
    parent = psutil.Process()
    done = subprocess.run([*START, str(parent.pid), *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (7, f"['a b', '--c'] {parent.pid}\n")
