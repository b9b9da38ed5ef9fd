"""Beam's job server with a Flink of its own inside, from the jars that `make flink` fetches."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

from services.kafka_broker import ROOT, free_port

LIB = ROOT / "build" / "services" / "flink" / "lib"
OPENED = ("java.util", "java.lang", "java.lang.invoke", "java.nio", "java.net", "java.time", "sun.nio.ch")
START_SECONDS = 60.0


def installed() -> str | None:
    """None if it can be started; else what is missing and the line that brings it."""
    if not any(LIB.glob("beam-runners-flink-*.jar")):
        return f"no Flink in {LIB.relative_to(ROOT)}: run `make flink` (Java 17, Maven)"
    return None


class FlinkServer:
    """A job server on a free port of the loopback interface. endpoint: HOST:PORT for --job_endpoint."""

    def __init__(self, folder: Path):
        port = free_port()
        self.endpoint = f"127.0.0.1:{port}"
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "flink.log"
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
        main = "org.apache.beam.runners.flink.FlinkJobServerDriver"
        ports = ("--job-host=127.0.0.1", f"--job-port={port}", "--artifact-port=0", "--expansion-port=0")
        command = ["java", "-Xmx1g", *opened, "-cp", f"{LIB}/*", main, "--flink-master=[local]", *ports]
        artifacts = f"--artifacts-dir={folder / 'artifacts'}"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([*command, artifacts], stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.2)
        self.stop()
        raise RuntimeError(f"Flink's job server did not come up:\n{self.log()[-3000:]}")

    def log(self) -> str:
        """All that it has written so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """End it with SIGKILL."""
        self._process.kill()
        self._process.wait(20)

    def stop(self) -> None:
        """End it, with SIGKILL if it takes longer than 3 s: jobs that read for ever keep it from ending."""
        self._process.terminate()
        try:
            self._process.wait(3)
        except subprocess.TimeoutExpired:
            self.kill()
