"""Beam's job server with a Flink inside, from the jars that `make` fetches."""

from __future__ import annotations

from pathlib import Path

from services.kafka_broker import ROOT, free_port
from services.processes import Program, reached

SERVICES = ROOT / "build" / "services"
FLINK = SERVICES / "flink"
START_SECONDS = 120.0  # of a busy machine of two cores


def installed() -> str | None:
    """None if it can be started; else what is missing and the line that brings it."""
    if not (FLINK / "loopback").exists():
        return "no Flink in build/services/flink: run `make flink` (a JDK 17, Maven)"
    return None


class JobServer(Program):
    """A job server on a free port of the loopback interface. endpoint: HOST:PORT for
    --job_endpoint.
    """

    PATIENCE_SECONDS = 3.0  # jobs that read for ever keep it from ending

    def __init__(self, folder: Path):
        port = free_port()
        self.endpoint = f"127.0.0.1:{port}"
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__("The job server of Flink", folder / "flink.log")
        self._run([ROOT / "deploy" / "flink" / "start", str(port), folder / "artifacts"])
        self._until(lambda: reached(port), START_SECONDS)
