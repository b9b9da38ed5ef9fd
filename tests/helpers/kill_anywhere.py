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

Moments = Callable[[list[tuple[str, str]]], list[int]]


def evenly(kills: int) -> Moments:
    """So many moments, spread over all."""

    def chosen(events: list[tuple[str, str]]) -> list[int]:
        assert len(events) >= kills
        return [1 + number * (len(events) - 1) // (kills - 1) for number in range(kills)]

    return chosen


TEN = evenly(10)


def killed_runs(
    work: Callable[[Path], None],
    folder: Path,
    result: Callable[[Path], Any],
    moments: Moments = TEN,
) -> list[dict[str, Any]]:
    """Do the work whole, then once for each moment: killed there, and done again.

    Args:
        work: Works on the output it is given.
        folder: Where outputs go.
        result: What must be the same in the end.
        moments: The numbers of file operations, from 1, of all with their names and paths.

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
    expected = result(whole)
    lines = (line.partition(" ") for line in log.read_text().splitlines())
    events = [(event, path) for event, _, path in lines]
    found: list[dict[str, Any]] = []
    for moment in moments(events):
        output = folder / f"killed-{moment}"
        found.append(
            {
                "event": events[moment - 1][0],
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
