"""Programs that tests start, and processes below others."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil


class Program:
    """A program with its log; one that was killed may be started again."""

    PATIENCE_SECONDS = 20.0  # that it has to end in an orderly way

    def __init__(self, name: str, log: Path):
        self._name, self._log = name, log
        self._process: subprocess.Popen[Any] | None = None

    def _run(self, command: Sequence[str | Path], **more: Any) -> None:
        """Start it and come back at once."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, **more)

    def _until(self, answers: Callable[[], object], seconds: float) -> None:
        """Wait until it answers without an error. Raises RuntimeError with its log's end."""
        deadline = time.monotonic() + seconds
        while self.is_running and time.monotonic() < deadline:
            try:
                answers()
                return
            except Exception:  # whatever a client says while it comes up
                time.sleep(0.1)
        self.kill()
        text = self._log.read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"{self._name} did not come up:\n{text[-3000:]}")

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether its process has not ended."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """End it with SIGKILL: nothing is said to clients, nothing written."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait(20)

    def stop(self) -> None:
        """End it in an orderly way; with SIGKILL if that takes too long."""
        if self._process is not None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(self.PATIENCE_SECONDS)
        self.kill()


def reached(port: int) -> None:
    """Raises OSError where nobody listens at a port of the loopback interface."""
    socket.create_connection(("127.0.0.1", port), 1).close()


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
