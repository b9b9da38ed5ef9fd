"""How worker processes are made: from a process that has loaded what they need, once for all.

That is this process, where it has no thread that could hold a lock. Otherwise it is Python's fork
server, which repeats this process's imports.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
from contextlib import suppress
from importlib import import_module
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import BaseContext
from pathlib import Path

from evenflow.pipelines.engine.one_thread import one_thread
from evenflow.pipelines.terminal.endings import WATCH

LOADED = "evenflow.pipelines.engine.loaded"
ALLOCATOR = "jemalloc_bg_thd\n"  # Arrow's thread, which stops for a fork


def context() -> BaseContext:
    """Return how worker processes are made, with what they need loaded."""
    one_thread()
    # Linux alone has this folder. It has the threads of libraries too
    threads: list[str] = []
    for each in Path("/proc/self/task").glob("*"):
        with suppress(OSError):  # it has ended
            threads.append((each / "comm").read_text())
    known = {each.name for each in threading.enumerate()} <= {"MainThread", WATCH}
    if known and len(threads) - threads.count(ALLOCATOR) == threading.active_count():
        import_module(LOADED)
        return multiprocessing.get_context("fork")
    # A stopped process leaves its semaphores to multiprocessing's tracker, which removes them. That
    # is no news to a user; the tracker inherits what to say nothing about.
    sys.warnoptions.append("ignore:resource_tracker")
    resource_tracker.ensure_running()
    sys.warnoptions.pop()
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload([LOADED])
    forkserver.ensure_running()
    return made
