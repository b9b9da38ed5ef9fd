"""A broker with listeners for TLS, and for TLS with users, beside the open one; its certificate is made on the spot."""

from __future__ import annotations

import secrets
import subprocess
from pathlib import Path

from services.kafka_broker import Broker, free_port

USER = "gate"


def certificate(folder: Path) -> tuple[Path, Path, str]:
    """A key store with a certificate of 127.0.0.1 signed by itself, that certificate as PEM, and the store's password.

    By keytool, which comes with the Java that the broker needs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    store, pem, password = folder / "broker.p12", folder / "ca.pem", secrets.token_hex(12)
    common = ["-alias", "broker", "-keystore", str(store), "-storepass", password]
    made = ["-genkeypair", "-keyalg", "EC", "-dname", "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1", "-validity", "2"]
    subprocess.run(["keytool", *made, "-storetype", "PKCS12", *common], check=True, capture_output=True)
    subprocess.run(["keytool", "-exportcert", "-rfc", "-file", str(pem), *common], check=True, capture_output=True)
    return store, pem, password


class SecuredBroker(Broker):
    """tls, users: HOST:PORT of the listeners with TLS alone, and with a user USER and the password beside it.

    authority: PEM file with what a client must trust. Mechanisms are PLAIN and SCRAM-SHA-512.
    """

    def __init__(self, folder: Path):
        ports = {"TLS": free_port(), "USERS": free_port()}
        self.tls, self.users = (f"127.0.0.1:{port}" for port in ports.values())
        self.password = secrets.token_hex(12)
        store, self.authority, password = certificate(folder / "certificates")
        open_ = "PLAINTEXT://127.0.0.1:PORT"
        closed = ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items())
        login = "org.apache.kafka.common.security"
        plain, scram = f"{login}.plain.PlainLoginModule required", f"{login}.scram.ScramLoginModule required"
        more = {
            "listeners": f"{open_},{closed},CONTROLLER://127.0.0.1:CONTROLLER_PORT",
            "advertised.listeners": f"{open_},{closed}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,TLS:SSL,USERS:SASL_SSL",
            "ssl.keystore.location": str(store),
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.password": password,
            "listener.name.users.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
            "listener.name.users.plain.sasl.jaas.config": f'{plain} user_{USER}="{self.password}";',
            "listener.name.users.scram-sha-512.sasl.jaas.config": f"{scram};",
        }
        super().__init__(folder, more, ("--add-scram", f"SCRAM-SHA-512=[name={USER},password={self.password}]"))
