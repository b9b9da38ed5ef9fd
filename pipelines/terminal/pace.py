"""Lines of progress of a long command, one in some seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from evenflow.pipelines.terminal.endings import Session, report_event

LINE_SECONDS = 5.0  # between two lines
T = TypeVar("T")


def lines(
    session: Session,
    quiet: bool,
    text: Callable[[T], str],
    is_last: Callable[[T], bool] = lambda done: False,
    at_once: bool = False,
) -> Callable[[T], None]:
    """Make what prints progress: a line in LINE_SECONDS, and the last one.

    Args:
        session: A stop that was asked for ends the command there.
        quiet: Whether nothing is printed.
        is_last: Whether a state is the last, and is printed in any case.
        at_once: Whether the first state is printed.
    """
    last = -LINE_SECONDS if at_once else time.monotonic()

    def show(done: T) -> None:
        nonlocal last
        session.go_on()
        now = time.monotonic()
        line = text(done)
        if not quiet and (now - last >= LINE_SECONDS or is_last(done)):
            last = now
            report_event("progress", line, 0, session)

    return show
