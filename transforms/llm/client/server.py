"""Asks a server for its version and its models, and checks that ours is among them."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import Any

from evenflow.transforms.llm.client.http import RequestError, error_text, get
from evenflow.transforms.llm.client.settings import InferenceError, ServerSettings

SECONDS = 10.0  # for each of two small answers
NAMED = 10  # models named in a message


@dataclass(frozen=True)
class ServerInfo:
    """A server's description of itself."""

    models: tuple[str, ...]
    version: str | None


def refused_key(settings: ServerSettings) -> str:
    """Say that a server refuses the key, or requests without one."""
    where = f"the key in {settings.key.place}" if settings.key else "requests without a key"
    return f"{settings.shown}: the server refuses {where}"


def describe(settings: ServerSettings) -> ServerInfo:
    """Asks a server for its models and version.

    Raises:
        InferenceError: The server is not there, refuses the key, has another protocol, or lacks the
            model.
    """
    try:
        status, _, body = get(settings, f"{settings.url}/models", SECONDS)
    except RequestError as error:
        raise InferenceError(
            f"{settings.shown}: no server answers ({error.detail}); is it started, the address"
            " right?"
        ) from error
    if status in (401, 403):
        raise InferenceError(f"{refused_key(settings)} (HTTP {status})")
    if status not in (200, 404, 405, 501):
        raise InferenceError(
            f"{settings.shown}: HTTP {status}: {error_text(body, settings.secret)}"
        )
    models = _models(settings, body) if status == 200 else ()
    if models and settings.model not in models:
        near = difflib.get_close_matches(settings.model, models, 1)
        hint = (
            f"did you mean {near[0]!r}?"
            if near
            else f"it has {', '.join(map(repr, models[:NAMED]))}"
        )
        raise InferenceError(f"{settings.shown}: no model {settings.model!r}; {hint}")
    return ServerInfo(models, _version(settings))


def _models(settings: ServerSettings, body: bytes) -> tuple[str, ...]:
    """The names in a list of models; raises InferenceError if it is no such list."""
    try:
        return tuple(str(each["id"]) for each in json.loads(body)["data"])
    except (ValueError, RecursionError, LookupError, TypeError):
        raise InferenceError(
            f"{settings.shown}: no list of models, so no OpenAI-compatible server:"
            f" {error_text(body, settings.secret)}"
        ) from None


def _version(settings: ServerSettings) -> str | None:
    """The version: vLLM gives it at /version, others in a header."""
    try:
        status, headers, body = get(settings, f"{settings.root}/version", SECONDS)
        data: Any = json.loads(body) if status == 200 else {}
    except (RequestError, ValueError, RecursionError):
        return None
    version = data.get("version") if isinstance(data, dict) else headers.get("server")
    return version[:100] if isinstance(version, str) else headers.get("server")
