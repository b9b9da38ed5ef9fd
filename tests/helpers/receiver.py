"""A server that gets messages by HTTP POST."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """A server whose answers a test chooses.

    Attributes:
        got: Headers and bodies that it took.
        answers: Its next answers; after these, `always`.
        always: Its answer.
        hang: Set it to answer nothing.
        on_message: Called with each message before its answer.
    """

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        self.always = 200
        self.hang = threading.Event()
        self.ended = threading.Event()
        self.on_message: Callable[[Any], None] = lambda told: None
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.on_message(json.loads(body))
                if receiver.hang.is_set():
                    receiver.ended.wait(60)
                    return
                answer = receiver.answers.pop(0) if receiver.answers else receiver.always
                if answer == 200:
                    receiver.got.append((dict(self.headers), body))
                self.send_response(answer)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/blocked"

    @property
    def told(self) -> list[int]:
        """The panes of the messages that it took."""
        return [json.loads(body)["pane"] for _, body in self.got]

    def wait(self, count: int) -> list[dict[str, Any]]:
        """The messages, once as many have come."""
        deadline = time.monotonic() + 60
        while len(self.got) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        return [json.loads(body) for _, body in self.got]

    def stop(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
