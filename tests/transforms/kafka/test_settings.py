"""A wrong setting of a cluster is named, and no secret is shown."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from evenflow.transforms.kafka.settings import KafkaSettings, KafkaSettingsError


def test_client_settings_with_secrets_from_environment_and_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SASL", "hush")
    (tmp_path / "key").write_text("quiet\n")
    settings = KafkaSettings(
        "a:9092, b:9093",
        {
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": "me",
            "sasl_plain_password": {"env": "SASL"},
            "ssl_password": {"file": str(tmp_path / "key")},
        },
    )
    client = settings.client()
    assert client["bootstrap_servers"] == ["a:9092", "b:9093"]
    assert (client["sasl_plain_password"], client["ssl_password"]) == ("hush", "quiet")
    for shown in (repr(settings), str(settings), repr(pickle.dumps(settings))):
        assert "hush" not in shown and "quiet" not in shown


@pytest.mark.parametrize(
    ("bootstrap", "security", "message"),
    [
        ("localhost", {}, "HOST:PORT"),
        ("localhost:0", {}, "HOST:PORT"),
        ("localhost:99999", {}, "HOST:PORT"),
        (":9092", {}, "HOST:PORT"),
        ("a:1,", {}, "HOST:PORT"),
        ("a:1", {"sasl_mecanism": "PLAIN"}, "did you mean 'sasl_mechanism'"),
        ("a:1", {"security_protocol": "TLS"}, "security_protocol: one of PLAINTEXT"),
        ("a:1", {"ssl_password": {"vault": "x"}}, "ssl_password"),
    ],
)
def test_what_is_wrong_is_named(bootstrap: str, security: dict[str, object], message: str) -> None:
    with pytest.raises(KafkaSettingsError, match=message):
        KafkaSettings(bootstrap, security)


def test_a_secret_that_is_not_there_names_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_SET", raising=False)
    with pytest.raises(KafkaSettingsError, match="NOT_SET"):
        KafkaSettings("a:1", {"sasl_plain_password": {"env": "NOT_SET"}}).client()
    with pytest.raises(KafkaSettingsError, match="absent"):
        KafkaSettings("a:1", {"sasl_plain_password": {"file": str(tmp_path / "absent")}}).client()


def test_files_of_tls_are_seen_before_a_client_is_made(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()
    cases = {
        "ssl_cafile: .*absent.pem: No such file": {"ssl_cafile": str(tmp_path / "absent.pem")},
        "ssl_cafile: .*empty.pem: no certificates": {"ssl_cafile": str(tmp_path / "empty.pem")},
        "without ssl_certfile": {"ssl_keyfile": str(tmp_path / "empty.pem")},
        "ssl_certfile and ssl_keyfile: .*is ssl_password right": {
            "ssl_certfile": str(tmp_path / "empty.pem")
        },
    }
    for message, files in cases.items():
        with pytest.raises(KafkaSettingsError, match=message):
            KafkaSettings("a:1", {"security_protocol": "SSL", **files}).client()
    assert KafkaSettings("a:1", {"ssl_cafile": "not looked at without TLS"}).client()["ssl_cafile"]
