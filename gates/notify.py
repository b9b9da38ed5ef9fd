"""Tells a server of blocked panes by a signed HTTP POST, for those without Prometheus.

A thread of its own sends, so the gate never waits. What could not be delivered is tried again, also
by the next run: gate/notified.json has the last pane that was told. So a message may come twice,
and none is lost.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import threading
import time
from collections import deque
from contextlib import suppress

from evenflow.gates.ledger.history import History
from evenflow.gates.posting import post
from evenflow.schemas.hidden import mask_address, read_address
from evenflow.schemas.ledger import PaneEntry
from evenflow.schemas.secrets import read_secret
from evenflow.schemas.sections import Notify
from evenflow.transforms.storage.storage import Place, at

TOLD = "gate/notified.json"
MOST = 100  # messages that wait; as many as the ledger's sums name blocked panes
FIRST_SECONDS, LAST_SECONDS = 1.0, 60.0  # between two tries; each wait is twice the one before
LOG = logging.getLogger(__name__)


class Notifier:
    """Sends a message for each blocked pane.

    Args:
        output: The output.
        settings: Where messages go; it has a URL.
        entries: The ledger so far. Blocked panes that nobody was told of are told now.

    Raises:
        SecretError: The address or the secret cannot be read.
        OSError: The output cannot be read or written.
    """

    def __init__(self, output: Place, settings: Notify, entries: History):
        self._output, self._settings = at(output), settings
        assert settings.url is not None
        self._url = read_address(settings.url)
        self._secret = read_secret({**settings.secret}).encode() if settings.secret else None
        self._waiting: deque[tuple[int, bytes]] = deque(maxlen=MOST)
        self._changed = threading.Condition()
        self._closing = False
        try:
            told = int(json.loads(self._output.read(TOLD))["pane"])
        except FileNotFoundError:
            told = len(entries) - 1
            self._note(told)
        except (ValueError, KeyError, TypeError):  # a kill cut it off
            told = -1
        for pane in entries.totals.blocked:
            if pane > told:
                self.committed(entries[pane])
        self._thread = threading.Thread(target=self._send_all, daemon=True)
        self._thread.start()

    def committed(self, entry: PaneEntry) -> None:
        """Send a message if a pane is blocked; it does not wait.

        Args:
            entry: The pane's entry.
        """
        if entry.verdict.state == "block":
            with self._changed:
                self._waiting.append((entry.pane, message(str(self._output), entry)))
                self._changed.notify()

    def close(self) -> None:
        """Give the last message the time for one answer, and end. The next run sends the rest."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(self._settings.timeout)

    def _send_all(self) -> None:
        """Send messages until the end."""
        wait = 0.0
        while True:
            with self._changed:
                if wait:
                    self._changed.wait_for(lambda: self._closing, wait)
                self._changed.wait_for(lambda: bool(self._waiting) or self._closing)
                if not self._waiting:
                    return
                pane, body = self._waiting[0]
            failure = self._send(body)
            if failure is None:
                wait = 0.0
                with self._changed, suppress(ValueError):  # too many came meanwhile
                    self._waiting.remove((pane, body))
                with suppress(OSError):
                    self._note(pane)
            else:
                if not wait:
                    LOG.error("gate.notify: %s: %s; trying on", mask_address(self._url), failure)
                wait = min(2 * wait or FIRST_SECONDS, LAST_SECONDS)
                if self._closing:
                    return

    def _send(self, body: bytes) -> str | None:
        """Send a message; returns why it failed, None if it did not."""
        headers: dict[str, str] = {}
        if self._secret is not None:
            now = str(int(time.time()))
            headers["X-Evenflow-Timestamp"] = now
            headers["X-Evenflow-Signature"] = signature(self._secret, now, body)
        answer = post(self._url, body, headers, self._settings.timeout)
        return None if answer.ok else answer.message

    def _note(self, pane: int) -> None:
        """Note the last pane that was told. Raises OSError."""
        self._output.write_soon(TOLD, json.dumps({"pane": pane}).encode())


def message(output: str, entry: PaneEntry) -> bytes:
    """Write the message on a blocked pane.

    Args:
        output: Address of the output.
        entry: The pane's entry.

    Returns:
        A JSON object.
    """
    return json.dumps(
        {
            "event": "block",
            "output": output,
            "pane": entry.pane,
            "reason": entry.verdict.reason,
            "documents": entry.documents,
            "attributes": {
                name: {
                    "state": each.verdict.state,
                    "reason": each.verdict.reason,
                    "dr": each.rolling.dr,
                    "low": each.rolling.low,
                }
                for name, each in entry.attributes.items()
            },
        }
    ).encode()


def signature(secret: bytes, timestamp: str, body: bytes) -> str:
    """Sign a message.

    Args:
        secret: The shared secret.
        timestamp: Seconds since 1970, as in the header X-Evenflow-Timestamp.
        body: The message.

    Returns:
        `sha256=` and the HMAC-SHA256 (RFC 2104) of timestamp, a dot and the message, in
        hexadecimal.
    """
    digest = hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"
