"""Processes below others."""

from __future__ import annotations

import os
import time
from contextlib import suppress

import psutil


def listening(process: int) -> list[tuple[str, int]]:
    """Where a process and those below it listen: addresses and ports."""
    found = []
    top = psutil.Process(process)
    for each in [top, *top.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            found += [
                one.laddr for one in each.net_connections("tcp") if one.status == psutil.CONN_LISTEN
            ]
    return [(each.ip, each.port) for each in found]


def outside(places: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Those of some places that others than this machine reach."""
    return [
        each
        for each in places
        if each[0] != "::1" and not each[0].startswith(("127.", "::ffff:127."))
    ]


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
