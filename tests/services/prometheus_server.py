"""Prometheus and Alertmanager for tests, from what `make prometheus` fetches."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from services.kafka_broker import ROOT, free_port
from services.processes import Program

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


class Server(Program):
    """A server on a free port of the loopback interface, its files in a folder."""

    def __init__(self, folder: Path, program: str, *words: str):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [FOLDER / program, *words, f"--web.listen-address=127.0.0.1:{self.port}"]
        super().__init__(program, folder / "log.txt")
        self._run(command, cwd=FOLDER)
        ready = f"{self.url}/-/ready"
        self._until(lambda: urllib.request.urlopen(ready, timeout=5).close(), START_SECONDS)


def scraping(*targets: str, **more: Any) -> dict[str, Any]:
    """A configuration that looks at places every second."""
    found = [each.removeprefix("http://").removesuffix("/metrics") for each in targets]
    return {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "scrape_configs": [{"job_name": "evenflow", "static_configs": [{"targets": found}]}],
        **more,
    }


def written(folder: Path, config: dict[str, Any]) -> Path:
    """The file of a configuration; JSON is YAML."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "config.yaml"
    path.write_text(json.dumps(config))
    return path


class Prometheus(Server):
    """Prometheus with a configuration."""

    def __init__(self, folder: Path, config: dict[str, Any]):
        super().__init__(
            *(folder, "prometheus", f"--config.file={written(folder, config)}"),
            *(f"--storage.tsdb.path={folder / 'data'}", "--enable-feature=exemplar-storage"),
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
        super().__init__(
            *(folder, "prometheus-alertmanager", f"--config.file={written(folder, config)}"),
            *(f"--storage.path={folder / 'data'}", "--cluster.listen-address="),
        )
