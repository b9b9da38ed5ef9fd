"""The driver of `evenflow stream`: starts the graph on a runner, commits panes beside it, and
stops in order.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import apache_beam as beam

from evenflow.gates.ledger.history import History
from evenflow.gates.lock import OutputLock
from evenflow.pipelines.files.driver import Outcome, RunError, begin, note, settings
from evenflow.pipelines.files.graph import GraphPlace
from evenflow.pipelines.panes import commit
from evenflow.pipelines.stream import graph as stream
from evenflow.pipelines.stream.publish import Topics, identity, messages
from evenflow.pipelines.stream.runner import in_process, on_runner, quiet
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.kafka import records as kafka_records
from evenflow.transforms.kafka.client import AGAIN_SECONDS, PATIENCE_SECONDS
from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.errors import UnreachableError
from evenflow.transforms.kafka.offsets import GroupOffsets, compare
from evenflow.transforms.kafka.options import Source
from evenflow.transforms.kafka.output import PanePublisher
from evenflow.transforms.kafka.panes import PaneCutter
from evenflow.transforms.kafka.proof import ProofTopic
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.wordlists import loader
from evenflow.wordlists.loader import WordList

Done = TypeVar("Done")
LOOK_SECONDS = 0.1  # between two looks for panes that are whole: small beside the span of a pane
# That a broker may take to answer at the start; later it may be away for PATIENCE_SECONDS
START_SECONDS = 15.0


@dataclass(frozen=True)
class Stream:
    """What is read.

    pane_seconds: span of a pane. values: JSON objects, or texts with the key as id. until_end: stop
    at the end offsets of the start. max_panes: stop after as many. group: where offsets are
    committed for others to see. publish: topics that the committed panes go to, which needs a
    group. publish_from: the first pane to publish where no proof says it.
    """

    settings: KafkaSettings
    topic: str
    pane_seconds: float = 60.0
    values: kafka_records.Values = "json"
    until_end: bool = False
    max_panes: int | None = None
    group: str | None = None
    publish: Topics = field(default_factory=Topics)
    publish_from: int | None = None

    def cutter(self, config: Config, partitions: int) -> PaneCutter:
        """Cuts panes by time, and parts by bytes so that a burst makes no pane without end:
        pane.mib is the pane's, and each partition has an equal part of it."""
        return PaneCutter(
            int(self.pane_seconds * 1000), max((config.pane.mib << 20) // max(partitions, 1), 1)
        )


@dataclass
class StreamRun:
    """One run of the gate on a topic. options: of Beam's runner; none: in this process, which reads
    to the end only.

    stop: set it (from a signal) to stop after the pane in hand. on_pane: called after each commit
    with its seconds. on_note: called with what a user should know. debug: what Beam, its runner and
    kafka-python log and print is let through.
    """

    stream: Stream
    output: Path
    config: Config
    options: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    on_pane: Callable[[PaneEntry, float], None] = lambda entry, seconds: None
    on_note: Callable[[str], None] = lambda text: None
    debug: bool = False

    def go(self) -> Outcome:
        """Run until the end, stop, or an error.

        Raises RunError, RunnerError, GapError, KafkaSourceError, OSError, LedgerError, LockedError,
        WordListError, SuiteError.
        """
        if not self.options and not self.stream.until_end:
            raise RunError(
                "reading for ever needs a runner that fires panes while it reads: give --runner"
                " prism or flink"
            )
        lists = [
            loader.load(each.wordlist or name) for name, each in self.config.attributes.items()
        ]
        with quiet(self.on_note) if not self.debug else contextlib.nullcontext():
            partitions = self._find(self.stream.topic)
            for topic in self.stream.publish.names:
                self._find(topic)
            return self._go(lists, self.stream.cutter(self.config, partitions))

    def _go(self, lists: list[WordList], cutter: PaneCutter) -> Outcome:
        commit.make_folders(self.output)
        with OutputLock(self.output):
            given = stream.source_settings(
                self.config, self.stream.topic, self.stream.pane_seconds, self.stream.values
            )
            record = settings(self.config, lists, given)
            begun = begin(self.output, record, self.config, lists)
            if begun.note:
                self.on_note(begun.note)
            entries = begun.entries
            commit.clear_leftovers(self.output, len(entries))
            committer = commit.Committer(self.output, self.config, lists, entries, begun.epoch)
            done = len(entries)
            place = GraphPlace(self.config.model_dump(), str(self.output / "staged"))
            annotator = place.workshop().annotator
            panes = stream.StreamCommitter(
                self.output,
                self.stream.topic,
                committer,
                annotator,
                after_commit=self._follow(entries, annotator),
                on_pane=self.on_pane,
            )
            held = panes.hold()
            if held:
                self.on_note(f"the gate is held: {held}")
            committer.prepare()  # it takes seconds, for which the first pane need not wait
            self._run(panes, place, done, cutter)
            committer.finish()
            commit.clear_staged(self.output)
            (self.output / "gate" / stream.HELD).unlink(missing_ok=True)
            # A topic has no end: there may be more tomorrow
            note(self.output, record, self.config, finished=False)
            return Outcome(entries, len(entries) - done, committer.held())

    def _run(
        self, panes: stream.StreamCommitter, place: GraphPlace, done: int, cutter: PaneCutter
    ) -> None:
        source = Source(
            self.stream.settings,
            (self.stream.topic,),
            cutter,
            stream.StageItems(place, self.stream.values),
            stream.starts(panes.committer.entries.totals, self.stream.topic, cutter),
            stream.HeldFile(str(self.output / "gate" / stream.HELD)),
        )
        entries = panes.committer.entries

        def enough() -> bool:
            most = self.stream.max_panes
            return self.stop.is_set() or (most is not None and len(entries) - done >= most)

        with self._pipeline(source, place) as state:
            while not enough():
                ended = state()
                panes.hold()
                panes.commit_whole(enough)
                if ended:
                    return
                self.stop.wait(LOOK_SECONDS)

    def _pipeline(
        self, source: Source, place: GraphPlace
    ) -> contextlib.AbstractContextManager[Callable[[], bool]]:
        """The graph on its runner; see `stream_engine`."""
        workshop = place.workshop()

        def draw(pipeline: beam.Pipeline) -> None:
            stream.graph(pipeline, source, place, self.stream.until_end)

        if not self.options:
            return in_process(draw, lambda: workshop.failure)
        options = [*self.options, *([] if self.stream.until_end else ["--streaming"])]
        return on_runner(draw, options, lambda: workshop.failure)

    def _find(self, topic: str) -> int:
        """See that a topic is there, before anything is written: a name given wrong must not be
        noted in a ledger. How many partitions it has.

        Raises KafkaSourceError.
        """
        until = time.monotonic() + START_SECONDS
        said = False
        while True:
            try:
                return Cluster(self.stream.settings).partitions(topic)
            except UnreachableError as error:
                if time.monotonic() > until or self.stop.is_set():
                    raise
                if not said:
                    self.on_note(f"{error}; trying on for {START_SECONDS:.0f} s")
                    said = True
                self.stop.wait(AGAIN_SECONDS)

    def _follow(self, entries: History, annotator: Annotator) -> Callable[[PaneEntry], None]:
        """What is done after each entry: publish the pane, or commit its offsets, or nothing.
        Catches up first.
        """
        if self.stream.group is None:
            return lambda entry: None
        topic = self.stream.topic
        positions = {
            (topic, partition): each.next
            for partition, each in stream.positions(entries.totals).items()
        }
        offsets = GroupOffsets(self.stream.settings, self.stream.group)
        for difference in compare(positions, offsets.committed(positions)):
            self.on_note(f"group {self.stream.group}: {difference}")
        if not self.stream.publish:
            return lambda entry: self._patiently(
                lambda again: offsets.commit(_ends(entry, topic), entry.pane)
            )
        publisher, publish = self._publisher(entries, annotator)
        first = self._patiently(
            lambda again: publisher.begin(len(entries), self.stream.publish_from)
        )
        for entry in entries[first:]:
            publish(entry)
        return publish

    def _publisher(
        self, entries: Sequence[PaneEntry], annotator: Annotator
    ) -> tuple[PanePublisher, Callable[[PaneEntry], None]]:
        """The publisher, and how it publishes the pane of an entry."""
        stream_, kafka = self.stream, self.config.kafka
        assert stream_.group is not None
        proofs = ProofTopic(stream_.settings, kafka.proof_topic)
        proofs.prepare()
        topics = stream_.publish.names
        ledger = identity(self.output)
        publisher = PanePublisher(
            stream_.settings,
            stream_.group,
            proofs,
            ledger,
            stream_.topic,
            topics,
            kafka.delivery_seconds,
            kafka.compression,
            stream_.publish.dead_letters,
            self.on_note,
        )

        def once(entry: PaneEntry, again: bool) -> None:
            if again and publisher.begin(len(entries)) > entry.pane:
                return  # the answer was lost, not the transaction
            records = messages(
                self.output, entry, stream_.publish, self.config.fields.id, annotator.own
            )
            publisher.publish(entry.pane, records, _ends(entry, stream_.topic))

        return publisher, lambda entry: self._patiently(lambda again: once(entry, again))

    def _patiently(self, do: Callable[[bool], Done]) -> Done:
        """do(again), tried again while no broker answers: nothing can be read meanwhile, and the
        ledger stands.
        """
        since, again = time.monotonic(), False
        while True:
            try:
                return do(again)
            except UnreachableError as error:
                if self.stop.is_set() or time.monotonic() - since > PATIENCE_SECONDS:
                    raise
                if not again:
                    self.on_note(f"{error}; trying on")
                again = True
                self.stop.wait(AGAIN_SECONDS)


def _ends(entry: PaneEntry, topic: str) -> dict[tuple[str, int], int]:
    """Next offsets of the partitions that a pane holds records of."""
    return {
        (topic, int(key)): each.next
        for key, each in (entry.stream.positions if entry.stream else {}).items()
    }
