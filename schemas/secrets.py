"""Places of secrets: settings hold an environment variable or a file, never a secret itself.

The security settings of Kafka are checked when the settings file is read, whatever the command is.
Otherwise a secret in plain text would appear in every output that shows the settings. No message
shows the value that was given in place of a secret.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenflow.schemas.errors import USAGE, EvenflowError
from evenflow.schemas.guards import is_mapping
from evenflow.schemas.messages import Problem, nearest, refuse

# Security settings of kafka-python whose values are secrets
SECRETS = frozenset({"sasl_plain_password", "ssl_password"})
SECURITY = SECRETS | {
    *("security_protocol", "sasl_mechanism", "sasl_plain_username"),
    *("sasl_kerberos_name", "sasl_kerberos_service_name", "sasl_kerberos_domain_name"),
    *("ssl_check_hostname", "ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_crlfile"),
    "ssl_ciphers",
}
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PLACE = "{env: NAME} or {file: PATH} was expected; a secret is not written into settings"


class SecretError(EvenflowError, ValueError):
    """A secret that cannot be read; the message names its place, never its value."""

    status = USAGE


def read_secret(place: Mapping[str, str]) -> str:
    """Read a secret.

    Args:
        place: {"env": NAME} or {"file": PATH}. A line break at the file's end is left out.

    Raises:
        SecretError: It cannot be read.
    """
    [(kind, where)] = place.items()
    if kind == "env":
        value = os.environ.get(where)
        if value is None:
            raise SecretError(f"environment variable {where} is not set")
        return value
    try:
        return Path(where).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise SecretError(f"secret file {where}: {reason}") from None


def secret_place(value: Any) -> tuple[str, str] | None:
    """Read the place of a secret.

    Args:
        value: {"env": NAME} or {"file": PATH}.

    Returns:
        "env" or "file", and the name or path. None if the value is not the place of a secret.
    """
    if is_mapping(value) and len(value) == 1:
        kind, where = next(iter(value.items()))
        if kind in ("env", "file") and isinstance(where, str) and where:
            return kind, where
    return None


def check_place(value: Any) -> Any:
    """Validate a pydantic field that holds the place of a secret, or nothing."""
    if value is not None and secret_place(value) is None:
        refuse([Problem((), PLACE)])
    return value


def security_problems(security: Any) -> list[Problem]:
    """Check the security settings for kafka-python.

    Args:
        security: Settings by their names in kafka-python.

    Returns:
        The problems. No problem shows a value.
    """
    if not is_mapping(security):
        return [Problem((), "a section of keys was expected")]
    found: list[Problem] = []
    for key, value in security.items():
        if key not in SECURITY:
            near = nearest(str(key), sorted(SECURITY))
            hint = f"did you mean {near!r}?" if near else f"known are {', '.join(sorted(SECURITY))}"
            found.append(Problem((str(key),) if near else (), f"unknown security setting; {hint}"))
        elif key in SECRETS:
            found += [Problem((key,), PLACE)] if secret_place(value) is None else []
        elif not isinstance(value, str | bool | None):
            found.append(Problem((key,), "text was expected"))
    protocol = security.get("security_protocol", "PLAINTEXT")
    if protocol not in PROTOCOLS:
        found.append(Problem(("security_protocol",), f"one of {', '.join(PROTOCOLS)} was expected"))
    return found


def check_security(value: Any) -> Any:
    """Validate a pydantic field that holds security settings without a secret.

    Raises:
        PydanticCustomError: A setting is wrong. The message shows no value.
    """
    refuse(security_problems(value))
    return value
