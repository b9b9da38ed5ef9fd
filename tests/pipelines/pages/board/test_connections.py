"""A page's server closes connections on which no request comes, and stays open to others."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from evenflow.pipelines.pages.board import server

LINES = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a page that is served with short deadlines."""
    monkeypatch.setattr(server, "SECONDS", 0.5)
    monkeypatch.setattr(server, "MOST", 20)
    made: list[server.uvicorn.Server] = []
    kind = server.uvicorn.Server.__init__

    def keep(self: server.uvicorn.Server, config: server.uvicorn.Config) -> None:
        kind(self, config)
        made.append(self)

    monkeypatch.setattr(server.uvicorn.Server, "__init__", keep)
    app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("here"))])
    listener = server.listen("127.0.0.1", 0)
    serving = threading.Thread(target=server.serve, args=(app, listener))
    serving.start()
    yield listener.getsockname()[1]
    made[0].should_exit = True
    serving.join(20)
    assert not serving.is_alive()


def opened(port: int, sent: bytes) -> socket.socket:
    """A connection on which something was sent."""
    found = socket.create_connection(("127.0.0.1", port), timeout=20)
    found.sendall(sent)
    return found


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HT",
        LINES,
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nto",
        LINES + b"\r\nGET / HT",
    ],
    ids=["nothing", "half a line", "half a head", "half a form", "half a second request"],
)
def test_a_request_that_does_not_come_is_not_waited_for(port: int, sent: bytes) -> None:
    with opened(port, sent) as waiting, suppress(ConnectionResetError):
        while waiting.recv(1000):
            pass  # until the server closes it


def test_many_unfinished_requests_keep_nobody_out(port: int) -> None:
    many = [opened(port, LINES) for _ in range(60)]
    with opened(port, LINES + b"Connection: close\r\n\r\n") as asked:
        answer = b"".join(iter(lambda: asked.recv(1000), b""))
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"here")
    for each in many:
        with each, suppress(ConnectionResetError):
            assert each.recv(1000) == b""
