"""How to reach a Kafka cluster: addresses, security, and where its secrets are.

Settings travel to workers and into logs, so they hold no secret. They say where it is: {env: NAME}
or {file: PATH}. It is read when a client connects.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenflow.schemas.errors import UsageError
from evenflow.schemas.secrets import (
    SECRETS,
    SecretError,
    read_secret,
    secret_place,
    security_problems,
)


class KafkaSettingsError(UsageError):
    """A setting for Kafka is wrong; the message names it, never a secret's value."""


@dataclass(frozen=True)
class Secret:
    """Where a secret is."""

    kind: str
    place: str

    def read(self) -> str:
        """Read the secret."""
        try:
            return read_secret({self.kind: self.place})
        except SecretError as error:
            raise KafkaSettingsError(str(error)) from None


@dataclass(frozen=True)
class KafkaSettings:
    """A cluster's addresses and security settings.

    Attributes:
        bootstrap: Bootstrap servers as HOST:PORT, separated by commas.
        security: kafka-python's security settings by name. Values of SECRETS are {"env": NAME} or
            {"file": PATH}.
        client_id: The name that clients give to the broker.

    Raises:
        KafkaSettingsError: A setting is wrong.
    """

    bootstrap: str
    security: Mapping[str, Any] = field(default_factory=dict)
    client_id: str = "evenflow"

    def __post_init__(self) -> None:
        if not all(_is_address(each) for each in self.servers):
            raise KafkaSettingsError(
                f"bootstrap is {self.bootstrap!r}; HOST:PORT was expected, several separated by"
                " commas"
            )
        given = {
            key: {each.kind: each.place} if isinstance(each, Secret) else each
            for key, each in self.security.items()
        }
        if found := security_problems(given):
            raise KafkaSettingsError("; ".join(map(str, found)))
        secrets = {
            key: Secret(*where) if key in SECRETS and (where := secret_place(each)) else each
            for key, each in given.items()
        }
        object.__setattr__(self, "security", secrets)

    @property
    def servers(self) -> list[str]:
        """The bootstrap servers as a list."""
        return [each.strip() for each in self.bootstrap.split(",")]

    def client(self) -> dict[str, Any]:
        """Make kafka-python's settings for any client. They hold secrets: do not keep or show them.

        Returns:
            The settings by name.

        Raises:
            KafkaSettingsError: A secret or a file of TLS cannot be read or used.
        """
        values = {
            key: value.read() if isinstance(value, Secret) else value
            for key, value in self.security.items()
        }
        _see_files(values)
        return {"bootstrap_servers": self.servers, "client_id": self.client_id, **values}


def _see_files(values: Mapping[str, Any]) -> None:
    """Check that the TLS files exist and the key opens, as the client will open it.

    kafka-python does not say what is wrong with them, keeps trying, and asks for a key's password
    on the terminal.
    """
    if "SSL" not in values.get("security_protocol", ""):
        return
    for key in ("ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_crlfile"):
        try:
            if values.get(key):
                Path(values[key]).open("rb").close()
        except OSError as error:
            raise KafkaSettingsError(f"{key}: {values[key]}: {error.strerror}") from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if values.get("ssl_cafile"):
            context.load_verify_locations(values["ssl_cafile"])
    except ssl.SSLError as error:
        raise KafkaSettingsError(
            f"ssl_cafile: {values['ssl_cafile']}: no certificates in PEM form ({error})"
        ) from None
    certificate, key = values.get("ssl_certfile"), values.get("ssl_keyfile")
    if key and not certificate:
        raise KafkaSettingsError(
            "ssl_keyfile is given without ssl_certfile, the certificate that it belongs to"
        )
    try:
        if certificate:  # the password is never None, because OpenSSL would ask for it
            context.load_cert_chain(certificate, key, password=values.get("ssl_password") or "")
    except (ssl.SSLError, ValueError) as error:
        raise KafkaSettingsError(
            f"ssl_certfile and ssl_keyfile: {certificate} and {key or 'the key in it'} cannot be"
            f" used ({error}): is ssl_password right, and the key that of the certificate?"
        ) from None


def _is_address(text: str) -> bool:
    """Return whether a text is HOST:PORT."""
    host, _, port = text.rpartition(":")
    return bool(host) and port.isascii() and port.isdigit() and 0 < int(port) < 65536
