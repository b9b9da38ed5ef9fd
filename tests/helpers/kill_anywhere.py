"""Kills work on an output at moments spread over its file operations, and lets it go on.

The process that calls this must not have computed with torch: each run is a fork of it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from kill_driver import in_fork, watch


def killed_runs(
    work: Callable[[Path], None], folder: Path, result: Callable[[Path], Any], kills: int = 10
) -> list[dict[str, Any]]:
    """Do the work whole, then once for each moment: killed there, and done again.

    Args:
        work: Works on the output it is given.
        folder: Where outputs go.
        result: What must be the same in the end.
        kills: Number of moments.

    Returns:
        For each moment: its event, the statuses of both runs, and whether the result is the same.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log, whole = folder / "events.txt", folder / "whole"

    def logged() -> None:
        with log.open("w") as file:
            watch(whole, lambda number, event, path: print(event, path, file=file, flush=True))
            work(whole)

    def killed(output: Path, moment: int) -> None:
        def kill(number: int, event: str, path: str) -> None:
            if number == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        watch(output, kill)
        work(output)

    assert in_fork(logged) == 0
    expected, events = result(whole), log.read_text().splitlines()
    assert len(events) >= kills
    found: list[dict[str, Any]] = []
    for number in range(kills):
        moment = 1 + number * (len(events) - 1) // (kills - 1)
        output = folder / f"killed-{moment}"
        found.append(
            {
                "event": events[moment - 1],
                "killed": in_fork(partial(killed, output, moment)),
                "again": in_fork(partial(work, output)),
                "same": result(output) == expected,
            }
        )
    return found


def wrong(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The moments whose run was not killed, or did not end with the same result."""
    return [
        each
        for each in found
        if each["killed"] != -signal.SIGKILL or each["again"] or not each["same"]
    ]
