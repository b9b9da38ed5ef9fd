"""The fork server that worker processes come from.

It imports what they need once for all of them, while this process does its own imports.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext

PRELOADED = ["evenflow.pipelines.engine.files.quiet", "evenflow.pipelines.engine.files.making"]


def context() -> ForkServerContext:
    """Return how worker processes are made; this process, which has threads, is not forked."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(PRELOADED)
    return made


def start() -> None:
    """Start the server now, so that its imports take no time later."""
    context()
    forkserver.ensure_running()
