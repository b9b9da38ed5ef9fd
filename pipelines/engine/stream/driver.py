"""The driver of `evenflow stream`: runs the graph, commits panes beside it, stops in order."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from evenflow.gates.lease import Lease
from evenflow.gates.ledger import files as ledger
from evenflow.gates.ledger.history import History
from evenflow.pipelines.engine.files import workers
from evenflow.pipelines.engine.files.driver import begin, settings, write_meta
from evenflow.pipelines.engine.files.making import GraphContext
from evenflow.pipelines.engine.panes import commit
from evenflow.pipelines.engine.panes.closing import Staging
from evenflow.pipelines.engine.runners import WorkerError
from evenflow.pipelines.engine.runners.quiet import quiet
from evenflow.pipelines.engine.stream import local
from evenflow.pipelines.engine.stream.committing import StreamCommitter, board, positions
from evenflow.pipelines.engine.stream.desk import Desk
from evenflow.pipelines.engine.stream.publish import Topics, identity, messages
from evenflow.pipelines.engine.stream.reader import Reads
from evenflow.pipelines.engine.stream.watching import TopicWatch
from evenflow.pipelines.terminal.outcome import Observer, Outcome
from evenflow.schemas.config import Config, ConfigError
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.kafka import records as kafka_records
from evenflow.transforms.kafka.client import AGAIN_SECONDS, PATIENCE_SECONDS
from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.errors import UnreachableError
from evenflow.transforms.kafka.offsets import GroupOffsets, compare
from evenflow.transforms.kafka.output import PanePublisher
from evenflow.transforms.kafka.panes import PaneCutter
from evenflow.transforms.kafka.proof import ProofTopic
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.kafka.topics import KnownTopic, TopicFacts, decided_ends
from evenflow.transforms.measures import registry
from evenflow.transforms.storage.storage import Place, at
from evenflow.wordlists.loader import WordList

Done = TypeVar("Done")
LOOK_SECONDS = 0.1  # between two looks for whole panes: short compared to the span of a pane
STORE_LOOK_SECONDS = 0.5  # in an object store, where a look costs two requests
END_SECONDS = 5.0  # for the graph to end by itself; then it is cancelled
# Time for a broker to answer at the start; later it may be away for PATIENCE_SECONDS
START_SECONDS = 15.0


@dataclass(frozen=True)
class Stream:
    """What is read from Kafka, and what is written to it.

    Attributes:
        pane_seconds: Span of a pane in seconds.
        values: What a record's value is: a JSON object, or a text with the key as its id.
        until_end: Whether to stop at the end offsets of the start.
        max_panes: Stop after as many panes; None: no limit.
        group: The consumer group whose offsets are committed, for others to see; None: none.
        publish: Topics that committed panes go to; they need a group.
        publish_from: The first pane to publish where no proof of an earlier one is found.
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
        """Return what cuts panes by time, and by bytes so that a burst makes no endless pane."""
        return PaneCutter(
            int(self.pane_seconds * 1000), max((config.pane.mib << 20) // max(partitions, 1), 1)
        )

    def record(self, config: Config) -> dict[str, Any]:
        """Return the settings of a stream that a continued run must not change."""
        return {
            "stream": {
                "topic": self.topic,
                "pane_seconds": self.pane_seconds,
                "pane_mib": config.pane.mib,
                "values": self.values,
            }
        }


@dataclass
class StreamRun:
    """One run of the gate on a topic.

    Attributes:
        output: The output: a directory, or an address in a store.
        options: Of Beam's runner; none: this machine reads, without Beam.
        workers: Number of processes that close panes, and without a runner of as many more that
            read; 1: this one does both.
        standby: Wait for as long as another run writes to the output.
        observer: Hears how the run goes on.
        debug: Whether what Beam, its runner and kafka-python log and print is shown.
    """

    stream: Stream
    output: Place
    config: Config
    options: list[str] = field(default_factory=list)
    workers: int = 1
    standby: bool = False
    observer: Observer = field(default_factory=Observer)
    debug: bool = False

    def __post_init__(self) -> None:
        """Take a path for the storage there."""
        self.output = at(self.output)

    def go(self) -> Outcome:
        """Run until the end, or for ever.

        Raises:
            FencedError: Another run has taken over the output.
            RunError: The output was begun with other settings.
            WorkerError: A worker process died, or the runner failed.
            KafkaSourceError: Kafka cannot be read or written.
            LedgerError: The ledger is damaged.
            LockedError: Another run writes to the output.
            WordListError: A word list cannot be used.
            SuiteError: The user's suite of checks cannot be used.
            OSError: A file cannot be read or written.
            ConfigError: Texts of parts are to be published.
        """
        if self.config.fields.paths is not None and self.stream.publish.accepted is not None:
            raise ConfigError("fields.text: texts of parts cannot be published to a topic yet")
        lists = self.config.word_lists()
        registry.look(self.config, self.observer.note)
        with quiet(self.observer.note) if not self.debug else contextlib.nullcontext():
            partitions = self._find(self.stream.topic)
            for topic in self.stream.publish.names:
                self._find(topic)
            return self._go(lists, self.stream.cutter(self.config, partitions))

    def _go(self, lists: list[WordList], cutter: PaneCutter) -> Outcome:
        """Run once the topics were found."""
        note = self.observer.note
        commit.make_folders(self.output)
        lease = Lease(self.output, self.standby, note)
        if self.observer.health is not None:
            self.observer.health.lease = lease
        with lease, contextlib.ExitStack() as beside:
            record = settings(self.config, lists, self.stream.record(self.config))
            start = begin(self.output, lease, record, self.config, lists)
            for text in start.notes:
                note(text)
            entries = start.entries
            topic = beside.enter_context(contextlib.closing(self._known(entries)))

            def same_topic() -> None:
                self._patiently(lambda again: topic.check())

            same_topic()
            write_meta(self.output, record, self.config, False, topic=topic.facts._asdict())
            committer = commit.Committer(
                self.output, self.config, lists, entries, lease, start.epoch, note
            )
            done = len(entries)
            staging = Staging(at(self.output), lease.run)
            context = GraphContext(self.config.model_dump(), staging, threads=self.workers)
            reads = Reads(
                self.stream.settings,
                self.stream.topic,
                cutter,
                self.stream.values,
                staging.output.below(staging.name("")),
                publishes=self.stream.publish.accepted is not None,
            )
            annotator = context.worker().annotator
            panes = StreamCommitter(
                context,
                self.stream.topic,
                Desk(reads.run, board(entries.totals), cutter),
                committer,
                workers.pool(self.workers),
                1 if self.workers == 1 else workers.AHEAD * self.workers,
                same_topic,
                after_commit=self._follow(entries, annotator),
                on_pane=self.observer.pane,
            )
            if self.workers == 1 or committer.closes:
                _ = context.worker().checks  # made now: the first pane need not wait for seconds
            if held := panes.hold():
                note(f"the gate is held: {held}")
            unread = self._run(panes, reads, context, done)
            committer.finish()
            with contextlib.suppress(OSError):  # a reader that was left behind may still write
                commit.clear_staged(self.output, lease.run)
            # A topic has no end: more records may come
            write_meta(self.output, record, self.config, False, topic=topic.facts._asdict())
            return Outcome(entries, len(entries) - done, committer.held(), unread)

    def _known(self, entries: History) -> KnownTopic:
        """The topic, with what the ledger has of it."""
        noted = TopicFacts.read((ledger.read_meta(self.output) or {}).get("topic"))
        read = 1 + max(positions(entries.totals), default=-1)
        known = TopicFacts(noted.id, max(noted.partitions, read))
        return KnownTopic(self.stream.settings, self.stream.topic, known)

    def _stops(self) -> tuple[list[int] | None, str | None]:
        """Where the topic is read to, and what is hidden there; None: it is read on and on."""
        if not self.stream.until_end:
            return None, None
        settings, topic = self.stream.settings, self.stream.topic
        return decided_ends(
            settings, topic, Cluster(settings).partitions(topic), self.observer.note
        )

    def _run(
        self, panes: StreamCommitter, reads: Reads, context: GraphContext, done: int
    ) -> str | None:
        """Read and commit panes until all is read or there are enough; returns what is hidden."""
        entries, desk, to_end = panes.committer.entries, panes.desk, self.stream.until_end
        look = (
            LOOK_SECONDS if panes.context.staging.output.local is not None else STORE_LOOK_SECONDS
        )
        stops, hidden = self._stops()
        watch = TopicWatch(
            Cluster(self.stream.settings),
            self.stream.topic,
            reads.cutter,
            stops,
            count=self.observer.backlog is not None,
        )
        if self.observer.health is not None:
            self.observer.health.silence = watch.silence

        def enough() -> bool:
            most = self.stream.max_panes
            return most is not None and len(entries) - done >= most

        if self.options:
            readers = self._on_runner(reads, context, len(watch.firsts))
        else:
            readers = local.reading(reads, context, self.workers, self.observer.note)
        with watch.watching(), readers as has_ended:
            try:
                while not enough():
                    ended = has_ended()
                    if ended:  # perhaps since a run that took over has deleted what readers look at
                        panes.committer.check()
                    watch.check()
                    until, firsts = watch.until, watch.firsts  # in this order
                    desk.share(firsts, watch.stops)
                    held = panes.hold()
                    panes.commit_whole(len(firsts), until, enough)
                    if self.observer.backlog is not None:
                        waiting = panes.waiting or desk.board.waiting
                        self.observer.backlog(panes.backlog(firsts, watch.ends), waiting)
                    over = ended or (to_end and (held or desk.board.ended(len(firsts))))
                    if over and (held or not panes.waiting):
                        break
                    time.sleep(look)
            except FileNotFoundError:  # as above: of staged blocks
                panes.committer.check()
                raise
            finally:
                desk.close()
                panes.close()
            _wait(has_ended)
        return hidden

    @contextlib.contextmanager
    def _on_runner(
        self, reads: Reads, context: GraphContext, partitions: int
    ) -> Iterator[Callable[[], bool]]:
        """The graph on its runner; see `runner`."""
        # Imported here: Beam takes most of a second, which a run on this machine need not wait for
        from evenflow.pipelines.engine.runners import runner
        from evenflow.pipelines.engine.stream import graph
        from evenflow.pipelines.engine.stream.explaining import explained

        readers = max(partitions, 1)

        def draw(pipeline: Any) -> None:
            graph.build_graph(pipeline, reads, context, readers)

        def explain(error: BaseException) -> Exception:
            return context.failure() or explained(error)

        options = [*self.options, "--streaming"]
        with contextlib.ExitStack() as beside:
            if not self.debug:
                beside.enter_context(runner.silent_workers())
            yield beside.enter_context(runner.on_runner(draw, options, explain, self.observer.note))

    def _find(self, topic: str) -> int:
        """The number of partitions of a topic.

        It is asked before anything is written, so that no ledger notes a wrong name. Raises
        KafkaSourceError.
        """
        until = time.monotonic() + START_SECONDS
        noted = False
        while True:
            try:
                return Cluster(self.stream.settings).partitions(topic)
            except UnreachableError as error:
                if time.monotonic() > until:
                    raise
                if not noted:
                    self.observer.note(f"{error}; trying on for {START_SECONDS:.0f} s")
                    noted = True
                time.sleep(AGAIN_SECONDS)

    def _follow(self, entries: History, annotator: Annotator) -> Callable[[PaneEntry], None]:
        """What is done after each entry: publish the pane, commit its offsets, or nothing.

        Panes that an earlier run did not publish are published here first.
        """
        if self.stream.group is None:
            return lambda entry: None
        topic, first = self.stream.topic, len(entries)
        offsets = GroupOffsets(self.stream.settings, self.stream.group)

        def commit_offsets(entry: PaneEntry) -> None:
            self._patiently(lambda again: offsets.commit(_ends(entry, topic), entry.pane))

        publish = commit_offsets
        if self.stream.publish:
            publisher, publish = self._publisher(entries, annotator)
            # This ends a transaction that a killed run left open, before anything asks for it
            first = self._patiently(
                lambda again: publisher.begin(len(entries), self.stream.publish_from)
            )
        next_offsets = {
            (topic, partition): each.next for partition, each in positions(entries.totals).items()
        }
        for difference in compare(next_offsets, offsets.committed(next_offsets)):
            self.observer.note(f"group {self.stream.group}: {difference}")
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
            kafka.transaction_seconds,
            kafka.compression,
            stream_.publish.dead_letters,
            self.observer.note,
        )

        def once(entry: PaneEntry, again: bool) -> None:
            if again and publisher.begin(len(entries)) > entry.pane:
                return  # the answer was lost, not the transaction
            records = messages(
                self.output, entry, stream_.publish, self.config.fields, annotator.own
            )
            publisher.publish(entry.pane, records, _ends(entry, stream_.topic))

        return publisher, lambda entry: self._patiently(lambda again: once(entry, again))

    def _patiently(self, do: Callable[[bool], Done]) -> Done:
        """Call do(again) until a broker answers, for PATIENCE_SECONDS at most.

        Waiting does no harm: nothing can be read meanwhile, and the ledger is complete.
        """
        since, again = time.monotonic(), False
        while True:
            try:
                return do(again)
            except UnreachableError as error:
                if time.monotonic() - since > PATIENCE_SECONDS:
                    raise
                if not again:
                    self.observer.note(f"{error}; trying on")
                again = True
                time.sleep(AGAIN_SECONDS)


def _wait(has_ended: Callable[[], bool]) -> None:
    """Wait a while for readers to see that the run is over."""
    until = time.monotonic() + END_SECONDS
    with contextlib.suppress(WorkerError):  # all is committed; nothing of readers is needed now
        while not has_ended() and time.monotonic() < until:
            time.sleep(LOOK_SECONDS / 2)


def _ends(entry: PaneEntry, topic: str) -> dict[tuple[str, int], int]:
    """Next offsets of the partitions that a pane holds records of."""
    return {
        (topic, int(key)): each.next
        for key, each in (entry.stream.positions if entry.stream else {}).items()
    }
