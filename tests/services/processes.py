"""Processes below others."""

from __future__ import annotations

import os
import time

import psutil


def children(process: int, name: str) -> list[int]:
    """Process numbers of a process's own children whose command's name begins with a name."""
    found = []
    for child in psutil.Process(process).children():
        try:
            if child.name().startswith(name):
                found.append(child.pid)
        except psutil.NoSuchProcess:
            continue
    return found


def left_behind(group: int, seconds: float) -> list[str]:
    """Names of the living processes of a process group, after some seconds of grace at most."""
    deadline = time.monotonic() + seconds
    while True:
        found = []
        for each in psutil.process_iter(["name", "status"]):
            try:
                if os.getpgid(each.pid) == group and each.info["status"] != psutil.STATUS_ZOMBIE:
                    found.append(each.info["name"])
            except ProcessLookupError:
                continue
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.2)
