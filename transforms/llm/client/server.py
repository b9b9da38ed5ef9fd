"""Asks a server for its version and its models, and checks that ours is among them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

import httpx

from evenflow.transforms.llm.client.http import error_text
from evenflow.transforms.llm.client.settings import InferenceError, ServerSettings

SECONDS = 10.0  # for each of two small answers
NAMED = 10  # models named in a message


@dataclass(frozen=True)
class ServerInfo:
    """A server's description of itself.

    Attributes:
        models: Names of its models; empty if it lists none.
        version: Its version; None if it gives none.
    """

    models: tuple[str, ...]
    version: str | None


def refused_key(settings: ServerSettings) -> str:
    """Say that a server refuses the key, or requests without one.

    Args:
        settings: The server.

    Returns:
        The beginning of a sentence.
    """
    where = f"the key in {settings.key.place}" if settings.key else "requests without a key"
    return f"{settings.shown}: the server refuses {where}"


def describe(settings: ServerSettings) -> ServerInfo:
    """Asks a server for its models and version.

    Args:
        settings: The server.

    Returns:
        The description.

    Raises:
        InferenceError: The server is not there, refuses the key, has another protocol, or lacks the
            model.
    """
    with httpx.Client(
        headers=settings.headers(), timeout=SECONDS, trust_env=not settings.is_local
    ) as client:
        try:
            listed = client.get(f"{settings.url}/models")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = str(error) or type(error).__name__
            raise InferenceError(
                f"{settings.shown}: no server answers ({reason}); is it started, the address right?"
            ) from error
        if listed.status_code in (401, 403):
            raise InferenceError(f"{refused_key(settings)} (HTTP {listed.status_code})")
        if listed.status_code not in (200, 404, 405, 501):
            raise InferenceError(
                f"{settings.shown}: HTTP {listed.status_code}:"
                f" {error_text(listed.content, settings.secret)}"
            )
        models = _models(listed, settings.secret) if listed.status_code == 200 else ()
        if models and settings.model not in models:
            near = difflib.get_close_matches(settings.model, models, 1)
            hint = (
                f"did you mean {near[0]!r}?"
                if near
                else f"it has {', '.join(map(repr, models[:NAMED]))}"
            )
            raise InferenceError(f"{settings.shown}: no model {settings.model!r}; {hint}")
        return ServerInfo(models, _version(client, settings))


def _models(answer: httpx.Response, secret: str) -> tuple[str, ...]:
    """The names in a list of models; raises InferenceError if it is no such list."""
    try:
        return tuple(str(each["id"]) for each in answer.json()["data"])
    except (ValueError, RecursionError, LookupError, TypeError):
        where = answer.request.url
        raise InferenceError(
            f"{where}: no list of models, so no OpenAI-compatible server:"
            f" {error_text(answer.content, secret)}"
        ) from None


def _version(client: httpx.Client, settings: ServerSettings) -> str | None:
    """The version: vLLM gives it at /version, others in a header."""
    try:
        answer = client.get(f"{settings.root}/version")
        data: Any = answer.json() if answer.status_code == 200 else {}
    except (httpx.HTTPError, ValueError, RecursionError):
        return None
    version = data.get("version") if isinstance(data, dict) else None
    return version[:100] if isinstance(version, str) else answer.headers.get("server")
