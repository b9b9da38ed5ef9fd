"""The address of a server, and what is wrong with one that cannot be used."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from evenflow.schemas.messages import Problem, refuse


def split(url: str) -> SplitResult:
    """Split the address of a server into its parts.

    Args:
        url: Address with scheme, host and, if wanted, port and path.

    Returns:
        The parts of the address.

    Raises:
        ValueError: The address cannot be used. The message says what was expected and never shows
            a user or a password.
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
            f"{url!r} is no address of a server; one like http://127.0.0.1:8000/v1 was expected"
        )
    return parts


def check(url: str | None) -> str | None:
    """Validate a pydantic field that holds the address of a server, or nothing.

    Args:
        url: Value of the field.

    Returns:
        The value, unchanged.

    Raises:
        PydanticCustomError: The address cannot be used.
    """
    if url is not None:
        try:
            split(url)
        except ValueError as error:
            refuse([Problem((), str(error))])
    return url
