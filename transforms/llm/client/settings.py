"""How an OpenAI-compatible server is reached and how long is waited for it; and where its key is
kept.

Settings travel to workers and into logs, so they hold no key, only its place: an environment
variable or a file. It is read when a client connects.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from evenflow.schemas import server_url

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class InferenceError(Exception):
    """The server, or what was said of it, cannot be used; the message says what to do and never
    holds a key.
    """


class ServerSettingsError(InferenceError):
    """What was said of the server is wrong, whatever the server is: wrong usage."""


@dataclass(frozen=True)
class Key:
    """Where a server's key is: the name of an environment variable, or the path of a file with
    nothing else in it.
    """

    kind: Literal["env", "file"]
    place: str

    def read(self) -> str:
        """The key. Raises InferenceError naming the place, never the key."""
        if self.kind == "env":
            value = os.environ.get(self.place, "").strip()
            if not value:
                raise ServerSettingsError(
                    f"environment variable {self.place} is not set; it is to hold the LLM"
                    " server's key"
                )
        else:
            try:
                value = Path(self.place).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
                raise ServerSettingsError(f"key file {self.place}: {reason}") from None
        # A header can hold nothing else (RFC 9110, 5.5), and the error for it would show the key.
        if not value or not value.isascii() or not value.isprintable():
            raise ServerSettingsError(
                f"the key in {self.place} is empty or has characters that no key has"
            )
        return value


@dataclass(frozen=True)
class ServerSettings:
    """A server, a model, and the limits of asking.

    url: of the server, with or without `/v1`. model: its name there. key: where the key is, None
    for no key. deadline: seconds for a question from its first request to its answer, retries
    included; then its fallback. concurrency: requests under way at once in a process; 32: enough to
    fill vLLM's batches on one GPU. attempts: requests for a question at most; by default the
    deadline ends them first. max_answer_bytes: of an HTTP answer; a longer one is cut and refused.
    max_tokens: of an answer; ours are below 200. temperature: 0 as in the main paper (5.1), so that
    runs can be repeated. patience: seconds without one success, with failures, after which the
    circuit breaker opens; 75: a server that is restarted, or fails for a minute, is waited for.
    cooldown: seconds until an open breaker lets one question through. Raises InferenceError naming
    the setting.
    """

    url: str
    model: str
    key: Key | None = None
    deadline: float = 120.0
    concurrency: int = 32
    attempts: int = 500
    max_answer_bytes: int = 1 << 20
    max_tokens: int = 512
    temperature: float = 0.0
    patience: float = 75.0
    cooldown: float = 30.0

    def __post_init__(self) -> None:
        try:
            parts = server_url.split(self.url)
        except ValueError as error:
            raise ServerSettingsError(f"url: {error}") from None
        path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
        object.__setattr__(self, "url", urlunsplit((parts.scheme, parts.netloc, path, "", "")))
        if not self.model.strip():
            raise ServerSettingsError(
                "model is empty; the name of a model of the server was expected"
            )
        for name in (
            "deadline",
            "concurrency",
            "attempts",
            "max_answer_bytes",
            "max_tokens",
            "patience",
            "cooldown",
        ):
            if not getattr(self, name) > 0:
                raise ServerSettingsError(
                    f"{name} is {getattr(self, name)}; a number above 0 was expected"
                )
        if not 0 <= self.temperature <= 2:
            raise ServerSettingsError(
                f"temperature is {self.temperature}; a number from 0 to 2 was expected"
            )

    @property
    def root(self) -> str:
        """The server's address without the API's version, where vLLM has /health and /version."""
        return self.url.removesuffix("/v1")

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine, so that no proxy stands between."""
        return urlsplit(self.url).hostname in LOOPBACK

    @property
    def secret(self) -> str:
        """The key, empty where there is none: not to be kept or shown. Raises InferenceError."""
        return self.key.read() if self.key else ""

    def headers(self) -> dict[str, str]:
        """Headers of a request, the key in them: not to be kept or shown. Raises InferenceError."""
        # Not compressed: what is read from the server is what is counted against max_answer_bytes.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        return headers | ({"Authorization": f"Bearer {self.key.read()}"} if self.key else {})
