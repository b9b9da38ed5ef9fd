"""What a process keeps for its partitions between calls: consumers, and how far each one is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from evenflow.transforms.kafka.client import IDLE_SECONDS, PATIENCE_SECONDS, Ends, PartitionReader
from evenflow.transforms.kafka.settings import KafkaSettings


class SafeTimes:
    """Times up to which the output of a process's partitions is safe with the runner.

    It is thread-safe. Prism takes the watermark of a whole stage from the bundle that ended last,
    even if other bundles hold back an earlier one, and drops records that are late by it. So every
    partition reports the time of the partition that is furthest behind, which is right for any
    runner. The other partitions count with the times at which their last calls began, because the
    results of those calls may not have reached the runner.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._times: dict[tuple[str, int], int] = {}
        self._asked: dict[str, int] = {}

    def add(self, topic: str, partitions: Iterable[tuple[int, int]]) -> None:
        """Note partitions before any of them is read.

        Args:
            topic: The topic.
            partitions: (number, time from which it is read, in milliseconds since 1970) of each.
        """
        with self._lock:
            self._times.update({(topic, number): start for number, start in partitions})

    def note_question(self, topic: str, asked: int) -> None:
        """Note when a topic was last asked for new partitions: later ones begin no earlier.

        Args:
            topic: The topic.
            asked: Milliseconds since 1970.
        """
        with self._lock:
            self._asked[topic] = asked

    def begin(self, topic: str, partition: int, time: int) -> None:
        """Note that a call goes on with a partition: all before its time has reached the runner.

        Args:
            topic: The topic.
            partition: The partition's number.
            time: Where the call begins, in milliseconds since 1970.
        """
        with self._lock:
            self._times[topic, partition] = time

    def safe_time(self, topic: str, partition: int, time: int) -> int:
        """Find the time up to which all partitions are done when a call ends.

        Args:
            topic: The topic.
            partition: The number of the call's partition.
            time: Where the call ends, in milliseconds since 1970.

        Returns:
            Milliseconds since 1970.
        """
        with self._lock:
            others = [each for key, each in self._times.items() if key != (topic, partition)]
            return min(*self._asked.values(), *others, time) if others or self._asked else time

    def finish(self, topic: str, partition: int) -> None:
        """Note that a partition is read to its end.

        Args:
            topic: The topic.
            partition: The partition's number.
        """
        with self._lock:
            self._times.pop((topic, partition), None)


class ReaderPool:
    """The readers of a process between calls, and their progress. It is thread-safe.

    Args:
        settings: The cluster.
        patience: How many seconds a broker may be away.

    Attributes:
        made: When the pool was made, in seconds since 1970.
        progress: How far each partition is.
    """

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
        """Remove a user; the last one closes all consumers."""
        with self._lock:
            self._users -= 1
            if self._users:
                return
            closing, self._waiting = list(self._waiting.values()), {}
        for each in (*closing, self._ends):
            each.close()

    @contextmanager
    def reader(self, topic: str, partition: int) -> Iterator[PartitionReader]:
        """Lend a partition's reader to one thread.

        The reader goes back into the pool after the block; it is closed where the block raises.

        Args:
            topic: The topic.
            partition: The partition's number.

        Yields:
            The reader.
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
        """Count the records after an offset, as the broker last said, without a request.

        Args:
            topic: The topic.
            partition: The partition's number.
            position: The offset.

        Returns:
            The number of records; 1 where nothing is known.
        """
        with self._lock:
            reader = self._waiting.get((topic, partition))
        end = reader.known_end() if reader is not None else None
        return 1 if end is None else max(end - position, 0)
