"""Messages on blocked panes: signed, repeated until they arrive, never in the gate's way."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from report_ledgers import entries

from evenflow.gates.ledger.history import History
from evenflow.gates.notify import Notifier, signature
from evenflow.schemas.config import ConfigError, load
from evenflow.schemas.ledger import PaneEntry
from evenflow.schemas.secrets import SecretError
from evenflow.schemas.sections import Notify

BLOCKED = [entry for entry in entries(60) if entry.verdict.state == "block"]
BLOCKED[0].pane = 0


class Receiver:
    """A server that answers with what it is told to; `hang` lets it answer nothing."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        self.hang = threading.Event()
        self.ended = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if receiver.hang.is_set():
                    receiver.ended.wait(60)
                    return
                answer = receiver.answers.pop(0) if receiver.answers else 200
                if answer == 200:
                    receiver.got.append((dict(self.headers), body))
                self.send_response(answer)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/blocked"

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


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.stop()


def output(root: Path, panes: list[PaneEntry]) -> History:
    """An output with some panes."""
    (root / "gate").mkdir(parents=True, exist_ok=True)
    history = History(root)
    for number, entry in enumerate(panes, len(history)):
        history.commit(entry.model_copy(update={"pane": number}))
    return history


def test_a_message_is_signed(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK", "geheim")
    even = next(entry for entry in entries(60) if entry.verdict.state == "open")
    history = output(tmp_path, [])
    notifier = Notifier(tmp_path, Notify(url=receiver.url, secret={"env": "HOOK"}), history)
    for entry in (even, BLOCKED[0]):
        history.commit(entry.model_copy(update={"pane": len(history)}))
        notifier.committed(history[-1])
    [told] = receiver.wait(1)
    notifier.close()
    assert told["event"] == "block" and told["pane"] == 1
    assert told["reason"] == BLOCKED[0].verdict.reason
    headers, body = receiver.got[0]
    given = headers["X-Evenflow-Signature"]
    assert given == signature(b"geheim", headers["X-Evenflow-Timestamp"], body)
    assert given != signature(b"other", headers["X-Evenflow-Timestamp"], body)
    # openssl dgst -sha256 -hmac key, of «1.{}»
    assert signature(b"key", "1", b"{}") == (
        "sha256=1ba6b8171186efc613e8bcc0cbdab2748f24984d7c5a84faa2637afa0e40d224"
    )


@pytest.mark.parametrize("answer", [500, 404, 302])
def test_it_tries_again_until_it_is_taken(
    receiver: Receiver, tmp_path: Path, answer: int, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answers = [answer]
    history = output(tmp_path, [])
    notifier = Notifier(tmp_path, Notify(url=receiver.url), history)
    history.commit(BLOCKED[0])
    notifier.committed(BLOCKED[0])
    assert [each["pane"] for each in receiver.wait(1)] == [0]
    notifier.close()
    assert f"status {answer}; trying on" in caplog.text


def test_a_server_that_hangs_holds_up_nothing_and_the_next_run_tells(
    receiver: Receiver, tmp_path: Path
) -> None:
    receiver.hang.set()
    history = output(tmp_path, [])
    notifier = Notifier(tmp_path, Notify(url=receiver.url, timeout=0.2), history)
    for number in range(300):
        history.commit(BLOCKED[0].model_copy(update={"pane": number}))
        notifier.committed(history[-1])
    notifier.close()
    assert not receiver.got and threading.active_count() < 10
    receiver.hang.clear()
    again = Notifier(tmp_path, Notify(url=receiver.url), History(tmp_path))
    assert [each["pane"] for each in receiver.wait(100)] == list(range(200, 300))
    again.close()
    later = Notifier(tmp_path, Notify(url=receiver.url), History(tmp_path))
    later.close()
    assert len(receiver.got) == 100


def test_panes_from_before_are_not_told(receiver: Receiver, tmp_path: Path) -> None:
    history = output(tmp_path, BLOCKED[:3])
    notifier = Notifier(tmp_path, Notify(url=receiver.url), history)
    notifier.close()
    assert receiver.got == []


def test_wrong_settings_show_no_secret(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gate\.notify\.url") as raised:
        load(None, {"gate.notify.url": "https://user:geheim@example.org"})
    assert "geheim" not in str(raised.value)
    with pytest.raises(ConfigError, match=r"gate\.notify\.secret") as raised:
        load(None, {"gate.notify.secret": "geheim"})
    assert "geheim" not in str(raised.value)
    with pytest.raises(SecretError, match="NO_SUCH"):
        Notifier(
            tmp_path,
            Notify(url="http://127.0.0.1:1", secret={"env": "NO_SUCH"}),
            output(tmp_path, []),
        )
