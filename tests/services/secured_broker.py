"""A broker with listeners for TLS alone, with users, and with clients' certificates, beside the
open one; made on the spot.
"""

from __future__ import annotations

import datetime
import secrets
import subprocess
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from services.kafka_broker import Broker, free_port

USER = "gate"
LASTS = datetime.timedelta(days=2)  # a certificate


def certificate(folder: Path) -> tuple[Path, Path, str]:
    """A key store with a certificate of 127.0.0.1 signed by itself, that certificate as PEM, and
    the store's password.

    By keytool, which comes with the Java that the broker needs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    store, pem, password = folder / "broker.p12", folder / "ca.pem", secrets.token_hex(12)
    common = ["-alias", "broker", "-keystore", str(store), "-storepass", password]
    made = [
        *("-genkeypair", "-keyalg", "EC", "-dname", "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1"),
        *("-validity", "2"),
    ]
    subprocess.run(
        ["keytool", *made, "-storetype", "PKCS12", *common], check=True, capture_output=True
    )
    subprocess.run(
        ["keytool", "-exportcert", "-rfc", "-file", str(pem), *common],
        check=True,
        capture_output=True,
    )
    return store, pem, password


class Identity(NamedTuple):
    """PEM files of a client's certificate and of its key, and the key's password."""

    certificate: Path
    key: Path
    password: str


def identity(folder: Path) -> Identity:
    """A client's certificate, signed by itself, and its key, encrypted."""
    folder.mkdir(parents=True, exist_ok=True)
    found = Identity(folder / "client.pem", folder / "client.key", secrets.token_hex(12))
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, USER)])
    made = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now, now + LASTS
    ).sign(key, hashes.SHA256())
    found.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    encryption = serialization.BestAvailableEncryption(found.password.encode())
    form = serialization.PrivateFormat.PKCS8
    found.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, encryption))
    return found


def _trusting(store: Path, certificate: Path, password: str) -> None:
    """Make a store of what a broker trusts."""
    into = ["-keystore", str(store), "-storepass", password, "-storetype", "PKCS12"]
    words = [
        *("keytool", "-importcert", "-noprompt", "-alias", "client", "-file", str(certificate)),
        *into,
    ]
    subprocess.run(words, check=True, capture_output=True)


class SecuredBroker(Broker):
    """tls, users, mutual: HOST:PORT of the listeners with TLS alone, with a user USER and the
    password beside it, and with a client's certificate.

    authority: PEM file with what a client must trust. client: who is trusted. Mechanisms are PLAIN
    and SCRAM-SHA-512.
    """

    def __init__(self, folder: Path):
        ports = {"TLS": free_port(), "USERS": free_port(), "MUTUAL": free_port()}
        self.tls, self.users, self.mutual = (f"127.0.0.1:{port}" for port in ports.values())
        self.password = secrets.token_hex(12)
        store, self.authority, password = certificate(folder / "certificates")
        self.client, trusted = identity(folder / "client"), folder / "certificates" / "trusted.p12"
        _trusting(trusted, self.client.certificate, password)
        open_ = "PLAINTEXT://127.0.0.1:PORT"
        closed = ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items())
        login = "org.apache.kafka.common.security"
        plain, scram = (
            f"{login}.plain.PlainLoginModule required",
            f"{login}.scram.ScramLoginModule required",
        )
        more = {
            "listeners": f"{open_},{closed},CONTROLLER://127.0.0.1:CONTROLLER_PORT",
            "advertised.listeners": f"{open_},{closed}",
            "listener.security.protocol.map": (
                "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,TLS:SSL,USERS:SASL_SSL,MUTUAL:SSL"
            ),
            "ssl.keystore.location": str(store),
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.password": password,
            "listener.name.mutual.ssl.client.auth": "required",
            "listener.name.mutual.ssl.truststore.location": str(trusted),
            "listener.name.mutual.ssl.truststore.type": "PKCS12",
            "listener.name.mutual.ssl.truststore.password": password,
            "listener.name.users.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
            "listener.name.users.plain.sasl.jaas.config": f'{plain} user_{USER}="{self.password}";',
            "listener.name.users.scram-sha-512.sasl.jaas.config": f"{scram};",
        }
        super().__init__(
            folder, more, ("--add-scram", f"SCRAM-SHA-512=[name={USER},password={self.password}]")
        )
