"""Whether a run can do its work now.

It holds its lease or stands by, its source answers, and its output takes a file.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from uuid import uuid4

from evenflow.gates.lease import LEASE_SECONDS, FencedError, Lease
from evenflow.transforms.storage.storage import Place, at

FINE = "ok"
STANDING_BY = "standing by"
# A broker that restarts is back within seconds; a longer silence keeps panes waiting
SOURCE_SECONDS = 15.0
STANDBY_SECONDS = 2 * LEASE_SECONDS  # between two looks at the holder's beats, with a slow store
OUTPUT_SECONDS = 5.0  # for which one write answers all who ask
ANSWER_SECONDS = 2.0  # that a question waits for the write of another one


class Health:
    """The health of a run.

    Attributes:
        lease: The run's lease; None before the run asks for it.
        silence: Seconds since the source last answered; None before it is read.
    """

    def __init__(self, output: Place):
        self._output = at(output)
        self._name = f"gate/probe/{uuid4().hex}"
        self._lock = threading.Lock()
        self._written: float | None = None
        self._fault = ""
        self.lease: Lease | None = None
        self.silence: Callable[[], float] | None = None

    def state(self) -> tuple[bool, dict[str, str]]:
        """Look whether the run is ready. Nothing here fails.

        Returns:
            Whether it is; and a word or a reason for the lease, the source and the output.
        """
        lease, source = self._lease(), self._source()
        if lease == STANDING_BY and self.silence is None:
            source = "not read while standing by"
        found = {"lease": lease, "source": source, "output": self._writable()}
        standing_by = lease == STANDING_BY
        ready = (standing_by or lease == source == FINE) and found["output"] == FINE
        return ready, found

    def _lease(self) -> str:
        """Whether the lease is held, or the run stands by in good order."""
        if self.lease is None:
            return "not asked for yet"
        if not self.lease.held:
            looked = self.lease.looked
            if looked is None:
                return "not taken yet"
            silent = time.monotonic() - looked
            if silent < STANDBY_SECONDS:
                return STANDING_BY
            return f"standing by, but the output has not answered for {silent:.0f} s"
        try:
            self.lease.check()
        except FencedError as error:
            return str(error)
        except OSError as error:
            return f"the output does not answer: {error}"
        return FINE

    def _source(self) -> str:
        """Whether the source answers."""
        if self.silence is None:
            return "not read yet"
        silent = self.silence()
        return FINE if silent < SOURCE_SECONDS else f"no answer for {silent:.0f} s"

    def _writable(self) -> str:
        """Whether the output takes a small file, as of some seconds ago."""
        if not self._lock.acquire(timeout=ANSWER_SECONDS):
            return "a write has not ended yet"
        try:
            if self._written is None or time.monotonic() - self._written > OUTPUT_SECONDS:
                self._fault = self._write()
                self._written = time.monotonic()
            return self._fault or FINE
        finally:
            self._lock.release()

    def _write(self) -> str:
        """Write a small file and remove it; what went wrong, or nothing."""
        try:
            self._output.write(self._name, b"1")
            self._output.remove([self._name])
        except OSError as error:
            return f"it cannot be written: {error}"
        return ""
