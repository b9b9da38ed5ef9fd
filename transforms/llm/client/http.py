"""One HTTP request to an OpenAI-compatible server: sent, read within bounds, and its failure told
by a reason.

Nothing that a server sends is trusted: neither its length, nor its types, nor its words, which are
shown cut.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from evenflow.transforms.llm.client.settings import ServerSettings

CONNECT_SECONDS = 10.0  # for a connection; a server that has to wake up for longer says so by 503
LEAST_SHOWN = 4  # characters of a key: fewer tell nothing, and may be part of any word
SHOWN = 200  # characters of a server's words in a message

# Why a question got its fallback. These are counted, and written to ledgers: they keep their words.
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

# How servers say that a prompt does not fit: vLLM, llama.cpp, TGI and OpenAI, in this order.
NO_ROOM = re.compile(
    r"context (?:length|size|window)|context_length_exceeded|max_model_len|maximum .{0,20}tokens",
    re.IGNORECASE,
)


@dataclass
class RequestError(Exception):
    """A request without an answer. reason: one of those above. detail: for a message. retry:
    whether another may help.

    breaks: whether it counts against the server. after: seconds that the server asked to wait.
    status: of the answer.
    """

    reason: str
    detail: str
    retry: bool = False
    breaks: bool = False
    after: float | None = None
    status: int | None = None


@dataclass(frozen=True)
class Completion:
    """A model's answer: its text, whether it was cut off at max_tokens, and the tokens of prompt
    and answer together.
    """

    text: str
    is_cut: bool
    tokens: int


def open_places(settings: ServerSettings) -> list[httpx.AsyncClient]:
    """A client with a connection of its own for each request under way. Raises InferenceError for a
    key that is not there.

    In one client's pool every request looks through all connections, which cost more than all the
    rest of a question.
    """
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
    timeout = httpx.Timeout(settings.deadline, connect=min(CONNECT_SECONDS, settings.deadline))
    headers = settings.headers() | {"Content-Type": "application/json"}
    shared = httpx.create_ssl_context()  # takes tens of milliseconds
    return [
        httpx.AsyncClient(
            headers=headers,
            limits=limits,
            timeout=timeout,
            verify=shared,
            trust_env=not settings.is_local,
        )
        for _ in range(settings.concurrency)
    ]


async def complete(
    client: httpx.AsyncClient, settings: ServerSettings, payload: Mapping[str, Any], seconds: float
) -> Completion:
    """The answer to a chat, within so many seconds. Raises Failure."""
    # ASCII: a lone surrogate travels as its escape.
    content = json.dumps(payload, ensure_ascii=True).encode("ascii")
    secret = client.headers.get("Authorization", "").removeprefix("Bearer ")
    try:
        async with asyncio.timeout(seconds):
            status, headers, body = await _post(
                client, f"{settings.url}/chat/completions", content, settings.max_answer_bytes
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
        raise failure(status, headers, body, secret)
    if len(body) > settings.max_answer_bytes:
        raise RequestError(OVERSIZED, f"more than {settings.max_answer_bytes} bytes")
    return completion(body, secret)


async def _post(
    client: httpx.AsyncClient, url: str, content: bytes, limit: int
) -> tuple[int, httpx.Headers, bytes]:
    """Status, headers and body, of which no more is read than shows that it is over the limit."""
    async with client.stream("POST", url, content=content) as response:
        parts: list[bytes] = []
        size = 0
        async for part in response.aiter_raw():
            parts.append(part)
            size += len(part)
            if size > limit:
                break
        return response.status_code, response.headers, b"".join(parts)


def failure(status: int, headers: Mapping[str, str], body: bytes, secret: str = "") -> RequestError:
    """What an answer that is none means, by its status and words, the secret left out of them."""
    detail = f"HTTP {status}: {words(body, secret)}"
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
    """Seconds to wait from a Retry-After header, which has seconds or a date (RFC 9110, 10.2.3);
    None for none or nonsense.

    now: seconds since 1970.
    """
    if value is None:
        return None
    if value.strip().isascii() and value.strip().isdigit():
        return float(value.strip()[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def completion(body: bytes, secret: str = "") -> Completion:
    """The model's answer in a server's. Raises Failure, which does not show the secret, if it is no
    chat completion.
    """
    try:
        data = json.loads(body)
        choice = data["choices"][0]
        text = choice["message"]["content"]
        usage = data.get("usage")
        total = usage.get("total_tokens") if isinstance(usage, dict) else 0
        ended = choice.get("finish_reason")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise RequestError(
            NO_COMPLETION, f"HTTP 200: {words(body, secret)}", retry=True, breaks=True
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


def redacted(text: str, secret: str) -> str:
    """A text without a secret, and without any beginning of it of LEAST_SHOWN characters: some
    servers say a part back.
    """
    for size in range(len(secret), LEAST_SHOWN - 1, -1):
        text = text.replace(secret[:size], "…")
    return text


def words(body: bytes, secret: str = "") -> str:
    """What a server says of an error, on one line, cut; in the forms of vLLM and OpenAI, or as it
    stands.

    The secret is taken out before the text is cut: what is left of it after a cut would not be
    known any more.
    """
    text = body[:20_000].decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        inner = data.get("error", data)
        said = inner.get("message", inner.get("detail")) if isinstance(inner, dict) else inner
        text = said if isinstance(said, str) else text
    line = " ".join(redacted(text, secret).split())
    return line if len(line) <= SHOWN else line[:SHOWN] + "…"
