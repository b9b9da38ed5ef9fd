"""What a process keeps for all partitions that it reads: their consumers between calls, and how far
each of them is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from evenflow.transforms.kafka.client import IDLE_SECONDS, PATIENCE_SECONDS, Ends, PartitionReader
from evenflow.transforms.kafka.settings import KafkaSettings


class SafeTimes:
    """The times up to which what the partitions of a process gave is safe with the runner. For any
    number of threads.

    Prism takes the watermark of a whole stage from the bundle that ended last, whatever others hold
    back, and drops what comes late by it. So every partition reports the time of the one that is
    furthest behind, which is right for any runner. Of the others that is where their calls began:
    what those have given since then may be under way.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._times: dict[tuple[str, int], int] = {}
        self._asked: dict[str, int] = {}

    def found(self, topic: str, partitions: Iterable[tuple[int, int]]) -> None:
        """Note partitions (number, time from which they are read, in ms) before any of them is
        read.
        """
        with self._lock:
            self._times.update({(topic, number): start for number, start in partitions})

    def watched(self, topic: str, asked: int) -> None:
        """Note when a topic was last asked for new partitions, in ms: those to come begin no
        earlier.
        """
        with self._lock:
            self._asked[topic] = asked

    def began(self, topic: str, partition: int, time: int) -> None:
        """Note that a call goes on with a partition from a time, in ms: what was before has reached
        the runner.
        """
        with self._lock:
            self._times[topic, partition] = time

    def behind(self, topic: str, partition: int, time: int) -> int:
        """The time up to which all are done when a call for a partition ends at a time; both in ms."""
        with self._lock:
            others = [each for key, each in self._times.items() if key != (topic, partition)]
            return min(*self._asked.values(), *others, time) if others or self._asked else time

    def done(self, topic: str, partition: int) -> None:
        """Note that a partition is read to its end."""
        with self._lock:
            self._times.pop((topic, partition), None)


class ReaderPool:
    """The consumers of a process, between calls, and their progress. For any number of threads."""

    def __init__(self, settings: KafkaSettings, patience: float = PATIENCE_SECONDS):
        self._settings, self._patience = settings, patience
        self.made = time.time()
        self.progress = SafeTimes()
        self._ends = Ends(settings)
        self._lock = threading.Lock()
        self._waiting: dict[tuple[str, int], PartitionReader] = {}
        self._users = 0

    def enter(self) -> None:
        """Count a user."""
        with self._lock:
            self._users += 1

    def leave(self) -> None:
        """Take a user off; the last one closes all consumers."""
        with self._lock:
            self._users -= 1
            if self._users:
                return
            closing, self._waiting = list(self._waiting.values()), {}
        for each in (*closing, self._ends):
            each.close()

    @contextmanager
    def reader(self, topic: str, partition: int) -> Iterator[PartitionReader]:
        """The partition's reader, for one thread alone; it goes back into the pool, unless
        something was raised.
        """
        key = (topic, partition)
        with self._lock:
            reader = self._waiting.pop(key, None)
        if reader is None:
            reader = PartitionReader(self._settings, topic, partition, self._ends, self._patience)
        try:
            yield reader
        except BaseException:
            reader.close()
            raise
        reader.used = time.monotonic()
        with self._lock:
            closing = [self._waiting.pop(key)] if key in self._waiting else []
            self._waiting[key] = reader
            for other in [
                k for k, each in self._waiting.items() if reader.used - each.used > IDLE_SECONDS
            ]:
                closing.append(self._waiting.pop(other))
        for each in closing:
            each.close()

    def backlog(self, topic: str, partition: int, position: int) -> int:
        """Records after an offset, as last told by the broker; 1 where nothing is known. Asks
        nothing.
        """
        with self._lock:
            reader = self._waiting.get((topic, partition))
        end = reader.known_end() if reader is not None else None
        return 1 if end is None else max(end - position, 0)
