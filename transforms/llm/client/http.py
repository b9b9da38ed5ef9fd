"""One HTTP request to an OpenAI-compatible server: sent, read within bounds, failures classified.

Nothing that a server sends is trusted: not its length, not its types, and not its text, which is
shown cut.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import httpx

from evenflow.transforms.llm.client.settings import ServerSettings

CONNECT_SECONDS = 10.0  # for a connection; a server that needs longer to wake up answers with 503
LEAST_SHOWN = 4  # characters of a key: fewer reveal nothing, and may be part of any word
SHOWN = 200  # characters of a server's text in a message

CHATS = "/chat/completions"  # what is asked of a server, below /v1

# Why a question got its fallback. Ledgers hold these texts, so they must not change.
UNREACHABLE, CUT, TIMEOUT = "unreachable", "connection cut", "timeout"
REFUSED, NO_MODEL, REJECTED = "key refused", "no such model", "request rejected"
OVERLOADED, SERVER_ERROR = "overloaded", "server error"
TOO_LONG = "too long for the model"
OVERSIZED, NO_COMPLETION = "answer over the limit", "no completion"
EMPTY, TRUNCATED, NOT_JSON, OFF_SCHEMA = (
    "empty answer",
    "answer cut off",
    "answer not JSON",
    "answer outside its schema",
)
BREAKER_OPEN = "server left alone"

# Messages that a prompt does not fit, of vLLM, llama.cpp, TGI and OpenAI, in this order.
NO_ROOM = re.compile(
    r"context (?:length|size|window)|context_length_exceeded|max_model_len|maximum .{0,20}tokens",
    re.IGNORECASE,
)


@dataclass
class RequestError(Exception):
    """A request without an answer.

    Attributes:
        retry: Whether another request may help.
        breaks: Whether the failure counts against the server.
        after: Seconds that the server asked to wait, or None.
        status: HTTP status of the response, or None.
    """

    reason: str
    detail: str
    retry: bool = False
    breaks: bool = False
    after: float | None = None
    status: int | None = None


@dataclass(frozen=True)
class Completion:
    """A model's answer."""

    text: str
    is_cut: bool
    tokens: int


def open_places(settings: ServerSettings) -> list[httpx.AsyncClient]:
    """A client with one connection for each concurrent request.

    In the pool of a single client every request searches all connections, which cost more than the
    rest of a question.

    Returns:
        As many clients as `settings.concurrency`.

    Raises:
        InferenceError: The key is missing.
    """
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
    timeout = httpx.Timeout(settings.deadline, connect=min(CONNECT_SECONDS, settings.deadline))
    headers = settings.headers() | {"Content-Type": "application/json"}
    return [
        httpx.AsyncClient(
            headers=headers,
            limits=limits,
            timeout=timeout,
            verify=_certificates(),
            trust_env=not settings.is_local,
        )
        for _ in range(settings.concurrency)
    ]


@cache
def _certificates() -> ssl.SSLContext:
    """The trusted certificates, read once a process: it takes tens of milliseconds."""
    return httpx.create_ssl_context()


async def complete(
    client: httpx.AsyncClient,
    settings: ServerSettings,
    payload: Mapping[str, Any],
    seconds: float,
) -> Completion:
    """The answer to a chat.

    Raises:
        RequestError: There is no answer.
    """
    # ASCII: a lone surrogate travels as its escape.
    content = json.dumps(payload, ensure_ascii=True).encode("ascii")
    secret = client.headers.get("Authorization", "").removeprefix("Bearer ")
    try:
        async with asyncio.timeout(seconds):
            status, headers, body = await _send(
                client, "POST", f"{settings.url}{CHATS}", content, settings.max_answer_bytes
            )
    except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout):
        raise RequestError(
            TIMEOUT, f"no answer within {seconds:.0f} s", retry=True, breaks=True
        ) from None
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
        raise RequestError(
            UNREACHABLE, str(error) or "no connection", retry=True, breaks=True
        ) from error
    except httpx.TransportError as error:
        raise RequestError(
            CUT, str(error) or type(error).__name__, retry=True, breaks=True
        ) from error
    if status != 200:
        raise request_error(status, headers, body, secret)
    if len(body) > settings.max_answer_bytes:
        raise RequestError(OVERSIZED, f"more than {settings.max_answer_bytes} bytes")
    return parse_completion(body, secret)


async def _send(
    client: httpx.AsyncClient, method: str, url: str, content: bytes | None, limit: int
) -> tuple[int, httpx.Headers, bytes]:
    """Status, headers and body; the body is read until it exceeds the limit at the latest."""
    async with client.stream(method, url, content=content) as response:
        parts: list[bytes] = []
        size = 0
        async for part in response.aiter_raw():
            parts.append(part)
            size += len(part)
            if size > limit:
                break
        return response.status_code, response.headers, b"".join(parts)


def get(settings: ServerSettings, url: str, seconds: float) -> tuple[int, httpx.Headers, bytes]:
    """Status, headers and body of a page, within the bounds of a chat; call it outside a loop.

    Raises:
        RequestError: There is no whole answer in time, or it is over the limit.
        InferenceError: The key is missing.
    """
    return asyncio.run(_get(settings, url, min(seconds, settings.deadline)))


async def _get(
    settings: ServerSettings, url: str, seconds: float
) -> tuple[int, httpx.Headers, bytes]:
    """As `get`. The body is not unpacked: the limit counts the bytes that are sent."""
    [client] = open_places(replace(settings, concurrency=1))
    limit = settings.max_answer_bytes
    async with client:
        try:
            async with asyncio.timeout(seconds):
                status, headers, body = await _send(client, "GET", url, None, limit)
        except (TimeoutError, httpx.TimeoutException):
            raise RequestError(TIMEOUT, f"no whole answer within {seconds:.0f} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise RequestError(UNREACHABLE, str(error) or type(error).__name__) from error
    if len(body) > limit:
        raise RequestError(OVERSIZED, f"an answer of more than {limit} bytes")
    return status, headers, body


def request_error(
    status: int, headers: Mapping[str, str], body: bytes, secret: str = ""
) -> RequestError:
    """Classifies a response that is no answer."""
    detail = f"HTTP {status}: {error_text(body, secret)}"
    if status in (401, 403):
        return RequestError(REFUSED, detail, breaks=True, status=status)
    if status == 404:
        return RequestError(NO_MODEL, detail, breaks=True, status=status)
    if status == 413 or (status in (400, 422) and NO_ROOM.search(body.decode("utf-8", "replace"))):
        return RequestError(TOO_LONG, detail, status=status)
    after = retry_after(headers.get("retry-after"), time.time())
    if status in (429, 503):
        return RequestError(OVERLOADED, detail, retry=True, breaks=True, after=after, status=status)
    if status in (408, 425, 504):
        return RequestError(TIMEOUT, detail, retry=True, breaks=True, after=after, status=status)
    if status >= 500 and status != 501:
        return RequestError(
            SERVER_ERROR, detail, retry=True, breaks=True, after=after, status=status
        )
    return RequestError(REJECTED, detail, status=status)


def retry_after(value: str | None, now: float) -> float | None:
    """Seconds to wait by a Retry-After header (RFC 9110, 10.2.3).

    `value`: The header: seconds or a date; None without one.
    """
    if value is None:
        return None
    if value.strip().isascii() and value.strip().isdigit():
        return float(value.strip()[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def parse_completion(body: bytes, secret: str = "") -> Completion:
    """The model's answer in a server's response."""
    try:
        data = json.loads(body)
        choice = data["choices"][0]
        text = choice["message"]["content"]
        usage = data.get("usage")
        total = usage.get("total_tokens") if isinstance(usage, dict) else 0
        ended = choice.get("finish_reason")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise RequestError(
            NO_COMPLETION, f"HTTP 200: {error_text(body, secret)}", retry=True, breaks=True
        ) from None
    if text is not None and not isinstance(text, str):
        raise RequestError(
            NO_COMPLETION, f"HTTP 200: content is a {type(text).__name__}", retry=True, breaks=True
        )
    tokens = (
        total
        if isinstance(total, int) and not isinstance(total, bool) and 0 <= total < 1 << 40
        else 0
    )
    return Completion(text or "", ended == "length", tokens)


def redact(text: str, secret: str) -> str:
    """A text without a secret, and without any beginning of it of at least LEAST_SHOWN characters.

    Some servers repeat a part of the key.
    """
    for size in range(len(secret), LEAST_SHOWN - 1, -1):
        text = text.replace(secret[:size], "…")
    return text


def error_text(body: bytes, secret: str = "") -> str:
    """The server's message in an error response, on one line, cut.

    It knows the forms of vLLM and OpenAI; any other body is shown as it stands. The secret is
    removed before the text is cut, since a part of it could not be recognised after the cut.

    Returns at most SHOWN characters.
    """
    text = body[:20_000].decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        inner = data.get("error", data)
        message = inner.get("message", inner.get("detail")) if isinstance(inner, dict) else inner
        text = message if isinstance(message, str) else text
    line = " ".join(redact(text, secret).split())
    return line if len(line) <= SHOWN else line[:SHOWN] + "…"
