"""Sends JSON by HTTP POST to an address that a user named."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, NamedTuple

from evenflow.schemas.secrets import Place, read_address, read_secret, without

TAIL = 4096  # bytes of an answer that are kept


class PostResult(NamedTuple):
    """How it ended."""

    ok: bool
    message: str
    body: str = ""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for a failure: it would make a GET of a POST."""

    def redirect_request(self, *args: Any, **more: Any) -> None:
        """Return nothing, so that the redirect is an error."""


_OPENER = urllib.request.build_opener(_NoRedirects)


class Sender:
    """Sends messages to one address.

    Args:
        key: Where the bearer token is; None: none is sent.

    Raises:
        SecretError: The address or the token cannot be read.
    """

    def __init__(self, url: str | Place, timeout: float, key: Place | None = None):
        self._url, self._timeout = read_address({**url} if isinstance(url, dict) else url), timeout
        self._key = None if key is None else read_secret({**key}).strip()

    def send(self, message: Mapping[str, Any], identity: str) -> PostResult:
        """Send a message.

        Args:
            identity: What it has in common with its repetitions, so that a server knows them.

        Returns:
            The answer; a status from 300 on is a failure.
        """
        body = json.dumps(message).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "evenflow",
            "Idempotency-Key": identity,
        }
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        answer = _post(self._url, body, headers, self._timeout)
        return answer._replace(body=without(answer.body, [self._url, self._key or ""]))


def _post(url: str, body: bytes, headers: dict[str, str], timeout: float) -> PostResult:
    """Send one request."""
    request = urllib.request.Request(url, body, headers, method="POST")
    try:
        with _OPENER.open(request, timeout=timeout) as answer:
            return PostResult(True, f"status {answer.status}", _text(answer))
    except urllib.error.HTTPError as error:
        with error:
            return PostResult(False, f"status {error.code}", _text(error))
    except (OSError, HTTPException) as error:
        return PostResult(False, str(getattr(error, "reason", error)))
    except ValueError:  # whose message would show the header, and so a key
        return PostResult(False, "a header has characters that no header may have")


def _text(answer: Any) -> str:
    return answer.read(TAIL).decode("utf-8", "replace")
