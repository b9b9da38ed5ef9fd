"""Places of secrets: settings hold an environment variable or a file, never a secret itself.

An address of a webhook is often a secret too, and a command may hold one. Either may stand
somewhere else. Plain ones are masked in what a run writes: see `MASKED`.

The security settings of Kafka are checked when the settings file is read, whatever the command is.
Otherwise a secret in plain text would appear in every output that shows the settings. No message
shows the value that was given in place of a secret.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import (
    BeforeValidator,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    WrapSerializer,
)

from evenflow.schemas.errors import UsageError
from evenflow.schemas.guards import is_list, is_mapping
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
MASKED: Final = {"masked": True}  # the context for `model_dump` of what is written or shown
MASK = "***"
KINDS = "{env: NAME} or {file: PATH}"


class SecretError(UsageError):
    """A secret that cannot be read; the message names its place, never its value."""


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


def mask_address(url: str) -> str:
    """Hide all of an address that comes after the server.

    Returns:
        Scheme, host and port. What follows is `/***`, if anything does.
    """
    parts = urlsplit(url)
    rest = parts.path.strip("/") or parts.query or parts.fragment
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{f'/{MASK}' if rest else ''}"


def mask_command(words: list[Any]) -> list[Any]:
    """Hide the arguments of a command. The places of secrets stay, as they are none."""
    return [words[0], *(MASK if isinstance(each, str) else each for each in words[1:])]


def without(text: str, values: Iterable[str]) -> str:
    """Hide values that a text repeats: what a command printed, or a server answered.

    Args:
        values: What it must not show.
    """
    for each in filter(None, values):
        text = text.replace(each, MASK)
    return text


def read_word(value: str | dict[Any, str]) -> str:
    """Read a value that stands in the configuration or somewhere else.

    Raises:
        SecretError: It cannot be read.
    """
    return value if isinstance(value, str) else read_secret(value)


def read_address(value: str | dict[Any, str]) -> str:
    """Read the address of a server.

    One that stands somewhere else may have a query.

    Raises:
        SecretError: It cannot be read, or is no address. The message does not show it.
    """
    if isinstance(value, str):
        return value
    found = read_secret(value).strip()
    try:
        split_address(found.partition("?")[0])
        if not (found.isascii() and found.isprintable()) or " " in found or "#" in found:
            raise ValueError("has characters that no address may have")
    except ValueError as error:
        raise SecretError(f"the address that {value} gives {error}") from None
    return found


def _check_address(value: Any) -> Any:
    """Refuse what is neither an address nor the place of one."""
    if secret_place(value) is not None:
        return value
    if not isinstance(value, str):
        refuse([Problem((), f"an address, {KINDS} was expected")])
    try:
        split_address(value)
    except ValueError as error:
        refuse([Problem((), str(error))])
    return value


def _check_command(value: Any) -> Any:
    """Refuse what is not a list of words or their places."""
    if not (is_list(value) and value and isinstance(value[0], str)):
        refuse([Problem((), "a list was expected: a program, and its arguments")])
    if not all(isinstance(each, str) or secret_place(each) is not None for each in value):
        refuse([Problem((), f"each argument is text, {KINDS}")])
    return value


def _or_none(check: Callable[[Any], Any]) -> BeforeValidator:
    """A check of a key that may be null."""
    return BeforeValidator(lambda value: None if value is None else check(value))


def _masked(mask: Callable[[Any], Any]) -> WrapSerializer:
    """Mask a plain value where the context asks for it."""

    def write(value: Any, plain: SerializerFunctionWrapHandler, info: SerializationInfo) -> Any:
        hidden = info.context == MASKED and isinstance(value, str | list)
        return mask(value) if hidden else plain(value)

    return WrapSerializer(write)


Place = dict[Literal["env", "file"], str]
SecretPlace = Annotated[Place | None, BeforeValidator(check_place)]
Address = Annotated[str | Place, BeforeValidator(_check_address), _masked(mask_address)]
AddressOrNone = Annotated[str | Place | None, _or_none(_check_address), _masked(mask_address)]
CommandOrNone = Annotated[list[str | Place] | None, _or_none(_check_command), _masked(mask_command)]


def split_address(url: str) -> SplitResult:
    """Split the address of a server into its parts.

    Args:
        url: Address with scheme, host and, if wanted, port and path.

    Raises:
        ValueError: The address cannot be used. The message says what was expected and shows nothing
            of the address, because it may be a secret.
    """
    try:
        parts = urlsplit(url.strip())
        usable = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        )
    except ValueError:
        usable, parts = False, urlsplit("")
    if "@" in url or "?" in url or "#" in url:
        raise ValueError(
            "holds a user, a password or a query; give the key by an environment variable or a file"
        )
    if not usable:
        raise ValueError(
            "that is no address of a server; one like http://127.0.0.1:8000/v1 was expected"
        )
    return parts
