"""Where secrets are: settings hold their places alone, an environment variable or a file, and are
refused with anything else.

What a file of settings says of Kafka is checked when the file is read, whatever the command: a
secret in plain would otherwise stand in every output that tells of its settings. No message shows
what stood in the place of a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenflow.schemas.messages import Problem, nearest, refuse

# What kafka-python takes for security; of these, SECRETS are never given in plain.
SECRETS = frozenset({"sasl_plain_password", "ssl_password"})
SECURITY = SECRETS | {
    "security_protocol",
    "sasl_mechanism",
    "sasl_plain_username",
    "sasl_kerberos_name",
    "sasl_kerberos_service_name",
    "sasl_kerberos_domain_name",
    "ssl_check_hostname",
    "ssl_cafile",
    "ssl_certfile",
    "ssl_keyfile",
    "ssl_crlfile",
    "ssl_ciphers",
}
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PLACE = "{env: NAME} or {file: PATH} was expected; a secret is not written into settings"


def place(value: Any) -> tuple[str, str] | None:
    """env or file, and its name or path; None where a value is no place of a secret."""
    if isinstance(value, Mapping) and len(value) == 1:
        kind, where = next(iter(value.items()))
        if kind in ("env", "file") and isinstance(where, str) and where:
            return kind, where
    return None


def check_place(value: Any) -> Any:
    """For a field of pydantic: nothing, or the place of a secret. Refuses anything else without
    showing it.
    """
    if value is not None and place(value) is None:
        refuse([Problem((), PLACE)])
    return value


def wrong(security: Any) -> list[Problem]:
    """What is wrong with kafka-python's settings for security."""
    if not isinstance(security, Mapping):
        return [Problem((), "a section of keys was expected")]
    found: list[Problem] = []
    for key, value in security.items():
        if key not in SECURITY:
            near = nearest(str(key), sorted(SECURITY))
            said = f"did you mean {near!r}?" if near else f"known are {', '.join(sorted(SECURITY))}"
            found.append(Problem((str(key),) if near else (), f"unknown security setting; {said}"))
        elif key in SECRETS:
            found += [Problem((key,), PLACE)] if place(value) is None else []
        elif not isinstance(value, str | bool | None):
            found.append(Problem((key,), "text was expected"))
    protocol = security.get("security_protocol", "PLAINTEXT")
    if protocol not in PROTOCOLS:
        found.append(Problem(("security_protocol",), f"one of {', '.join(PROTOCOLS)} was expected"))
    return found


def check_security(value: Any) -> Any:
    """For a field of pydantic: settings for security without a secret. Refuses anything else
    without showing it.
    """
    refuse(wrong(value))
    return value
