"""The pool of worker processes, at its end."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Workers have more to do than they can begin when a signal comes, or the block ends. A pane is a
# function here, and what it needs is seconds.
BUSY = """
import functools, multiprocessing, operator, signal, sys, time
from evenflow.pipelines.engine import loop

def stop(*_):
    for child in multiprocessing.active_children():
        child.terminate()
    raise KeyboardInterrupt

def pane(number):
    made = functools.partial(time.sleep)
    made.number = number
    return made

loop.make_pane = operator.call
signal.signal(signal.SIGALRM, stop)
try:
    with loop.pool(2) as workers:
        for _ in range(2):
            workers.submit(int).result()
        made = loop.made(map(pane, range(9)), 600, workers, 2)
        if "signal" in sys.argv:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            next(made)
        given = [workers.submit(time.sleep, 600) for _ in range(9)]
        time.sleep(0.3)
except KeyboardInterrupt:
    time.sleep(0.3)
"""


@pytest.mark.parametrize("end", ["signal", "block"])
def test_what_is_under_way_is_given_up_without_a_word(end: str) -> None:
    program = [sys.executable, "-c", BUSY, end]
    ended = subprocess.run(program, capture_output=True, text=True, check=True, timeout=500)
    assert ended.stderr == ""
