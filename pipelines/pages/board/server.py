"""Serves a page on this machine until the process is stopped."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from evenflow.schemas.config import ConfigError

GRACE = 5  # seconds for answers under way, when the process is stopped
SECONDS = 10.0  # in which a request must have come, with its form; then within twice as many
MOST = 400  # connections: twice the viewers that are told about changes at once
UNFINISHED = (h11.IDLE, h11.SEND_BODY)


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket.

    Args:
        port: The port; 0 for a free one.

    Raises:
        ConfigError: The address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=256)
    except OSError as error:
        raise ConfigError(
            f"--host {host} --port {port}: {error.strerror or error}; give another --port"
        ) from error


def address(host: str, listener: socket.socket) -> str:
    """The address of a page, for a browser."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}/"


def serve(app: Any, listener: socket.socket, stop: Callable[[], None] = lambda: None) -> None:
    """Serve a page until the process is stopped.

    Args:
        stop: Called when a signal comes: viewers who follow a page would wait for ever.
    """

    class Server(uvicorn.Server):
        """A server that tells its viewers when it is stopped."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            """Stop."""
            stop()
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        http=BoundedProtocol,
        ws="none",
        proxy_headers=False,  # a header would name any address as the one that sent a token
        timeout_graceful_shutdown=GRACE,
    )
    Server(config).run(sockets=[listener])


class BoundedProtocol(H11Protocol):
    """A connection that is closed where its request does not come.

    Where there are too many connections, the one that has waited longest for its request makes
    room. So whoever opens many keeps nobody out.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, if there is room."""
        super().connection_made(transport)
        self._born, self._answered, self._seen = time.monotonic(), 0, 0
        if len(self.connections) > MOST:
            others: list[Any] = [each for each in self.connections if each is not self]
            waiting = [each for each in others if each.is_unfinished]
            oldest = min(waiting, key=lambda each: each.born, default=self)
            oldest.transport.close()
        self._timer = self.loop.call_later(SECONDS, self._look)

    @property
    def born(self) -> float:
        """When it was made."""
        return self._born

    @property
    def is_unfinished(self) -> bool:
        """Whether it waits for a request, or for the rest of one."""
        return self.conn.their_state in UNFINISHED

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Note that a request was answered."""
        self._answered += 1
        super().on_response_complete()

    def _look(self) -> None:
        """Close it, if it has waited for the same request since the last look."""
        if self.is_unfinished and self._seen == self._answered:
            self.transport.close()
            return
        self._seen = self._answered if self.is_unfinished else -1
        self._timer = self.loop.call_later(SECONDS, self._look)
