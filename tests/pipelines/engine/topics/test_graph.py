"""The graph gives out each pane that is noted, once, and ends when its driver has ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from apache_beam.io.restriction_trackers import OffsetRange

from evenflow.pipelines.engine.make import GraphContext
from evenflow.pipelines.engine.panes.closing import Staging
from evenflow.pipelines.engine.runners import making
from evenflow.pipelines.engine.topics import graph
from evenflow.pipelines.engine.topics.graph import LAST, GivePanes
from evenflow.pipelines.engine.topics.reading import TopicReads
from evenflow.pipelines.engine.topics.source import TopicPane, cut_name
from evenflow.schemas.config import load
from evenflow.transforms.kafka.panes import OffsetRange as Range
from evenflow.transforms.kafka.panes import PaneId
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.storage.storage import at


class Tracker:
    """A tracker that notes what is claimed and whether the rest is deferred."""

    def __init__(self, restriction: OffsetRange):
        self._tracker = GivePanes(None).create_tracker(restriction)  # type: ignore[arg-type]
        self.deferred = False

    def current_restriction(self) -> OffsetRange:
        """The range."""
        return self._tracker.current_restriction()

    def try_claim(self, number: int) -> bool:
        """Claim a number."""
        return self._tracker.try_claim(number)

    def defer_remainder(self) -> None:
        """Go on later."""
        self.deferred = True

    def check_done(self) -> Any:
        """Whether nothing is left."""
        return self._tracker.check_done()


def test_panes_are_given_as_they_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output, now = at(tmp_path), [0.0]
    monkeypatch.setattr(graph.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(graph.time, "sleep", lambda seconds: now.append(now.pop() + seconds))
    staging = Staging(output, "run")
    reads = TopicReads(KafkaSettings("h:1"), "t", "json")
    step = GivePanes(GraphContext(load(None).model_dump(), staging, reads))

    def given(first: int) -> tuple[list[int], Tracker]:
        tracker = Tracker(OffsetRange(first, LAST))
        return [pane.number for pane in step.process(0, tracker)], tracker

    def tell(following: int) -> None:
        state = {"next": following, "wait": False, "format": making.FORMAT}
        output.write(staging.name(making.STATE), orjson.dumps(state))

    tell(3)
    panes = [TopicPane(n, PaneId(n, 0), (Range(0, n, n + 1),), 1000) for n in range(3, 6)]
    for pane in panes:
        assert output.create(cut_name(pane.number), pane.note())
        assert TopicPane.read(pane.number, pane.note()) == pane
    found, tracker = given(0)  # as after a restart of the job
    assert found == [3, 4, 5] and tracker.deferred
    found, tracker = given(6)
    assert found == [] and tracker.deferred and now[0] >= graph.GIVE_SECONDS
    output.remove([staging.name(making.STATE)])
    found, tracker = given(6)
    assert found == [] and not tracker.deferred
    tracker.check_done()
