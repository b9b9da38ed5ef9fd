"""A circuit breaker: a server that fails for long is left alone, and one question now and then
tries it.

The pattern is that of Nygard, «Release It!» (2007, 5.2). Libraries for it count failures; with 32
requests under way a restart of a few seconds is 32 failures at once. Here it opens for time without
success, so that retries bridge a restart.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST_FAILURES = 3  # one slow question is no broken server, however long it took


class Breaker:
    """Closed at first. All its methods are to be called in one thread.

    patience: seconds between the last success and a failure that opens it. cooldown: seconds until
    an open one lets a question through, and the next one if that does not come back. opened: how
    often it was opened.
    """

    def __init__(
        self, patience: float, cooldown: float, clock: Callable[[], float] = time.monotonic
    ):
        self.patience = patience
        self.cooldown = cooldown
        self.opened = 0
        self._clock = clock
        self._failures = 0
        # When the first failure after the last success was, later if the server asked to wait
        self._since = 0.0
        # When an open one lets a question through; None: it is closed
        self._until: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether questions get their fallback at once, but for those that try the server."""
        return self._until is not None

    def allows(self) -> bool:
        """Whether a request may be sent now; of an open breaker, one each cooldown."""
        if self._until is None:
            return True
        if self._clock() < self._until:
            return False
        self._until = self._clock() + self.cooldown
        return True

    def succeeded(self) -> None:
        """The server answered."""
        self._failures, self._until = 0, None

    def failed(self, excused: float = 0.0) -> None:
        """The server did not answer as it should; excused: seconds that it asked to wait, which it
        has beyond patience.
        """
        now = self._clock()
        if self._failures == 0:
            self._since = now
        self._since = max(self._since, now + excused) if excused > 0 else self._since
        self._failures += 1
        if self._until is not None or (
            self._failures >= LEAST_FAILURES and now - self._since >= self.patience
        ):
            self.trip(self.cooldown)

    def trip(self, seconds: float) -> None:
        """Open it for so many seconds, whatever was before."""
        self.opened += self._until is None
        self._until = self._clock() + seconds
