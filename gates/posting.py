"""Sends an HTTP POST to an address that a user named."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, NamedTuple

TAIL = 4096  # bytes of an answer that are kept


class Answer(NamedTuple):
    """How it ended.

    Attributes:
        ok: Whether the server took it.
        message: Its status, or why there is none.
        body: The beginning of what it said. It is data and is not escaped.
    """

    ok: bool
    message: str
    body: str = ""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for a failure: it would make a GET of a POST."""

    def redirect_request(self, *args: Any, **more: Any) -> None:
        """Return nothing, so that the redirect is an error."""


_OPENER = urllib.request.build_opener(_NoRedirects)


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Answer:
    """Send JSON.

    Args:
        url: The address.
        body: What is sent.
        headers: More headers.
        timeout: Seconds for an answer.

    Returns:
        The answer; a status from 300 on is a failure.
    """
    own = {"Content-Type": "application/json", "User-Agent": "evenflow", **headers}
    request = urllib.request.Request(url, body, own, method="POST")
    try:
        with _OPENER.open(request, timeout=timeout) as answer:
            return Answer(True, f"status {answer.status}", _text(answer))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(False, f"status {error.code}", _text(error))
    except (OSError, HTTPException) as error:
        return Answer(False, str(getattr(error, "reason", error)))
    except ValueError:  # whose message would show the header, and so a key
        return Answer(False, "a header has characters that no header may have")


def _text(answer: Any) -> str:
    return answer.read(TAIL).decode("utf-8", "replace")
