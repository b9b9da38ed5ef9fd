"""The driver of `evenflow stream`: cuts panes, has them made, commits and publishes them."""

from __future__ import annotations

import contextlib
import math
import shlex
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from evenflow.gates.ledger import files as ledger
from evenflow.gates.ledger.history import History
from evenflow.pipelines.engine import loop
from evenflow.pipelines.engine.make import GraphContext, make_pane
from evenflow.pipelines.engine.panes import closing, columns
from evenflow.pipelines.engine.runners.quiet import quiet
from evenflow.pipelines.engine.session import HELD_SECONDS, Session, leased, settings
from evenflow.pipelines.engine.topics.publish import Topics, identity, messages
from evenflow.pipelines.engine.topics.reading import TopicReads
from evenflow.pipelines.engine.topics.source import (
    LOOK_SECONDS,
    TopicPane,
    TopicSource,
    most_records,
    positions,
)
from evenflow.pipelines.terminal.outcome import Observer, Outcome, PaneProgress
from evenflow.schemas.config import Config, ConfigError
from evenflow.schemas.ledger import PaneEntry
from evenflow.schemas.words import counted
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.kafka import records as kafka_records
from evenflow.transforms.kafka.client import AGAIN_SECONDS, PATIENCE_SECONDS
from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.errors import TopicMissingError, UnreachableError
from evenflow.transforms.kafka.lookups import Lookups
from evenflow.transforms.kafka.offsets import GroupOffsets, compare
from evenflow.transforms.kafka.output import PanePublisher
from evenflow.transforms.kafka.proof import ProofTopic
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.kafka.topics import KnownTopic, TopicFacts, decided_ends
from evenflow.transforms.measures import registry
from evenflow.transforms.storage.storage import Place, at

Done = TypeVar("Done")
REPORT_SECONDS = 1.0  # between two reports of what is not committed yet
HELD_SAID_SECONDS = 60.0  # between two notes that the gate is held
PARTITIONS = 8  # whose offsets the first note names
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
        options: Of Beam's runner, on whose workers panes are made; none: this machine's.
        workers: Number of processes that make panes; 1: this one.
        standby: Wait for as long as another run writes to the output.
        observer: Hears how the run goes on.
        debug: Whether what Beam, its runner and kafka-python log and print is shown.
        executor: Its worker processes (`loop.pool`); None: they are made for the run.
    """

    stream: Stream
    output: Place
    config: Config
    options: list[str] = field(default_factory=list)
    workers: int = 1
    standby: bool = False
    observer: Observer = field(default_factory=Observer)
    debug: bool = False
    executor: Executor | None = None

    def __post_init__(self) -> None:
        """Take a path for the storage there."""
        self.output, self._said = at(self.output), -math.inf

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
            for topic in (self.stream.topic, *self.stream.publish.names):
                self._find(topic)
            with leased(self.output, self.standby, self.observer) as lease:
                record = settings(self.config, lists, self.stream.record(self.config))
                session = Session(self.output, self.config, lists, lease, record, self.observer)
                return self._run(session)

    def _run(self, session: Session) -> Outcome:
        """Run once the lease is held."""
        stream, entries, note = self.stream, session.entries, self.observer.note
        for text in session.notes:
            note(text)
        with contextlib.ExitStack() as beside:
            topic = beside.enter_context(contextlib.closing(self._known(entries)))

            def same_topic() -> None:
                self._patiently(lambda again: topic.check())

            def partitions() -> int:
                try:
                    topic.check()
                except TopicMissingError as error:
                    if "made anew" in str(error):
                        raise
                    raise TopicMissingError(
                        f"topic {stream.topic} is gone: it was deleted, or is being made anew. Go"
                        " on with a new output directory"
                    ) from error
                return topic.facts.partitions

            same_topic()
            session.write_meta(False, topic=topic.facts._asdict())
            publishes = stream.publish.accepted is not None
            reads = TopicReads(stream.settings, stream.topic, stream.values, publishes)
            context = session.context(reads, self.workers)
            annotator = context.worker().annotator
            executor = self.executor or beside.enter_context(loop.pool(self.workers))
            # What takes seconds begins now: the first pane need not wait
            with loop.no_death(0):
                for _ in () if self.options else range(self.workers):
                    executor.submit(reads.prepare, context, topic.facts.partitions)
            if self.workers == 1 or closing.driver_closes(self.config):
                _ = context.worker().checks
            after = self._follow(entries, annotator)
            note(self._reads(entries, topic.facts.partitions))
            stops, hidden = self._stops()
            lookups = beside.enter_context(
                contextlib.closing(Lookups(stream.settings, stream.topic))
            )
            source = TopicSource(
                session.output,
                entries,
                lookups,
                partitions,
                int(stream.pane_seconds * 1000),
                self.config,
                stops,
                note,
            )
            if self.observer.health is not None:
                self.observer.health.silence = source.silence
            panes = self._panes(source, session)
            if self.options:
                made = self._on_runner(panes, context, session)
            else:
                made = loop.made(panes, context, executor, self.workers)

            def again(number: int) -> None:
                pane = source.given[number]
                with loop.no_death(number):
                    executor.submit(make_pane, pane, context).result()

            def committed(entry: PaneEntry) -> None:
                source.committed(entry.pane)
                after(entry)

            held = session.commit_all(
                made,
                context,
                again,
                lambda entry, read, seconds: PaneProgress(entry, seconds),
                lambda: not stream.until_end,
                same_topic,
                committed,
                source.was_given,
            )
            # A topic has no end: more records may come
            session.write_meta(False, topic=topic.facts._asdict())
            return Outcome(entries, len(entries) - session.done, held, hidden)

    def _panes(self, source: TopicSource, session: Session) -> Iterator[TopicPane | float]:
        """Panes as they are cut, and pauses in seconds; nothing is cut while the gate is held."""
        entries, most = session.entries, self.stream.max_panes
        reported, given = -REPORT_SECONDS, 0

        def report() -> None:
            nonlocal reported
            if time.monotonic() - reported <= REPORT_SECONDS:
                return
            reported = time.monotonic()
            if self.observer.backlog is not None:
                waiting = source.at.number > len(entries)
                self.observer.backlog(source.backlog(), waiting)

        for pane in source.panes():
            report()
            if pane is None:
                # A blocked pane may hold the gate while no record comes
                if self.config.gate.on_block == "halt" and entries.totals.folder == "quarantine":
                    self._is_held(session)
                yield source.pause
                continue
            while self._is_held(session):
                if self.stream.until_end:
                    return
                report()
                yield HELD_SECONDS
            yield pane
            given += 1
            if most is not None and given >= most:
                return
            while not len(entries) and columns.KEY not in (ledger.read_meta(self.output) or {}):
                yield source.pause or LOOK_SECONDS  # the first pane decides the columns

    def _is_held(self, session: Session) -> bool:
        """Whether the gate is held; that is said at once, and then every minute."""
        held = session.committer.held()
        if held is None:
            self._said = -math.inf
        elif time.monotonic() - self._said >= HELD_SAID_SECONDS:
            self._said = time.monotonic()
            release = f"evenflow gate release {shlex.quote(str(self.output))} --reason '…'"
            self.observer.note(f"the gate is held: {held}. It goes on after `{release}`")
        return held is not None

    def _reads(self, entries: History, partitions: int) -> str:
        """What is read, from where, and what sources are compared with."""
        due = {number: each.next for number, each in entries.totals.positions.items()}
        named = ", ".join(f"{number} from {due[number]:,}" for number in [*due][:PARTITIONS])
        more = f" and {len(due) - PARTITIONS} more" if len(due) > PARTITIONS else ""
        reference = self.config.reference.file
        against = f"compared with {reference}" if reference else "learnt, as no reference is given"
        most, key = most_records(self.config)
        return (
            f"reading topic {self.stream.topic}, {counted(partitions, 'partition')}"
            f" ({named + more if due else 'from the first record'}); sources are {against};"
            f" a pane has the records of {self.stream.pane_seconds:g} s, at most {most:,} ({key})"
        )

    def _known(self, entries: History) -> KnownTopic:
        """The topic, with what the ledger has of it."""
        noted = TopicFacts.read((ledger.read_meta(self.output) or {}).get("topic"))
        read = 1 + max(positions(entries.totals.positions), default=-1)
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

    def _on_runner(
        self, panes: Iterator[TopicPane | float], context: GraphContext, session: Session
    ) -> Generator[dict[int, str], None, None]:
        """Make panes on a runner."""
        # Imported here: Beam takes most of a second, which a run on this machine need not wait for
        from evenflow.pipelines.engine.topics import graph

        return graph.made(
            panes,
            context,
            session.done,
            list(self.options),
            self.observer.note,
            session.lease.check,
            self.debug,
        )

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
        known = positions(entries.totals.positions)
        next_offsets = {(topic, partition): offset for partition, offset in known.items()}
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


def _ends(entry: PaneEntry, topic: str) -> dict[tuple[str, int], int]:
    """Next offsets of the partitions that a pane holds records of."""
    return {
        (topic, int(key)): each.next
        for key, each in (entry.stream.positions if entry.stream else {}).items()
    }
