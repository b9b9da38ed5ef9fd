"""Follows the ledgers of gates, and tells viewers when something changed.

A look at a gate reads what was committed since the last one, so its cost does not depend on the
number of panes. What cannot be read is said, and tried again; what was read before is still shown.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import chain, count
from typing import Any

from evenflow.gates import hold, triggers
from evenflow.gates.hold import HoldEvent
from evenflow.gates.ledger import segments
from evenflow.gates.ledger.files import META, LedgerError, entry_name, read_meta
from evenflow.gates.ledger.history import History
from evenflow.gates.ledger.spans import Span
from evenflow.pipelines.pages.board.lately import Lately
from evenflow.schemas.config import Config, recorded
from evenflow.transforms.storage.storage import Storage

PAUSE = 0.4  # seconds between two looks at a local directory
STORE_PAUSE = 5.0  # at an object store: a look is some five requests, and each costs money
MOST_PAUSE = 30.0  # after failures, each of which doubles the pause
ALIVE = 15.0  # seconds after which a viewer is told that nothing changed
RECENT = 30  # panes of a gate that are shown among all gates
BLOCK = 64  # panes whose summaries are kept together
BLOCKS = 96  # that are kept, of all gates together: 0.2 MB each
ERROR = 400  # characters of an error that are shown


class Gate:
    """One output that is followed.

    Whoever reads the other attributes holds `lock`: a look changes them.

    `config`: The configuration; None: not known. `held`: Why the gate is held; None: it is not.
    `committed`: When the last pane was committed, ms since 1970, by the clock of the store; None if
    that is not known. `error`: Why the output cannot be read now; None: it can.
    """

    def __init__(self, name: str, storage: Storage, singles: Lately[list[Span]]):
        self.name, self.storage = name, storage
        self.lock = threading.RLock()
        self.history: History | None = None
        self.meta: dict[str, Any] | None = None
        self.config: Config | None = None
        self.events: Sequence[HoldEvent] = ()
        self.held: str | None = None
        self.committed: int | None = None
        self.error: str | None = None
        self.recent: list[Span] = []
        self._singles, self._opened = singles, 0
        self._count, self._start = 0, secrets.token_hex(4)
        self._place: object = None
        self._beside: object = None

    @property
    def version(self) -> str:
        """What changes whenever something that is shown changes, also when the board is started."""
        return f"{self._start}-{self._count}"

    @property
    def pause(self) -> float:
        """Seconds until the next look."""
        return STORE_PAUSE if self.storage.local is None else PAUSE

    def look(self) -> bool:
        """Read what is new."""
        with self.lock:
            before = self.error
            try:
                changed = self._look()
                self.error = None
            except (LedgerError, OSError, ValueError) as error:
                changed = False
                self.error = " ".join(str(error).split())[:ERROR]
            changed |= self.error != before
            self._count += changed
            return changed

    def ready(self) -> Gate:
        """Look, if nothing was looked at yet. Returns the gate."""
        if self.history is None and self.error is None:
            self.look()
        return self

    def _look(self) -> bool:
        """Read what is new, or all if another run has begun. Raises LedgerError and OSError."""
        place = self._identity()
        if self.history is None or place != self._place:
            meta = read_meta(self.storage)
            config = recorded(meta)
            self.history, self.meta, self.config = History(self.storage, config), meta, config
            self._place, self._beside, self._opened = place, None, self._opened + 1
            self.recent = []
            grew = True
        else:
            grew = self.history.follow()
        beside = self._files_beside()
        if not grew and beside == self._beside:
            return False
        self.events = hold.read_events(self.storage)
        self.held = hold.held_reason(self.storage, self.history.totals, self.config)
        if grew:
            self.committed, self.recent = self._when(), self._last()
        self._beside = beside
        return True

    def _identity(self) -> object:
        """What changes if the output becomes another run's."""
        local = self.storage.local
        if local is not None:
            try:
                found = (local / "ledger").stat()
            except (FileNotFoundError, NotADirectoryError) as error:
                what = "ledger here" if local.is_dir() else "such directory"
                raise LedgerError(f"there is no {what} yet") from error
            return found.st_dev, found.st_ino, self.storage.stat(META)
        return self.storage.stat(META)

    def _files_beside(self) -> object:
        """What changes with the files that are shown beside the ledger."""
        found: list[object] = [tuple(self.storage.names(hold.FOLDER))]
        if self.storage.local is not None:  # each is a request elsewhere
            for part in ("decided", *triggers.OUTCOMES):
                folder = os.path.join(self.storage.local, triggers.FOLDER, part)  # noqa: PTH118
                found.append(_changed(folder))
        return tuple(found)

    def _when(self) -> int | None:
        """When the last pane was committed, ms since 1970."""
        assert self.history is not None
        name = entry_name(len(self.history) - 1)
        found = self.storage.stat(name) or self.storage.stat(segments.CHECKPOINT)
        return found.modified // 1_000_000 if found and found.modified is not None else None

    def single(self, first: int, last: int) -> list[Span]:
        """Summarise panes one by one; hold the lock."""
        assert self.history is not None
        count = len(self.history)
        begins = range(first - first % BLOCK, last + 1, BLOCK)
        found = {begin: self._singles.peek((self.name, self._opened, begin)) for begin in begins}
        missing = [begin for begin, each in found.items() if each is None]
        if missing:  # at once: neighbours in a segment are read together
            start, stop = missing[0], min(missing[-1] + BLOCK, count)
            read = self.history.single_spans(range(start, stop))
            for begin in missing:
                block = found[begin] = read[begin - start : begin - start + BLOCK]
                if len(block) == BLOCK:
                    self._singles.put((self.name, self._opened, begin), block)
        kept = (each for block in found.values() for each in block or ())
        return [each for each in kept if first <= each.first <= last]

    def _last(self) -> list[Span]:
        """Summarise the last panes one by one."""
        assert self.history is not None
        count = len(self.history)
        wanted = range(max(count - RECENT, 0), count)
        known = [each for each in self.recent if each.first in wanted]
        start = known[-1].last + 1 if known else wanted.start
        return [*known, *self.history.single_spans(range(start, count))]


class Board:
    """The gates of a board.

    Args:
        outputs: Outputs by the gates' names.
    """

    def __init__(self, outputs: Mapping[str, Storage]):
        singles: Lately[list[Span]] = Lately(BLOCKS)
        self.gates = {name: Gate(name, storage, singles) for name, storage in outputs.items()}
        self._waiting: set[asyncio.Event] = set()
        self._ended = False

    def version(self, names: Sequence[str]) -> str:
        """The versions of some gates in a word."""
        return ".".join(self.gates[name].version for name in names)

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Follow the gates during a with-block."""
        tasks = [asyncio.create_task(self._follow(gate)) for gate in self.gates.values()]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, gate: Gate) -> None:
        """Look at a gate again and again."""
        failures = 0
        while True:
            if await asyncio.to_thread(gate.look):
                self.tell()
            failures = failures + 1 if gate.error else 0
            await asyncio.sleep(min(gate.pause * 2**failures, MOST_PAUSE))

    @property
    def viewers(self) -> int:
        """How many are told about changes now."""
        return len(self._waiting)

    def end(self) -> None:
        """Tell no viewer anything any more, so that the server can stop."""
        self._ended = True
        self.tell()

    def tell(self) -> None:
        """Tell all viewers that something changed."""
        for each in self._waiting:
            each.set()

    async def changes(self, names: Sequence[str]) -> AsyncIterator[tuple[str, int]]:
        """Wait for changes of some gates, until the board ends.

        Yields their version, at once and whenever it changes, and at least every ALIVE seconds; and
        the time, ms since 1970.
        """
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            while not self._ended:
                told = self.version(names)
                yield told, round(time.time() * 1000)
                until = time.monotonic() + ALIVE
                with suppress(TimeoutError):
                    while self.version(names) == told and not self._ended:
                        event.clear()
                        await asyncio.wait_for(event.wait(), until - time.monotonic())
        finally:
            self._waiting.discard(event)


def names(addresses: Sequence[Storage]) -> dict[str, Storage]:
    """Name outputs for a board: by their last part, and by a number if two have the same one.

    Returns:
        The outputs by name; a name has letters, digits, dots, dashes and underlines.
    """
    found: dict[str, Storage] = {}
    for storage in addresses:
        local = storage.local
        last = (str(local.absolute()) if local else storage.url).rstrip("/").rsplit("/", 1)[-1]
        base = re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip(".-")[:60] or "gate"
        others = (f"{base}-{number}" for number in count(2))
        found[next(each for each in chain([base], others) if each not in found)] = storage
    return found


def _changed(path: str) -> int | None:
    """When a folder was changed; None without one."""
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116
    except OSError:
        return None
