"""The lock on an output directory."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evenflow.gates.lock import LockedError, OutputLock

HOLD = """
import sys
from pathlib import Path
from evenflow.gates.lock import OutputLock
with OutputLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(output: Path) -> Iterator[subprocess.Popen]:
    """Another process that holds the lock until its standard input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(output)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    try:
        assert process.stdout.readline() == b"held\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def test_a_second_process_is_refused_and_told_by_whom(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        with (
            pytest.raises(
                LockedError, match=f"in use by another run \\(process {process.pid} on .*--output"
            ),
            OutputLock(tmp_path),
        ):
            pass
        # Being refused changes nothing for the holder.
        with pytest.raises(LockedError, match=str(process.pid)), OutputLock(tmp_path):
            pass
        assert process.stdin
        process.stdin.close()
        assert process.wait() == 0
    with OutputLock(tmp_path):
        pass


def test_a_killed_holder_leaves_nothing_behind(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        with OutputLock(tmp_path):
            assert (tmp_path / "gate" / "lock").read_text().startswith(f"process {os.getpid()} on ")


def test_children_do_not_keep_it(tmp_path: Path) -> None:
    with OutputLock(tmp_path):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        with OutputLock(tmp_path):
            pass
    finally:
        child.kill()
        child.communicate()


def test_it_is_released_by_an_error_and_may_be_taken_again(tmp_path: Path) -> None:
    lock = OutputLock(tmp_path)
    with pytest.raises(ZeroDivisionError), lock:
        _ = 1 / 0
    with lock:
        pass
    assert (tmp_path / "gate" / "lock").read_text() == ""


def test_one_process_cannot_take_it_twice(tmp_path: Path) -> None:
    with OutputLock(tmp_path), pytest.raises(LockedError), OutputLock(tmp_path):
        pass
    with OutputLock(tmp_path):
        pass


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "gate").write_text("a file")
    with pytest.raises(OSError, match=str(tmp_path / "gate")):
        OutputLock(tmp_path).__enter__()
