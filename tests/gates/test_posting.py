"""What a message by HTTP POST carries, and what of an answer is kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evenflow.gates.posting import Sender


class Receiver:
    """A server that takes messages. got: their headers and bodies; always: its answer."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.always = 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((dict(self.headers), body))
                self.send_response(receiver.always)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    def stop(self) -> None:
        """End."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.stop()


def test_a_message_has_its_identity_and_the_key_that_was_asked_for(
    receiver: Receiver, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("k1\n")
    assert Sender(receiver.url, 5.0).send({"pane": 1}, "a").ok
    assert Sender(receiver.url, 5.0, {"file": str(tmp_path / "key")}).send({"pane": 2}, "b").ok
    (plain, body), (keyed, _) = receiver.got
    assert plain["Idempotency-Key"] == "a" and body == b'{"pane": 1}'
    assert "Authorization" not in plain and keyed["Authorization"] == "Bearer k1"


@pytest.mark.parametrize("status", [302, 404, 500])
def test_an_answer_from_300_on_is_a_failure_with_its_status(
    receiver: Receiver, status: int
) -> None:
    receiver.always = status
    found = Sender(receiver.url, 5.0).send({"pane": 1}, "a")
    assert (found.ok, found.message) == (False, f"status {status}")


def test_a_key_that_no_header_may_have_is_not_shown(receiver: Receiver, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("a\nb")
    found = Sender(receiver.url, 5.0, {"file": str(tmp_path / "key")}).send({"pane": 1}, "a")
    assert found == (False, "a header has characters that no header may have", "")


def test_nobody_who_listens_is_a_failure(receiver: Receiver) -> None:
    receiver.stop()
    found = Sender(receiver.url, 1.0).send({"pane": 1}, "a")
    assert not found.ok and found.message and "status" not in found.message
