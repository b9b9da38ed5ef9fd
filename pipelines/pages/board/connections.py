"""Connections of a page's server: how many there are, and how long a request may take to come."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 10.0  # in which a request must have come, with its form; then within twice as many
MOST = 400  # connections: twice the viewers that are told about changes at once
UNFINISHED = (h11.IDLE, h11.SEND_BODY)


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
