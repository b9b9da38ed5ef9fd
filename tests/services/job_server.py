"""Beam's job servers with a Flink or Spark inside, from the jars that `make` fetches."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

from services.kafka_broker import ROOT, free_port

SERVICES = ROOT / "build" / "services"
FLINK = SERVICES / "flink"
START_SECONDS = 120.0  # of a busy machine of two cores


def installed(engine: str) -> str | None:
    """None if it can be started; else what is missing and the line that brings it."""
    if not (SERVICES / engine / "loopback").exists():
        return f"no {engine} in build/services/{engine}: run `make {engine}` (a JDK 17, Maven)"
    return None


class JobServer:
    """A job server on the loopback interface, by default on a free port. engine: flink or spark.
    endpoint: HOST:PORT for --job_endpoint.
    """

    def __init__(self, engine: str, folder: Path, port: int | None = None):
        port = port or free_port()
        self.endpoint = f"127.0.0.1:{port}"
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / f"{engine}.log"
        with self._log.open("ab") as log:
            command = [
                str(ROOT / "deploy" / engine / "start"),
                str(port),
                str(folder / "artifacts"),
            ]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.2)
        self.stop()
        raise RuntimeError(f"The job server of {engine} did not come up:\n{self.log()[-3000:]}")

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def log(self) -> str:
        """All that it has written so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """End it with SIGKILL."""
        self._process.kill()
        self._process.wait(20)

    def stop(self) -> None:
        """End it, with SIGKILL if it takes longer than 3 s: jobs that read for ever keep it from
        ending.
        """
        self._process.terminate()
        try:
            self._process.wait(3)
        except subprocess.TimeoutExpired:
            self.kill()
