"""Follows gate/timings.jsonl: how long panes took from their close to their ledger entry."""

from __future__ import annotations

from contextlib import suppress

import orjson

from evenflow.gates.metrics.now import Latencies
from evenflow.transforms.storage.storage import Storage

STAGES = ("shards", "commit")  # what lies between a pane's close and its ledger entry
LATEST = 80  # files of an object store that are read at the start


class TimingsReader:
    """Adds up the timings of an output, each line once."""

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
