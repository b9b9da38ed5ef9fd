"""Asks Kafka which partitions a topic has, again and again while it is read."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from evenflow.transforms.kafka.client import PATIENCE_SECONDS
from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.errors import UnreachableError
from evenflow.transforms.kafka.panes import END, PaneCutter, PaneId, Start

COUNT_SECONDS = 5.0  # between two counts of what is not committed yet
WATCH_SECONDS = 1.0  # between two questions: panes are whole this long after their span at least


class TopicWatch:
    """The partitions of a topic, as they are known.

    `stops`: Where each partition ends; None: they have no end. `ends`: The offset after the last
    record of each partition, a few seconds ago.
    """

    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        cutter: PaneCutter,
        stops: list[int] | None,
        count: bool = False,
    ):
        self._cluster, self._topic, self._cutter, self._count = cluster, topic, cutter, count
        self._failure: Exception | None = None
        self._asked = time.time()
        self._answered = time.monotonic()
        found = cluster.bounds(topic, 0)[: None if stops is None else len(stops)]
        # Partitions found at the start may hold records of any age
        self.firsts = [Start(first, cutter.start()) for first, _ in found]
        self.ends = [end for _, end in found] if stops is None else stops
        self._counted, self.stops = self._asked, stops

    @property
    def until(self) -> PaneId:
        """See the attributes."""
        if self.stops is not None:
            return END
        return PaneId(self._cutter.span(int(self._asked * 1000)), 0)

    def silence(self) -> float:
        """Return for how many seconds the topic has not answered; 0 where it is asked once."""
        return 0.0 if self.stops is not None else time.monotonic() - self._answered

    def check(self) -> None:
        """Raise what a question has failed with, if it did: a KafkaSourceError."""
        if self._failure is not None:
            raise self._failure

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Ask again and again during the with-block, from a thread of its own."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(WATCH_SECONDS):
                try:
                    self._ask()
                except Exception as error:
                    self._failure = error
                    return

        if self.stops is None:
            threading.Thread(target=watch, daemon=True).start()
        try:
            yield
        finally:
            ended.set()

    def _ask(self) -> None:
        """Ask for new partitions, and now and then for the ends of all. Raises KafkaSourceError."""
        now = time.time()
        try:
            found = self._cluster.bounds(self._topic, len(self.firsts))
            if self._count and not 0 <= now - self._counted < COUNT_SECONDS:
                self.ends = [end for _, end in self._cluster.bounds(self._topic, 0)]
                self._counted = now
        except UnreachableError:
            if self.silence() > PATIENCE_SECONDS:
                raise
            return
        # New partitions are younger than the last question
        self.firsts = [
            *self.firsts,
            *(Start(first, self._cutter.start(int(self._asked * 1000))) for first, _ in found),
        ]
        self._asked = now
        self._answered = time.monotonic()
