"""What a topic's watch does while no broker answers."""

from __future__ import annotations

import time
from typing import Any

import pytest

from evenflow.pipelines.engine.stream import watching
from evenflow.transforms.kafka.client import PATIENCE_SECONDS
from evenflow.transforms.kafka.errors import UnreachableError
from evenflow.transforms.kafka.panes import PaneCutter


class Cluster:
    """A cluster that answers once."""

    asked = 0

    def bounds(self, topic: str, first: int) -> list[tuple[int, int]]:
        """The partitions' first offsets and ends."""
        self.asked += 1
        if self.asked > 1:
            raise UnreachableError("nobody listens")
        return [(0, 5)]


class Clock:
    """Stands for the module `time`: the time of day jumps, the monotonic clock goes as told."""

    day = passed = 0.0

    def time(self) -> float:
        """Seconds since 1970."""
        return time.time() + self.day

    def monotonic(self) -> float:
        """Seconds."""
        return self.passed


def test_a_broker_that_is_away_is_waited_for_by_a_clock_that_does_not_jump(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, cluster = Clock(), Cluster()
    monkeypatch.setattr(watching, "time", clock)
    monkeypatch.setattr(watching, "WATCH_SECONDS", 0.01)
    given: Any = cluster
    watch = watching.TopicWatch(given, "t", PaneCutter(), None)
    with watch.watching():
        clock.day = 10 * PATIENCE_SECONDS
        before = cluster.asked
        while cluster.asked < before + 3:
            watch.check()
            time.sleep(0.01)
        clock.passed = PATIENCE_SECONDS + 1
        with pytest.raises(UnreachableError):
            while True:
                watch.check()
                time.sleep(0.01)
