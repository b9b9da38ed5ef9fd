"""TLS and users (PLAIN, SCRAM) against a real broker, by the command: it works, and no secret is shown or kept."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from services.conftest import require
from services.kafka_broker import installed
from services.secured_broker import USER, SecuredBroker, certificate
from services.stream_outputs import EVENFLOW, count, documents, expected, gate, placed, recounted, wait_for

from evenflow.transforms.kafka_offsets import GroupOffsets
from evenflow.transforms.kafka_settings import KafkaSettings

SECRET = "EVENFLOW_TEST_PASSWORD"  # the variable that holds it


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    """The broker, with a topic `docs` of 50 documents and an empty one, `accepted`."""
    require(installed())
    broker = SecuredBroker(tmp_path_factory.mktemp("secured"))
    broker.start()
    broker.create_topic("accepted")
    broker.produce(broker.create_topic("docs"), 0, documents(0, 50))
    yield broker
    broker.kill()


def users(broker: SecuredBroker, mechanism: str, password: dict[str, str]) -> dict[str, Any]:
    return {
        "security_protocol": "SASL_SSL",
        "ssl_cafile": str(broker.authority),
        "sasl_mechanism": mechanism,
        "sasl_plain_username": USER,
        "sasl_plain_password": password,
    }


def command(folder: Path, address: str, security: dict[str, Any], *more: str) -> list[str]:
    """The command, with a configuration file; outputs go to a folder `out`."""
    path = folder / "evenflow.yaml"
    path.write_text(yaml.safe_dump({"kafka": {"security": security}}), encoding="utf-8")
    options = ["--kafka", address, "--topic", "docs", "--config", str(path), "--output", str(folder / "out")]
    return [EVENFLOW, "run", *options, *more]


def shown(folder: Path, text: str, secret: str) -> list[str]:
    """Where a secret is: in what was said, or in files below a folder."""
    files = [str(path) for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    return [*files, *(["said"] if secret in text else [])]


@pytest.mark.parametrize("how", ["tls", "PLAIN", "SCRAM-SHA-512"])
def test_read_commit_and_publish(secured: SecuredBroker, tmp_path: Path, how: str) -> None:
    kept = tmp_path / "secrets" / "password"
    kept.parent.mkdir()
    kept.write_text(secured.password + "\n", encoding="utf-8")
    cases = {
        "tls": (secured.tls, {"security_protocol": "SSL", "ssl_cafile": str(secured.authority)}),
        "PLAIN": (secured.users, users(secured, "PLAIN", {"env": SECRET})),
        "SCRAM-SHA-512": (secured.users, users(secured, "SCRAM-SHA-512", {"file": str(kept)})),
    }
    address, security = cases[how]
    folder = tmp_path / "run"
    folder.mkdir()
    words = command(folder, address, security, "--until-end", "--group", how, "--accepted-topic", "accepted", "--debug")
    done = subprocess.run(
        words, env={**os.environ, SECRET: secured.password}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout
    assert placed(folder / "out") == expected({0: 50}) and recounted(folder / "out")
    with closing(GroupOffsets(KafkaSettings(secured.address), how)) as offsets:
        assert offsets.committed([("docs", 0)])["docs", 0].offset == 50
    assert shown(folder, done.stdout, secured.password) == []


def test_on_prism(secured: SecuredBroker, tmp_path: Path, prism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, secured.password)
    runner = ["--runner=--runner=PrismRunner", f"--runner=--prism_location={prism}", "--runner=--prism_log_level=warn"]
    security = users(secured, "SCRAM-SHA-512", {"env": SECRET})
    with gate(command(tmp_path, secured.users, security, "--pane-seconds", "1", *runner), tmp_path) as running:
        wait_for(lambda: count(tmp_path / "out") == 50)
    assert placed(tmp_path / "out") == expected({0: 50})
    assert shown(tmp_path, "\n".join(running.said), secured.password) == []


REFUSED = {
    "another password": "refuses the user or mechanism",
    "no password": f"environment variable {SECRET} is not set",
    "another authority": "certificate",
    "no TLS": "no answer",
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_said_without_the_secret(secured: SecuredBroker, tmp_path: Path, case: str) -> None:
    security, environment = users(secured, "PLAIN", {"env": SECRET}), dict(os.environ)
    wrong = "another-secret-of-the-test"
    if case != "no password":
        environment[SECRET] = wrong if case == "another password" else secured.password
    if case == "another authority":
        security["ssl_cafile"] = str(certificate(tmp_path / "other")[1])
    if case == "no TLS":
        security["security_protocol"] = "SASL_PLAINTEXT"
    folder = tmp_path / "run"
    folder.mkdir()
    done = subprocess.run(
        command(folder, secured.users, security, "--until-end"), env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode in (1, 2) and not (folder / "out" / "ledger").exists()
    assert REFUSED[case] in done.stderr.splitlines()[-1], done.stderr
    assert "Traceback" not in done.stderr
    assert shown(folder, done.stdout + done.stderr, wrong if case == "another password" else secured.password) == []
