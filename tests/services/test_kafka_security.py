"""TLS, users (PLAIN, SCRAM) and clients' certificates against a real broker, by the command: no
secret is shown or kept.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from services.conftest import require
from services.kafka_broker import installed
from services.secured_broker import USER, SecuredBroker, certificate, identity
from services.stream_outputs import EVENFLOW, documents, expected, placed, recounted

from evenflow.transforms.kafka.offsets import GroupOffsets
from evenflow.transforms.kafka.settings import KafkaSettings

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]

# The variables that hold them
SECRET, KEY_SECRET = "EVENFLOW_TEST_PASSWORD", "EVENFLOW_TEST_KEY_PASSWORD"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    """The broker, with a topic `docs` of 50 documents."""
    require(installed())
    broker = SecuredBroker(tmp_path_factory.mktemp("secured"))
    broker.start()
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


def mutual(broker: SecuredBroker, password: dict[str, str] | None) -> dict[str, Any]:
    """With the client's certificate, and where the password of its key is."""
    tls = {"security_protocol": "SSL", "ssl_cafile": str(broker.authority)}
    files = {"ssl_certfile": str(broker.client.certificate), "ssl_keyfile": str(broker.client.key)}
    return {**tls, **files, **({"ssl_password": password} if password is not None else {})}


def command(folder: Path, address: str, security: dict[str, Any], *more: str) -> list[str]:
    """The command, with a configuration file; outputs go to a folder `out`."""
    path = folder / "evenflow.yaml"
    path.write_text(yaml.safe_dump({"kafka": {"security": security}}), encoding="utf-8")
    options = [
        *("--kafka", address, "--topic", "docs", "--config", str(path), "--output"),
        str(folder / "out"),
    ]
    return [EVENFLOW, "stream", *options, *more]


def shown(folder: Path, text: str, secret: str) -> list[str]:
    """Where a secret is: in what was said, or in files below a folder."""
    files = [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]
    return [*files, *(["said"] if secret in text else [])]


@pytest.mark.parametrize("how", ["tls", "PLAIN", "SCRAM-SHA-512", "certificate"])
def test_read_commit_and_publish(secured: SecuredBroker, tmp_path: Path, how: str) -> None:
    kept = tmp_path / "secrets" / "password"
    kept.parent.mkdir()
    kept.write_text(secured.password + "\n", encoding="utf-8")
    cases = {
        "tls": (secured.tls, {"security_protocol": "SSL", "ssl_cafile": str(secured.authority)}),
        "PLAIN": (secured.users, users(secured, "PLAIN", {"env": SECRET})),
        "SCRAM-SHA-512": (secured.users, users(secured, "SCRAM-SHA-512", {"file": str(kept)})),
        "certificate": (secured.mutual, mutual(secured, {"env": KEY_SECRET})),
    }
    address, security = cases[how]
    folder = tmp_path / "run"
    folder.mkdir()
    accepted = secured.create_topic(f"accepted-{how}")
    words = command(
        folder,
        address,
        security,
        "--until-end",
        "--group",
        how,
        "--accepted-topic",
        accepted,
        "--debug",
    )
    environment = {**os.environ, SECRET: secured.password, KEY_SECRET: secured.client.password}
    done = subprocess.run(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout
    assert placed(folder / "out") == expected({0: 50}) and recounted(folder / "out")
    with closing(GroupOffsets(KafkaSettings(secured.address), how)) as offsets:
        assert offsets.committed([("docs", 0)])["docs", 0] == 50
    for secret in (secured.password, secured.client.password):
        assert shown(folder, done.stdout, secret) == []


REFUSED = {
    "another password": "refuses the user or mechanism",
    "another authority": "certificate",
    "no TLS": "no answer",
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_said_without_the_secret(
    secured: SecuredBroker,
    tmp_path: Path,
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    case: str,
) -> None:
    security, secret = users(secured, "PLAIN", {"env": SECRET}), secured.password
    if case == "another password":
        secret = "another-secret-of-the-test"
    if case == "another authority":
        security["ssl_cafile"] = str(certificate(tmp_path / "other")[1])
    if case == "no TLS":
        security["security_protocol"] = "SASL_PLAINTEXT"
    monkeypatch.setenv(SECRET, secret)
    status, said = refused(call, tmp_path, secured.users, security, secret)
    assert status in (1, 2) and REFUSED[case] in said


def refused(
    call: Call, work: Path, address: str, security: dict[str, Any], secret: str
) -> tuple[int, str]:
    """The status of the command and its last word, where it writes nothing and shows no secret."""
    folder = work / "run"
    folder.mkdir()
    ended = call(*command(folder, address, security, "--until-end")[1:])
    assert not (folder / "out" / "ledger").exists() and "pass phrase" not in ended.err
    assert shown(folder, ended.out + ended.err, secret) == []
    return ended.status, ended.err.splitlines()[-1]


REFUSED_CERTIFICATE = {
    "none": ("does not take the client's certificate", 1),
    "of another": ("does not take the client's certificate", 1),
    "no password": ("ssl_password", 2),  # OpenSSL would ask for it on the terminal
}


@pytest.mark.parametrize("case", REFUSED_CERTIFICATE)
def test_what_is_wrong_with_a_certificate_is_said(
    secured: SecuredBroker,
    tmp_path: Path,
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    case: str,
) -> None:
    security, secret = mutual(secured, {"env": KEY_SECRET}), secured.client.password
    if case == "none":
        security = {key: security[key] for key in ("security_protocol", "ssl_cafile")}
    if case == "of another":
        other = identity(tmp_path / "other")
        security |= {"ssl_certfile": str(other.certificate), "ssl_keyfile": str(other.key)}
        secret = other.password
    if case == "no password":
        del security["ssl_password"]
    monkeypatch.setenv(KEY_SECRET, secret)
    status, said = refused(call, tmp_path, secured.mutual, security, secret)
    assert REFUSED_CERTIFICATE[case][0] in said and REFUSED_CERTIFICATE[case][1] == status
