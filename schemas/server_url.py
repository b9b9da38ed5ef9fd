"""The address of a server, and what is wrong with one that cannot be used."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def split(url: str) -> SplitResult:
    """Split the address of a server into its parts.

    Args:
        url: Address with scheme, host and, if wanted, port and path.

    Returns:
        The parts of the address.

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
