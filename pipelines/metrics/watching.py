"""Watches one output: its sums, and what the ledger does not record."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

import orjson
from prometheus_client import Metric

from evenflow.gates import hold, triggers
from evenflow.gates.health import FINE, Health
from evenflow.gates.ledger.files import META, LedgerError, entry_name
from evenflow.gates.ledger.history import History
from evenflow.gates.ledger.segments import EVERY, checkpoint_panes, segment_name
from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics.families import families
from evenflow.gates.metrics.now import Latencies, Now
from evenflow.gates.metrics.state import ledger_state
from evenflow.pipelines.terminal.outcome import PaneProgress
from evenflow.schemas.config import Config, recorded
from evenflow.transforms.io.files import printable
from evenflow.transforms.staging.shards import shard_name
from evenflow.transforms.storage.storage import Place, Storage, at

AGAIN_SECONDS = 10.0  # between two tries to read a ledger that cannot be read
STAGES = ("shards", "commit")  # what lies between a pane's close and its ledger entry
LATEST = 80  # files of an object store that are read at the start


class Watched:
    """An output whose ledger is read at the start and followed.

    Args:
        config: The configuration of the run in this process, which says what it commits. None: an
            output that others write, under the configuration that it names.

    Attributes:
        health: Of the run in this process; None: there is none.

    Raises:
        LedgerError: The ledger is damaged.
        OSError: A file cannot be read.
    """

    def __init__(self, output: Place, config: Config | None = None):
        self._output = at(output)
        self._config, self._own = config, config is not None
        self.health = Health(self._output) if self._own else None
        path = self._output.local
        name = path.resolve().name if path else self._output.url.rsplit("/", 1)[-1]
        self.name = printable(name) or "/"
        self._lock = threading.Lock()  # of the sums: scraped in other threads
        self._looking = threading.Lock()
        self._meta = b""
        self._finished = False
        self._pane_seconds: float | None = None
        self._read_meta()
        self._history: History | None = History(self._output, self._config)
        self._totals: Totals | None = self._history.totals
        self._readable, self._again = True, 0.0
        self._timings = TimingsReader(self._output)
        self._began = time.monotonic()
        self._committed: float | None = None
        self._read: tuple[int, int] | None = None
        self._held = False
        self._backlog: Mapping[int, int] = {}
        self._filling: float | None = None  # since when, by the clock that never goes back
        self._times: dict[int, float] = {}
        self._runs: Mapping[tuple[str, str], int] = {}

    def committed(self, done: PaneProgress) -> None:
        """Add a pane that this process has committed."""
        entry = done.entry
        read = (done.input_bytes, done.total_bytes) if entry.stream is None else None
        with self._lock:
            if self._totals is not None and entry.pane == self._totals.panes:
                self._totals.add(entry)
            else:  # this run stood by while another one committed
                self._history = History(self._output, self._config)
                self._totals = self._history.totals
            self._committed, self._read = time.time(), read
            self._filling = time.monotonic() if read is not None else None

    def look_at_topic(self, backlog: Mapping[int, int], waiting: bool) -> None:
        """Note how far the topic is read.

        Args:
            backlog: Records of each partition that are not committed yet.
            waiting: Whether any of them are read.
        """
        self._backlog = backlog
        if not waiting:
            self._filling = None
        elif self._filling is None:
            self._filling = time.monotonic()

    def state(self) -> tuple[bool, dict[str, str]]:
        """Look whether the run in this process can do its work; else whether the ledger is read."""
        if self.health is not None:
            return self.health.state()
        with self._looking:
            self._look()
        return self._readable, {"ledger": FINE if self._readable else "it cannot be read"}

    def families(self) -> list[Metric]:
        """Return what a scrape gets; nothing here fails, a ledger that cannot be read is said."""
        with self._looking:
            self._look()
            self._look_at_triggers()
        with self._lock:
            if self._totals is None:
                return list(ledger_state(False))
            return list(families(self._totals, self._now(self._totals), self._config))

    def _now(self, totals: Totals) -> Now:
        """The present state."""
        since = totals.since
        read, size = self._read or (None, None)
        path = self._output.local
        disk = None
        with suppress(OSError):
            if path is not None:
                found = shutil.disk_usage(path)
                disk = found.free, found.total
        return Now(
            time=time.time(),
            held=self._held,
            readable=self._readable,
            finished=self._finished,
            committed=self._committed or self._times.get(totals.panes - 1),
            since={name: self._times[pane] for name, pane in since.items() if pane in self._times},
            read=read,
            size=size,
            pane_seconds=self._pane_seconds,
            filling=self._age(),
            backlog=self._backlog,
            disk=disk,
            latencies=self._timings.latencies,
            triggers=self._runs,
        )

    def _age(self) -> float | None:
        """Seconds for which the pane that is being filled has waited; None if not known."""
        if not self._own:
            return None
        if self._read is None and self._pane_seconds is not None:  # a topic
            return time.monotonic() - self._filling if self._filling is not None else 0.0
        return time.monotonic() - (self._filling or self._began)

    def _look_at_triggers(self) -> None:
        """Count the runs of triggers."""
        if self._config is not None and self._config.triggers:
            with suppress(OSError):
                self._runs = triggers.runs(self._output)

    def _look_at_times(self) -> None:
        """Find when the last pane was committed, and those with which states began.

        Where an entry is in a segment, its pane's shard has the time; without one, the segment.
        """
        with self._lock:
            totals = self._totals
            if totals is None or not totals.panes:
                return
            panes = {totals.panes - 1, *totals.since.values()}
        times = {pane: self._times[pane] for pane in panes if pane in self._times}
        for pane in panes - times.keys():
            places = (
                entry_name(pane),
                f"quarantine/{shard_name(pane, 0)}",
                f"accepted/{shard_name(pane, 0)}",
                segment_name(pane - pane % EVERY),
            )
            found = (self._output.stat(name) for name in places)
            modified = next((each.modified for each in found if each), None)
            if modified is not None:
                times[pane] = modified / 1e9
        self._times = times

    def _look(self) -> None:
        """Look what others have done: held the gate, or committed panes."""
        if time.monotonic() < self._again:
            return
        # Without the lock: a commit does not wait for a store that is away, nor does a scrape fail
        try:
            if not self._read_meta() and not self._own:
                self._history = self._totals = None  # the directory is gone
                self._readable = False
                return
            self._follow()
            self._look_at_times()
            self._timings.follow()
            if self._totals is not None:
                held = hold.held_reason(self._output, self._totals, self._config)
                self._held = held is not None
            self._readable = True
        except (OSError, LedgerError):
            self._readable = False
            if not self._own:
                self._history, self._again = None, time.monotonic() + AGAIN_SECONDS

    def _follow(self) -> None:
        """Add what others have committed. Raises LedgerError, OSError."""
        if self._own:
            totals = self._totals
            if self._committed is None and totals is not None and self._has(totals.panes):
                history = History(self._output, self._config)
                with self._lock:
                    if self._committed is None:
                        self._history, self._totals = history, history.totals
            return
        panes = self._totals.panes if self._totals is not None else 0
        anew = self._history is None or (panes > 0 and not self._has(panes - 1))
        with self._lock:
            if self._history is None or anew:
                self._history, self._times = History(self._output, self._config), {}
            else:
                self._history.follow()
            self._totals = self._history.totals

    def _has(self, pane: int) -> bool:
        """Whether the ledger has a pane."""
        name = entry_name(pane)
        return self._output.exists(name) or checkpoint_panes(self._output) > pane

    def _read_meta(self) -> bool:
        """Read the settings of the output's run, if they are new; False if there are none."""
        try:
            raw = self._output.read(META)
        except FileNotFoundError:
            return False
        if raw != self._meta:
            try:
                meta = orjson.loads(raw)
                stream = meta["settings"].get("stream")
                self._finished = bool(meta.get("finished"))
                seconds = stream and float(stream["pane_seconds"])
            except (ValueError, KeyError, AttributeError, TypeError) as error:
                raise LedgerError(f"{self._output.address(META)}: not settings: {error}") from error
            self._pane_seconds = seconds
            self._config = self._config if self._own else recorded(meta)
            self._meta = raw
        return True


class TimingsReader:
    """Adds up gate/timings.jsonl of an output, each line once."""

    def __init__(self, output: Storage):
        self._output = output
        self.latencies = Latencies()
        self._offset = 0
        self._seen = ""
        self.follow()

    def follow(self) -> None:
        """Add the lines that are new. Raises OSError."""
        if self._output.local is None:
            self._follow_store()
            return
        with suppress(FileNotFoundError), self._output.open("gate/timings.jsonl") as file:
            if file.seek(0, 2) < self._offset:  # another run's file
                self._offset, self.latencies = 0, Latencies()
            file.seek(self._offset)
            data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            self._add(whole)
            self._offset += len(whole)

    def _follow_store(self) -> None:
        """Add the new files of an object store."""
        names = [name for name in self._output.names("gate/timings") if name > self._seen]
        for data in self._output.read_all([f"gate/timings/{name}" for name in names[-LATEST:]]):
            self._add(data or b"")
        self._seen = max(names, default=self._seen)

    def _add(self, data: bytes) -> None:
        """Add lines; one that a kill cut off is left out."""
        for line in data.splitlines():
            with suppress(ValueError, KeyError, TypeError):
                row = orjson.loads(line)
                stages = row["stages"]
                self.latencies.add(row["pane"], sum(stages.get(name, 0.0) for name in STAGES))
