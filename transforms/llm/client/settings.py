"""How an OpenAI-compatible server is reached, how long its answers may take, and where its key is.

Settings travel to workers and into logs. So they hold no key, only its place: an environment
variable or a file. The key is read when a client connects.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from evenflow.schemas.errors import USAGE, EvenflowError
from evenflow.schemas.secrets import mask_address, split_address

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class InferenceError(EvenflowError):
    """The server or its settings cannot be used; the message says what to do, without a key."""


class ServerSettingsError(InferenceError):
    """The settings are wrong for any server; this counts as wrong usage."""

    status = USAGE


@dataclass(frozen=True)
class Key:
    """The place of a server's key.

    Attributes:
        kind: "env" for an environment variable, "file" for a file.
        place: The variable's name, or the path of a file that holds only the key.
    """

    kind: Literal["env", "file"]
    place: str

    def read(self) -> str:
        """The key; raises ServerSettingsError, which names the place and never the key."""
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
        # A header can hold nothing else (RFC 9110, 5.5), and its error message would show the key.
        if not value or not value.isascii() or not value.isprintable():
            raise ServerSettingsError(
                f"the key in {self.place} is empty or has characters that no key has"
            )
        return value


@dataclass(frozen=True)
class ServerSettings:
    """A server, a model, and the limits of asking.

    Attributes:
        url: The server's address, with or without `/v1`.
        model: The model's name there.
        key: The place of the key; None for no key.
        deadline: Seconds for a question from its first request to its answer, with retries; after
            that it gets a fallback.
        concurrency: Concurrent requests of a process; 32 fill vLLM's batches on one GPU.
        attempts: The most requests for a question; by default the deadline ends them first.
        max_answer_bytes: The longest HTTP response; a longer one is cut and refused.
        max_tokens: The longest answer in tokens; ours are below 200.
        temperature: 0 as in the main paper (5.1), so that runs can be repeated.
        patience: Seconds with failures and without a success after which the circuit breaker opens;
            75 bridge a server's restart, or a minute of failures. At most the deadline counts.
        cooldown: Seconds until an open breaker lets one question through. At most the deadline
            counts.

    Raises:
        ServerSettingsError: The address is wrong.
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
            parts = split_address(self.url)
        except ValueError as error:
            raise ServerSettingsError(f"url: {error}") from None
        path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
        object.__setattr__(self, "url", urlunsplit((parts.scheme, parts.netloc, path, "", "")))

    @property
    def root(self) -> str:
        """The server's address without the API's version, where vLLM has /health and /version."""
        return self.url.removesuffix("/v1")

    @property
    def shown(self) -> str:
        """The server's address for messages: what follows the server may be a secret."""
        return mask_address(self.root)

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine, so that no proxy is used."""
        return urlsplit(self.url).hostname in LOOPBACK

    @property
    def secret(self) -> str:
        """The key, empty without one; do not keep or show it. Raises ServerSettingsError."""
        return self.key.read() if self.key else ""

    def headers(self) -> dict[str, str]:
        """Headers of a request with the key; do not keep or show them. Raises InferenceError."""
        # Not compressed: max_answer_bytes counts the bytes that the server sends.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        return headers | ({"Authorization": f"Bearer {self.key.read()}"} if self.key else {})
