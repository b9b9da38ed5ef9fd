"""A circuit breaker: a server that keeps failing gets only one trial question now and then.

The pattern is that of Nygard, "Release It!" (2007, 5.2). Libraries for it count failures. With 32
requests under way, a restart of a few seconds is 32 failures at once. This breaker opens after a
time without success, so that retries bridge a restart.
"""

from __future__ import annotations

import time
from collections.abc import Callable

# One slow question is no broken server, however long it took, if others may be asked meanwhile
LEAST_FAILURES = 3


class Breaker:
    """A circuit breaker, closed at first. Call all its methods in one thread.

    Args:
        clock: Monotonic seconds.
        together: Questions that are asked at once. Where these are fewer than LEAST_FAILURES, so
            many failures are enough: a server that hangs costs the time of one request.
    """

    def __init__(
        self,
        patience: float,
        cooldown: float,
        clock: Callable[[], float] = time.monotonic,
        together: int = LEAST_FAILURES,
    ):
        self._least = min(LEAST_FAILURES, together)
        self.patience = patience
        self.cooldown = cooldown
        self.opened = 0
        self._clock = clock
        self._failures = 0
        # Time of the first failure since the last success; later if the server asked to wait
        self._since = 0.0
        # When an open breaker lets a question through; None: it is closed
        self._until: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether questions get their fallback at once, except those that try the server."""
        return self._until is not None

    def allows(self) -> bool:
        """Whether a request may be sent now; an open breaker allows one in each cooldown."""
        if self._until is None:
            return True
        if self._clock() < self._until:
            return False
        self._until = self._clock() + self.cooldown
        return True

    def succeeded(self) -> None:
        """Records that the server answered."""
        self._failures, self._until = 0, None

    def failed(self, excused: float = 0.0, silent: float = 0.0) -> None:
        """Records that the server did not answer as it should.

        Args:
            excused: Seconds for which the server asked to be left alone.
            silent: Seconds for which it had been silent before.
        """
        now = self._clock()
        if self._failures == 0:
            self._since = now - silent
        self._since = max(self._since, now + excused) if excused > 0 else self._since
        self._failures += 1
        if self._until is not None or (
            self._failures >= self._least and now - self._since >= self.patience
        ):
            self.trip(self.cooldown)

    def trip(self, seconds: float) -> None:
        """Opens the breaker for some seconds, also without earlier failures."""
        self.opened += self._until is None
        self._until = self._clock() + seconds
