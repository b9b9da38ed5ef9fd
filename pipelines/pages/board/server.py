"""Serves a page on this machine until the process is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn

from evenflow.pipelines.pages.board.connections import BoundedProtocol
from evenflow.schemas.config import ConfigError

GRACE = 5  # seconds for answers under way, when the process is stopped


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
