"""Panes are cut at the offsets of times, once each record and in order, and noted before use."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.gates.ledger.history import History
from evenflow.pipelines.engine.topics import source as cutting
from evenflow.pipelines.engine.topics.source import TopicPane, TopicSource, cut_name
from evenflow.schemas.config import load
from evenflow.schemas.ledger import Position
from evenflow.transforms.kafka.errors import BeyondEndError, UnreachableError
from evenflow.transforms.kafka.lookups import Found, Lookups
from evenflow.transforms.kafka.panes import FUTURE_MS, PaneId
from evenflow.transforms.storage.storage import Storage, at

SPAN = 1000
NOW = 1_700_000_000_000  # in milliseconds, a multiple of SPAN


class Topic:
    """Partitions as lists of timestamps; it stands for what asks a broker."""

    topic = "t"

    def __init__(self, *logs: list[int]):
        self.logs = [list(log) for log in logs]
        self.away = False
        self.questions = 0

    def firsts(self, partitions: Iterator[int]) -> dict[int, int]:
        """Logs begin at 0."""
        return dict.fromkeys(partitions, 0)

    def ends(self, partitions: Iterator[int]) -> dict[int, int]:
        """Numbers of records."""
        self.questions += 1
        if self.away:
            raise UnreachableError("nobody listens")
        return {each: len(self.logs[each]) for each in partitions}

    def since(self, time: int, partitions: Iterator[int]) -> dict[int, Found]:
        """As a broker looks a time up: the first record whose own timestamp reaches it."""
        out = {}
        for each in partitions:
            log = self.logs[each]
            found = next((i for i, own in enumerate(log) if own >= time), None)
            if found is not None:
                out[each] = Found(found, log[found])
        return out


class Gate:
    """An output whose panes are committed as a test says."""

    def __init__(self, output: Storage, topic: Topic, docs: int | None = None):
        self.output, self.topic, self.docs = output, topic, docs
        self.clock = NOW / 1000
        self.entries: list[TopicPane] = []

    def source(self, stops: list[int] | None = None) -> TopicSource:
        """A source that goes on from what is committed."""
        last = self.entries[-1].id if self.entries else None
        known = {
            str(each.partition): Position(next=each.next, time=0)
            for pane in self.entries
            for each in pane.ranges
        }
        totals = SimpleNamespace(positions=known, stream=last)
        entries = cast(History, _Entries(len(self.entries), totals))
        return TopicSource(
            self.output,
            entries,
            cast(Lookups, self.topic),
            lambda: len(self.topic.logs),
            SPAN,
            load(None, {} if self.docs is None else {"pane.docs": self.docs}),
            stops,
            clock=lambda: self.clock,
        )

    def commit(self, source: TopicSource, pane: TopicPane) -> None:
        """Commit a pane."""
        self.entries.append(pane)
        source.committed(pane.number)


class _Entries:
    """What a source asks of a ledger."""

    def __init__(self, length: int, totals: Any):
        self._length, self.totals = length, totals

    def __len__(self) -> int:
        return self._length


def spans(panes: list[TopicPane]) -> dict[tuple[int, int], int]:
    """The start of the span that each record is in, by partition and offset."""
    found: dict[tuple[int, int], int] = {}
    for pane in panes:
        for part in pane.ranges:
            for offset in range(part.first, part.next):
                assert (part.partition, offset) not in found
                found[part.partition, offset] = pane.id.span
    return found


logs = st.lists(st.lists(st.integers(0, 9000), max_size=25), min_size=1, max_size=3)


@given(logs, st.sampled_from([None, 1, 3, 7]), st.data())
@settings(max_examples=150, deadline=None)
def test_each_record_is_in_the_span_of_its_effective_time_whatever_restarts(
    given_: list[list[int]], docs: int | None, data: st.DataObject
) -> None:
    topic = Topic(*([NOW - 10_000 + each for each in log] for log in given_))
    gate = Gate(at(f"memory://{uuid4().hex}"), topic, docs)
    stops = [len(log) for log in topic.logs]
    source = gate.source(stops)
    panes = source.panes()
    while (pane := next(panes, None)) is not None:
        gate.commit(source, pane)
        if docs is not None:
            assert sum(each.next - each.first for each in pane.ranges) <= docs
        if data.draw(st.booleans()):
            source = gate.source(stops)
            panes = source.panes()
    found = spans(gate.entries)
    for number, log in enumerate(topic.logs):
        times = list(accumulate(log, max))
        assert [found[number, i] for i in range(len(log))] == [t - t % SPAN for t in times]
    ids = [pane.id for pane in gate.entries]
    assert ids == sorted(set(ids))
    whole = Gate(at(f"memory://{uuid4().hex}"), topic, docs)
    assert [each.ranges for each in whole.source(stops).panes() if each] == [
        each.ranges for each in gate.entries
    ]


def test_a_quiet_partition_is_waited_for_until_the_grace_is_over(tmp_path: Path) -> None:
    topic = Topic([NOW + 10], [])
    gate = Gate(at(tmp_path), topic)
    panes = gate.source().panes()
    for later, due in ((0.5, False), (1.5, False), (2.9, False), (3.1, True)):
        gate.clock = NOW / 1000 + later
        pane = next(panes)
        assert (pane is not None) == due
    assert pane is not None and pane.id == PaneId(NOW, 0) and len(pane.ranges) == 1
    topic.logs[1].append(NOW + 500)  # too late for its span
    topic.logs[0].append(NOW + 4500)
    gate.clock += 10
    assert next(panes) is not None


def test_no_partition_is_waited_for_that_has_a_record_of_a_later_span(tmp_path: Path) -> None:
    topic = Topic([NOW + 10, NOW + 1000], [NOW + 1500, NOW + 20])
    pane = next(Gate(at(tmp_path), topic).source().panes())
    assert pane is not None and pane.id.span == NOW
    assert [tuple(each) for each in pane.ranges] == [(0, 0, 1)]


def test_a_time_far_ahead_counts_as_none(tmp_path: Path) -> None:
    topic = Topic([NOW - 5000, NOW + FUTURE_MS + 5000, NOW - 4900])
    panes = Gate(at(tmp_path), topic).source().panes()
    pane = next(panes)
    assert pane is not None and pane.id.span == NOW - 5000
    assert [tuple(each) for each in pane.ranges] == [(0, 0, 3)]


def test_old_records_of_a_topic_that_was_read_are_in_the_present_span(tmp_path: Path) -> None:
    topic = Topic([NOW - 50_000])
    gate = Gate(at(tmp_path), topic)
    source = gate.source()
    panes = source.panes()
    first = next(panes)
    assert first is not None and first.id.span == NOW - 50_000
    assert next(panes) is None
    topic.logs[0] += [NOW - 49_000, NOW - 20_000]
    assert next(panes) is None
    gate.clock += 5
    pane = next(panes)
    assert pane is not None and NOW - 4000 <= pane.id.span <= NOW
    assert [tuple(each) for each in pane.ranges] == [(0, 1, 3)]


def test_what_is_noted_is_read_again_though_more_records_came(tmp_path: Path) -> None:
    topic = Topic([NOW - 5000, NOW - 4990], [])
    gate = Gate(at(tmp_path), topic, docs=1)
    panes = gate.source().panes()
    cut = [next(panes), next(panes)]
    topic.logs[1] += [NOW - 4995]  # of a quiet partition, late
    panes = gate.source().panes()
    assert [next(panes), next(panes)] == cut
    third = next(panes)
    assert third is not None and [tuple(each) for each in third.ranges] == [(1, 0, 1)]


def test_a_note_that_does_not_go_on_is_that_of_a_run_that_lost_the_lease(tmp_path: Path) -> None:
    topic = Topic([NOW - 5000, NOW - 3000])
    gate = Gate(at(tmp_path), topic)
    source = gate.source()
    panes = source.panes()
    first = next(panes)
    assert first is not None
    foreign = TopicPane.read(1, first.note().replace(b"[0,0,1]", b"[0,7,9]"))
    gate.output.create(cut_name(1), foreign.note())
    second = next(panes) or next(panes)
    assert second is not None and [tuple(each) for each in second.ranges] == [(0, 1, 2)]
    assert source.was_given(1, [SimpleNamespace(first=1, last=1)])  # type: ignore[list-item]
    assert not source.was_given(1, [SimpleNamespace(first=7, last=8)])  # type: ignore[list-item]


def test_a_broker_that_was_away_has_time_for_its_producers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(cutting, "time", SimpleNamespace(monotonic=lambda: now[0]))
    topic = Topic([NOW + 10])
    gate = Gate(at(tmp_path), topic)
    source = gate.source()
    panes = source.panes()
    assert next(panes) is None
    topic.away = True
    for _ in range(20):
        now[0] += 1.0
        assert next(panes) is None
    assert source.silence() == 19.0
    topic.away = False
    gate.clock += 20
    assert next(panes) is None and source.silence() == 0.0
    now[0] += 10.0
    assert next(panes) is None
    now[0] += 10.0
    assert next(panes) is not None


def test_a_log_that_ends_before_what_is_due_is_an_error(tmp_path: Path) -> None:
    topic = Topic([NOW - 5000, NOW - 3000])
    gate = Gate(at(tmp_path), topic)
    source = gate.source()
    panes = source.panes()
    while (pane := next(panes)) is not None:
        gate.commit(source, pane)
    topic.logs[0].clear()
    with pytest.raises(BeyondEndError, match="t partition 0: offset 2 is due"):
        next(panes)


def test_an_idle_look_asks_for_the_ends_alone(tmp_path: Path) -> None:
    topic = Topic([], [])
    panes = Gate(at(tmp_path), topic).source().panes()
    assert [next(panes) for _ in range(100)] == [None] * 100
    assert topic.questions == 100


def test_what_is_cut_and_not_committed_is_backlog(tmp_path: Path) -> None:
    topic = Topic([NOW + 10, NOW + 1000], [NOW + 1500, NOW + 2500])
    gate = Gate(at(tmp_path), topic)
    gate.clock += 10
    source = gate.source()
    cut = [pane for pane, _ in zip(source.panes(), range(3), strict=False) if pane is not None]
    assert source.backlog() == {0: 2, 1: 2} and len(cut) > 1
    again = gate.source()  # what is noted and not committed, after a restart
    next(again.panes())
    again.look()
    assert again.backlog() == {0: 2, 1: 2}
    gate.commit(source, cut[0])
    assert sum(source.backlog().values()) == 3
