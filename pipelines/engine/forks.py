"""The fork server that worker processes come from.

It imports what they need once for all of them, while this process does its own imports.
"""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import ForkServerContext

PRELOADED = ["evenflow.pipelines.engine.quiet", "evenflow.pipelines.engine.make"]


def context() -> ForkServerContext:
    """Return how worker processes are made; this process, which has threads, is not forked."""
    # A stopped process leaves its semaphores to multiprocessing's tracker, which removes them. That
    # is no news to a user; the tracker inherits what to say nothing about.
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (before, "ignore:resource_tracker")))
    try:
        resource_tracker.ensure_running()
    finally:
        os.environ.pop("PYTHONWARNINGS")
        os.environ.update({} if before is None else {"PYTHONWARNINGS": before})
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(PRELOADED)
    return made


def start() -> None:
    """Start the server now, so that its imports take no time later."""
    context()
    forkserver.ensure_running()
