"""The lease of an output: one run at a time commits panes, whatever machine it is on.

In a local directory the lease is the kernel's lock (`lock`). An object store has no locks. There
the lease is a numbered term, gate/terms/NUMBER.json, that only one run can create. Its holder
writes a new beat every BEAT_SECONDS. A run that sees no new beat for LEASE_SECONDS, by its own
clock, takes the next term. Time in which the store does not answer does not count. No clocks of two
machines are compared.

A holder that was stopped for long may not know that it has lost the lease. It is fenced off so:

1. The holder claims the next panes by a file that only one run can create,
   ledger/claims/PANE-NUMBER.json, with the first pane and the first number that is free.
2. Then it asks whether the next term exists. If so, it stops: it moves no file.
3. A new holder creates its term first and then looks for claims of the next pane. If there are any,
   it finishes the commit of the one with the highest term.

So of an old and a new holder either the old one sees the new term, or the new one sees the claim.
A claim of a lower term than another's was made by a run that saw a new term after it, and stopped.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from uuid import uuid4

from evenflow.gates.lock import LockedError, OutputLock
from evenflow.schemas.errors import EvenflowError
from evenflow.schemas.guards import is_mapping
from evenflow.transforms.storage.storage import Place, Storage, StorageError, at

BEAT_SECONDS = 2.0
LEASE_SECONDS = 10.0
FOLDER = "gate/terms"
KEPT = 1000  # terms; a holder that was stopped while as many runs began must still see the next one
TOGETHER = 8  # terms that are deleted at a start: some runs are killed before they delete any


class FencedError(EvenflowError, RuntimeError):
    """Another run has taken the lease of the output."""


class Lease:
    """Context manager that holds the lease of an output.

    Entering raises LockedError if another run holds it, StorageError if the store cannot keep a
    lease, and OSError.

    Attributes:
        run: A name for the files of this run: no other run has the same.
        looked: When this run last saw that another one holds the lease, by the clock that never
            goes back; None if it has not.
    """

    def __init__(
        self,
        output: Place,
        standby: bool = False,
        note: Callable[[str], None] = lambda text: None,
    ):
        """Prepare a lease."""
        self._storage = at(output)
        self._standby, self._note = standby, note
        self._ended = threading.Event()
        self._lost = False
        self._term = 0
        self._beats = threading.Thread(target=self._keep, daemon=True)
        self._lock: OutputLock | None = None
        self.looked: float | None = None
        self.run = uuid4().hex[:12]

    @property
    def held(self) -> bool:
        """Whether this run has taken the lease; `check` says whether it still has it."""
        return self._lock is not None or self._term > 0

    def __enter__(self) -> Lease:
        noted = False
        if self._storage.local is None:
            _check_store(self._storage)
        while True:
            try:
                self._take()
                return self
            except LockedError as error:
                if not self._standby:
                    raise
                self.looked = time.monotonic()
                if not noted:
                    self._note(f"{error}; standing by")
                    noted = True
                time.sleep(0.2 if self._storage.local else BEAT_SECONDS)

    def _take(self) -> None:
        """Take the lease, or raise LockedError."""
        if self._storage.local is not None:
            lock = OutputLock(self._storage.local)
            lock.__enter__()
            self._lock = lock
            return
        last = self._last_term()
        if last:
            self._wait_for_end(last)
        holder = {"who": f"process {os.getpid()} on {socket.gethostname()}", "run": self.run}
        if not self._storage.create(_term(last + 1), json.dumps(holder).encode()):
            raise self._locked(last + 1)
        self._term = last + 1
        self.run = f"{self._term:08d}"
        self._storage.remove(
            name(old - kept)
            for name, kept in ((_beat, 0), (_term, KEPT))
            for old in range(last - TOGETHER, last)
            if old > kept
        )
        self._beats.start()

    def _last_term(self) -> int:
        """The last term; 0 if there is none. A store may list it late."""
        found = [name.removesuffix(".json") for name in self._storage.names(FOLDER)]
        last = max((int(stem) for stem in found if stem.isdigit()), default=0)
        while self._storage.exists(_term(last + 1)):
            last += 1
        return last

    def _wait_for_end(self, term: int) -> None:
        """Wait until the holder of a term has ended. Raises LockedError if it goes on."""
        first, since = self._read_beat(term), time.monotonic()
        while first != "ended" and time.monotonic() - since < LEASE_SECONDS:
            time.sleep(BEAT_SECONDS / 2)
            asked, now = time.monotonic(), self._read_beat(term)
            self.looked = time.monotonic()
            since += self.looked - asked  # a holder waits for the store as well
            if now == "ended":
                return
            if now != first:
                raise self._locked(term)

    def _read_beat(self, term: int) -> str:
        """The last beat of a term; empty before the first."""
        with contextlib.suppress(FileNotFoundError):
            return self._storage.read(_beat(term)).decode("utf-8", "replace")
        return ""

    def _locked(self, term: int) -> LockedError:
        """The error that says who holds a term."""
        holder: object = None
        with contextlib.suppress(OSError, ValueError):
            holder = json.loads(self._storage.read(_term(term)))
        who = f" ({holder.get('who')})" if is_mapping(holder) else ""
        return LockedError(
            f"{self._storage} is in use by another run{who}; wait for it, give --standby to take"
            " over when it ends, or give another --output"
        )

    def _keep(self) -> None:
        """Write beats until the lease ends; called in a thread of its own."""
        count = 0
        while not self._ended.wait(BEAT_SECONDS if count else 0):
            count += 1
            # A store that is away for a while is no reason to end: the next commit will tell
            with contextlib.suppress(OSError):
                self._storage.write(_beat(self._term), str(count).encode())
                self._lost = self._lost or self._storage.exists(_term(self._term + 1))

    def check(self) -> None:
        """Make sure that this run still holds the lease.

        Raises:
            FencedError: Another run has taken it.
            OSError: The store does not answer.
        """
        if self._term and (self._lost or self._storage.exists(_term(self._term + 1))):
            self._lost = True
            raise FencedError(
                f"{self._storage}: another run has taken over (this one did not reach the store for"
                f" {LEASE_SECONDS:.0f} s or longer); nothing is lost, and that run goes on"
            )

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self._lock is not None:
            self._lock.__exit__()
        elif self._term and not self._lost:
            self._beats.join(LEASE_SECONDS)  # a beat after the end would keep the next run waiting
            with contextlib.suppress(OSError):  # the next run waits for LEASE_SECONDS then
                self._storage.write(_beat(self._term), b"ended")


def _term(number: int) -> str:
    """The file of a term."""
    return f"{FOLDER}/{number:08d}.json"


def _beat(number: int) -> str:
    """The file of a term's beats."""
    return f"{FOLDER}/{number:08d}.beat"


def _check_store(storage: Storage) -> None:
    """Try what a run needs: to write, to list, to delete, and to create a file only once.

    Raises StorageError where the store cannot create, and OSError where it refuses.
    """
    name = f"gate/probe/{uuid4().hex}"
    if not storage.create(name, b"1"):
        raise StorageError(f"{storage}: a file that nobody wrote is there already")
    if storage.create(name, b"2"):
        raise StorageError(
            f"{storage}: this store overwrites what must be created once (it has no conditional"
            " writes); the ledger cannot be kept there. Give another --output"
        )
    storage.names("gate/probe")
    storage.remove([name])
