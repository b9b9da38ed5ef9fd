"""Prometheus and Alertmanager for tests, from what `make prometheus` fetches."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from services.kafka_broker import ROOT, free_port

FOLDER = ROOT / "build" / "services" / "prometheus"
START_SECONDS = 60.0


def installed() -> str | None:
    """None if Prometheus is there; else what is missing and the line that brings it."""
    if not (FOLDER / ".checked").exists():
        return f"no Prometheus in {FOLDER.relative_to(ROOT)}: run `make prometheus` (Debian 12)"
    return None


def called(tool: str, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Call promtool or amtool."""
    return subprocess.run([FOLDER / tool, *words], input=given, capture_output=True, timeout=300)


class Server:
    """A server on a free port of the loopback interface, its files in a folder."""

    def __init__(self, folder: Path, program: str, *words: str):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [FOLDER / program, *words, f"--web.listen-address=127.0.0.1:{self.port}"]
        self._log = folder / "log.txt"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, cwd=FOLDER, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/-/ready", timeout=5).close()
                return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    text = self._log.read_text(errors="replace")[-3000:]
                    raise RuntimeError(f"{program} did not start:\n{text}") from None
                time.sleep(0.1)

    def stop(self) -> None:
        """End the server."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(20)


class Prometheus(Server):
    """Prometheus with a configuration."""

    def __init__(self, folder: Path, config: dict[str, Any]):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "prometheus.yaml"
        path.write_text(json.dumps(config))
        super().__init__(
            folder,
            "prometheus",
            f"--config.file={path}",
            f"--storage.tsdb.path={folder / 'data'}",
            "--enable-feature=exemplar-storage",
        )

    def ask(self, what: str, **parameters: Any) -> Any:
        """An answer of the API: the value of data."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{what}?{query}", timeout=30) as found:
                return json.load(found)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error

    def query(self, expr: str) -> list[dict[str, Any]]:
        """The series that an expression has now."""
        return self.ask("query", query=expr)["result"]


class Alertmanager(Server):
    """Alertmanager with a configuration, alone."""

    def __init__(self, folder: Path, config: dict[str, Any]):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "alertmanager.yaml"
        path.write_text(json.dumps(config))
        super().__init__(
            folder,
            "prometheus-alertmanager",
            f"--config.file={path}",
            f"--storage.path={folder / 'data'}",
            "--cluster.listen-address=",
        )
