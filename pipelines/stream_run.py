"""The driver of `evenflow run --kafka`: starts the graph on a runner, commits panes beside it, and stops in order."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.runners.portability.prism_runner import PrismRunner
from apache_beam.runners.runner import PipelineState

from evenflow.gates.lock import OutputLock
from evenflow.pipelines import commit, stream
from evenflow.pipelines.gate import Place
from evenflow.pipelines.publish import Topics, messages
from evenflow.pipelines.run import Outcome, RunError, begin, note, settings
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms import kafka_records
from evenflow.transforms.annotate import Annotator
from evenflow.transforms.kafka_offsets import GroupOffsets, compare
from evenflow.transforms.kafka_output import PanePublisher
from evenflow.transforms.kafka_panes import PaneCutter
from evenflow.transforms.kafka_settings import KafkaSettings
from evenflow.transforms.kafka_source import Source
from evenflow.wordlists import loader

LOOK_SECONDS = 0.1  # between two looks for panes that are whole: small beside the span of a pane
CANCEL_SECONDS = 5.0  # that the runner has to stop before it is left behind


@dataclass(frozen=True)
class Stream:
    """What is read.

    pane_seconds: span of a pane. values: JSON objects, or texts with the key as id. until_end: stop at the end offsets
    of the start. max_panes: stop after as many. group: where offsets are committed for others to see. publish: topics that the
    committed panes go to, which needs a group."""

    settings: KafkaSettings
    topic: str
    pane_seconds: float = 60.0
    values: kafka_records.Values = "json"
    until_end: bool = False
    max_panes: int | None = None
    group: str | None = None
    publish: Topics = field(default_factory=Topics)

    def cutter(self, config: Config) -> PaneCutter:
        """Cuts panes by time, and parts by bytes so that a burst makes no pane without end."""
        return PaneCutter(int(self.pane_seconds * 1000), config.pane.mib << 20)


@dataclass
class StreamRun:
    """One run of the gate on a topic. options: of Beam's runner; none: in this process, which reads to the end only.

    stop: set it (from a signal) to stop after the pane in hand. on_pane: called after each commit with its seconds.
    """

    stream: Stream
    output: Path
    config: Config
    options: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    on_pane: Callable[[PaneEntry, float], None] = lambda entry, seconds: None
    on_note: Callable[[str], None] = lambda text: None

    def go(self) -> Outcome:
        """Run until the end, stop, or an error.

        Raises RunError, GapError, KafkaSourceError, OSError, LedgerError, LockedError, WordListError, SuiteError.
        """
        if not self.options and not self.stream.until_end:
            raise RunError("reading for ever needs a runner that fires panes while it reads: give --runner prism or flink")
        lists = [loader.load(each.wordlist or name) for name, each in self.config.attributes.items()]
        commit.make_folders(self.output)
        with OutputLock(self.output):
            record = settings(self.config, lists, self._source_settings())
            entries, _ = begin(self.output, record, self.config)
            commit.clear_leftovers(self.output, entries)
            committer = commit.Committer(self.output, self.config, lists, entries)
            done = len(entries)
            panes = stream.StreamCommitter(
                self.output,
                self.stream.topic,
                committer,
                Annotator(self.config),
                after_commit=self._follow(entries),
                on_pane=self.on_pane,
            )
            held = panes.hold()
            if held:
                self.on_note(f"the gate is held: {held}")
            self._run(panes, done)
            committer.finish()
            commit.clear_staged(self.output)
            (self.output / "gate" / stream.HELD).unlink(missing_ok=True)
            note(self.output, record, self.config, finished=False)  # a topic has no end: there may be more tomorrow
            return Outcome(committer.entries, len(entries) - done, committer.held())

    def _source_settings(self) -> dict[str, Any]:
        return stream.source_settings(self.config, self.stream.topic, self.stream.pane_seconds, self.stream.values)

    def _run(self, panes: stream.StreamCommitter, done: int) -> None:
        place = Place(self.config.model_dump(), str(self.output / "staged"))
        cutter = self.stream.cutter(self.config)
        source = Source(
            self.stream.settings,
            (self.stream.topic,),
            cutter,
            stream.StageItems(place, self.stream.values),
            stream.starts(panes.committer.entries, self.stream.topic, cutter),
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

    @contextlib.contextmanager
    def _pipeline(self, source: Source, place: Place) -> Iterator[Callable[[], bool]]:
        """Run the graph beside the block: gives a function that says whether it has ended, and raises what failed."""
        logging.getLogger("apache_beam").setLevel(logging.ERROR)
        workshop = place.workshop()
        if not self.options:
            pipeline = beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([]))
            stream.graph(pipeline, source, place.staged, to_end=True)
            try:
                pipeline.run().wait_until_finish()
            except Exception as error:
                raise workshop.failure or RunError(f"reading failed: {error}") from error
            yield lambda: True
            return
        options = PipelineOptions([*self.options, *([] if self.stream.until_end else ["--streaming"])])
        prism = _Prism() if "--runner=PrismRunner" in self.options else None
        pipeline = beam.Pipeline(runner=prism, options=options)
        stream.graph(pipeline, source, place.staged, self.stream.until_end)
        result: Any = pipeline.run()
        failed: list[BaseException] = []

        def wait() -> None:
            try:
                result.wait_until_finish()
            except Exception as error:
                failed.append(error)

        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()

        def state() -> bool:
            if waiting.is_alive():
                return False
            if failed or result.state not in (PipelineState.DONE, PipelineState.CANCELLED):
                cause = failed[0] if failed else None
                raise workshop.failure or RunError(f"reading failed: {cause or result.state}") from cause
            return True

        try:
            yield state
        finally:
            if waiting.is_alive():
                with contextlib.suppress(Exception):  # it is left behind either way
                    result.cancel()
                waiting.join(CANCEL_SECONDS)
            if prism is not None and prism.server is not None:
                prism.server.stop()

    def _follow(self, entries: list[PaneEntry]) -> Callable[[PaneEntry], None]:
        """What is done after each entry: publish the pane, or commit its offsets, or nothing. Catches up first."""
        if self.stream.group is None:
            return lambda entry: None
        topic = self.stream.topic
        positions = {
            (topic, int(key)): position.next
            for entry in entries
            if entry.stream
            for key, position in entry.stream.positions.items()
        }
        offsets = GroupOffsets(self.stream.settings, self.stream.group)
        for difference in compare(positions, offsets.committed(positions)):
            self.on_note(f"group {self.stream.group}: {difference}")
        if not self.stream.publish:
            return lambda entry: offsets.commit(_ends(entry, topic), entry.pane)
        publisher = PanePublisher(self.stream.settings, self.stream.group)
        own = Annotator(self.config).own

        def publish(entry: PaneEntry) -> None:
            records = messages(self.output, entry, self.stream.publish, self.config.fields.id, own)
            publisher.publish(entry.pane, records, _ends(entry, topic))

        for entry in entries[publisher.published(positions) :]:
            publish(entry)
        return publish


def _ends(entry: PaneEntry, topic: str) -> dict[tuple[str, int], int]:
    """Next offsets of the partitions that a pane holds records of."""
    return {(topic, int(key)): each.next for key, each in (entry.stream.positions if entry.stream else {}).items()}


class _Prism(PrismRunner):
    """Beam's Prism runner, whose server can be ended before this process does."""

    server: Any = None

    def default_job_server(self, options: Any) -> Any:
        self.server = super().default_job_server(options)
        return self.server
