"""The commands of compose's services, as processes, where their programs are here; what they read
and where they listen is that of this machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import obstore
import pytest
import yaml
from parts import require
from places import ROOT
from services import prometheus_server, s3_server
from services.prometheus_server import Server

FLINK = "compose.flink.yaml"
RULES = ROOT / "deploy" / "prometheus"


def service(name: str, file: str = "compose.yaml") -> dict[str, Any]:
    """A service of one of the files."""
    return yaml.safe_load((ROOT / "deploy" / file).read_text(encoding="utf-8"))["services"][name]


def here(words: list[str], places: dict[str, object]) -> list[str]:
    """A command with other places."""
    for inside, outside in places.items():
        assert any(inside in word for word in words)
        words = [word.replace(inside, str(outside)) for word in words]
    return words


def test_the_store_takes_what_the_gate_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(s3_server.installed())
    data, gate = tmp_path / "data", service("gate", FLINK)["environment"]
    server = s3_server.S3Server(tmp_path)
    words = here(service("store", FLINK)["command"], {":7070": server.address, "/data": data})
    (data / "gate").mkdir(parents=True)  # as the service `bucket` does
    server.start(words, service("store", FLINK)["environment"])
    try:
        for key in [key for key in gate if key.startswith("AWS_")]:
            monkeypatch.setenv(key, gate[key])
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
        store = obstore.store.from_url("s3://gate/out")
        obstore.put(store, "one", b"1", mode="create")
        with pytest.raises(obstore.exceptions.AlreadyExistsError):
            obstore.put(store, "one", b"2", mode="create")
        assert (data / "gate" / "out" / "one").read_bytes() == b"1"
    finally:
        server.kill()


@pytest.mark.parametrize(
    ("name", "program", "more"),
    [
        ("prometheus", "prometheus", []),
        # Else it would listen on all interfaces
        ("alertmanager", "prometheus-alertmanager", ["--cluster.listen-address="]),
    ],
)
def test_what_watches_the_gate_starts(
    tmp_path: Path, name: str, program: str, more: list[str]
) -> None:
    require(prometheus_server.installed())
    places = {f"/etc/{name}": RULES, f".path=/{name}": f".path={tmp_path / 'data'}"}
    words = here(service(name)["command"], places)
    Server(tmp_path, program, *words, *more).stop()  # it has said that it is ready
