"""Tells a server of blocked panes by a signed HTTP POST, for those without Prometheus.

A thread of its own reads the ledger and sends, so the gate never waits, and nothing is queued.

1. A blocked pane is in the ledger. After a kill here the next run sends its message.
2. The server takes the message. After a kill here the next run sends it again.
3. gate/notified.json names the pane. All panes up to it are settled.

So a message may come twice, and none is lost. They come in the order of the panes.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

from evenflow.gates.ledger import segments
from evenflow.gates.ledger.files import LedgerError
from evenflow.gates.ledger.history import read_some
from evenflow.gates.posting import Sender
from evenflow.schemas.config.gate import Notify
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.storage.storage import Place, at

TOLD = "gate/notified.json"
FIRST_SECONDS, LAST_SECONDS = 1.0, 60.0  # between two tries; each wait is twice the one before


class Notifier:
    """Sends a message for each blocked pane of a ledger.

    Args:
        output: The output, whose lease this process holds.
        settings: Where messages go; it has a URL.
        panes: Number of panes that are committed. Those that nobody was told of are told of now; of
            an output whose notifications are new, none.
        note: Called with what a user should know.

    Raises:
        SecretError: The address or the secret cannot be read.
        OSError: The output cannot be read or written.
    """

    def __init__(self, output: Place, settings: Notify, panes: int, note: Callable[[str], None]):
        assert settings.url is not None
        self._output, self._patience, self._note = at(output), settings.patience, note
        self._sender = Sender(settings.url, settings.timeout, secret=settings.secret)
        self._panes, self._last = panes, None
        self._until: float | None = None  # when patience ends, once the run has ended
        self._changed = threading.Condition()
        try:
            self._next = int(json.loads(self._output.read(TOLD))["pane"]) + 1
        except FileNotFoundError:
            self._next = panes
            self._mark()
        except (ValueError, KeyError, TypeError):  # damaged: better twice than never
            self._next = 0
        self._thread = threading.Thread(target=self._send_all, daemon=True)
        self._thread.start()

    def committed(self, entry: PaneEntry) -> None:
        """Look at a pane that is in the ledger now; it does not wait.

        Args:
            entry: The pane's entry.
        """
        with self._changed:
            self._panes, self._last = entry.pane + 1, entry
            self._changed.notify()

    def close(self) -> None:
        """Send what is left, as long as patience lasts. The next run sends the rest."""
        with self._changed:
            self._until = time.monotonic() + self._patience
            self._changed.notify()
        self._thread.join(self._patience)
        if self._next >= self._panes:
            return
        try:
            left = sum(1 for each in self._left() if each.verdict.state == "block")
        except (OSError, LedgerError) as error:
            self._note(f"gate.notify: not delivered from pane {self._next} on: {error}")
        else:
            if left:
                self._note(f"gate.notify: blocked panes to tell of: {left:,}; the next run does it")

    def _left(self) -> Iterator[PaneEntry]:
        """The entries that are not settled, from the ledger."""
        return read_some(self._output, range(self._next, self._panes), known=self._last)

    def _send_all(self) -> None:
        """Send messages until the end."""
        wait = 0.0
        while self._has_more(wait):
            before = self._next
            try:
                failure = self._catch_up()
            except (OSError, LedgerError) as error:
                failure = str(error)
            if failure is None:
                wait = 0.0
                continue
            if not wait:
                self._note(f"gate.notify: {self._sender.shown}: {failure}; trying on")
            most = LAST_SECONDS if self._until is None else FIRST_SECONDS
            wait = min(2 * wait, most) if wait and self._next == before else FIRST_SECONDS

    def _has_more(self, wait: float) -> bool:
        """Wait, and then for a pane; returns whether there is one and time is left for it.

        The end of the run cuts a wait short.
        """
        with self._changed:
            if wait:
                ending = self._until is not None
                self._changed.wait_for(lambda: not ending and self._until is not None, wait)
            self._changed.wait_for(lambda: self._next < self._panes or self._until is not None)
            return self._next < self._panes and not self._is_over()

    def _is_over(self) -> bool:
        """Whether patience has ended."""
        return self._until is not None and time.monotonic() > self._until

    def _catch_up(self) -> str | None:
        """Send what is committed; returns why a message failed. Raises OSError, LedgerError."""
        for entry in self._left():
            blocked = entry.verdict.state == "block"
            if blocked:
                if self._is_over():
                    break
                answer = self._sender.send(
                    message(str(self._output), entry), f"block.{entry.pane:08d}"
                )
                if not answer.ok:
                    return answer.message
            self._next = entry.pane + 1
            if blocked or not self._next % segments.EVERY:  # so that no start reads all panes
                self._mark()
        return None

    def _mark(self) -> None:
        """Note the last pane that is settled, durably. Raises OSError."""
        self._output.write(TOLD, json.dumps({"pane": self._next - 1}).encode())


@contextmanager
def telling(
    output: Place, settings: Notify, panes: int, note: Callable[[str], None]
) -> Generator[Callable[[PaneEntry], None], None, None]:
    """Tell of blocked panes beside a run, and at its end, however it ends, of what is left.

    Args:
        output: The output, whose lease this process holds.
        settings: Where messages go; without a URL nobody is told.
        panes: Number of panes that are committed.
        note: Called with what a user should know.

    Yields:
        What to call with each entry that is committed.
    """
    if settings.url is None:
        yield lambda entry: None
        return
    notifier = Notifier(output, settings, panes, note)
    try:
        yield notifier.committed
    finally:
        notifier.close()


def message(output: str, entry: PaneEntry) -> dict[str, Any]:
    """Write the message on a blocked pane.

    Args:
        output: Address of the output.
        entry: The pane's entry.

    Returns:
        What is sent as JSON.
    """
    return {
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
