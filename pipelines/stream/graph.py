"""The gate on Kafka as a Beam graph, and the commit of the panes that it stages.

The graph: partitions -> blocks, annotated and staged by the reading step itself -> the blocks of a
pane, when the watermark has passed its span -> a list of the blocks, in the pane's folder in
staged/. The driver looks for such lists and commits the earliest pane, unless an earlier one is
still being filled. The elements of the graph hold names and counts, never documents.

A run restarts from the ledger's last position of each partition. The group's offsets in Kafka are
committed after the ledger entry, for other tools to see. At the start they are compared with the
ledger, which wins.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apache_beam as beam
import orjson
from apache_beam.transforms.window import FixedWindows

from evenflow.gates.ledger.totals import Totals
from evenflow.pipelines.files.graph import GraphContext
from evenflow.pipelines.panes import commit
from evenflow.pipelines.panes.closing import Staged, close_pane, read_ready, stage
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import PaneEntry, Position, SourceRange, StreamPane
from evenflow.transforms.annotation.annotate import Annotated, Annotator
from evenflow.transforms.io.records import Documents
from evenflow.transforms.io.unforeseen import Spoilt, without_spoilt
from evenflow.transforms.kafka import records
from evenflow.transforms.kafka.blocks import Item, Lost
from evenflow.transforms.kafka.options import Source, Start
from evenflow.transforms.kafka.panes import PaneCutter, PaneId
from evenflow.transforms.kafka.source import ReadFromKafka, ReadFromKafkaToEnd

BLOCKS = "blocks.json"  # in a pane's folder in staged/: the blocks of a pane that is whole
HELD = "held"  # in gate/: while it is there, the source does not read
LOST = "lost by retention"


class GapError(RuntimeError):
    """The blocks of a pane do not continue what the ledger holds: the run must not go on."""


@dataclass(frozen=True)
class StagedRange:
    """A staged block of a partition.

    Attributes:
        partition: The partition's number.
        start: Offset of the first record.
        next: Offset after the last record.
        time: Time of the last record, in milliseconds since 1970.
        figures: The block's figures.
    """

    partition: int
    start: int
    next: int
    time: int
    figures: Figures

    @property
    def stem(self) -> str:
        """The name of its files in the pane's folder, without suffix."""
        return f"{self.partition:06d}-{self.start:020d}"


def folder_of(staged: Path, pane: PaneId) -> Path:
    """Return the folder of a pane; the names sort in the order of the panes.

    Args:
        staged: The folder staged/.
        pane: The pane.

    Returns:
        The folder's path.
    """
    return staged / f"{pane.span:015d}-{pane.part:012d}"


class StageItems:
    """Annotates and stages what the source reads, in the worker that reads it.

    Args:
        context: What the steps of the graph need.
        values: What a record's value is: a JSON object, or a text.
    """

    def __init__(self, context: GraphContext, values: records.Values):
        self._context = context
        self._values: records.Values = values

    def setup(self) -> None:
        """Build the tables of the word lists, once a process."""
        self._context.worker()

    def process(self, item: Item) -> Iterator[tuple[tuple[int, int], StagedRange]]:
        """Stage a block, or a gap that retention made.

        The names of the files depend on partition and offset alone, so that a replay overwrites
        them.

        Args:
            item: What the source read.

        Yields:
            The pane as (span, part), and the staged block.
        """
        worker = self._context.worker()
        folder = folder_of(Path(self._context.staged), item.pane)
        with worker.noting_failure():
            folder.mkdir(parents=True, exist_ok=True)
            done = self._read(item, worker.annotator)
            piece = StagedRange(item.partition, item.start, item.next, item.end.time, done.figures)
            (folder / f"{piece.stem}.jsonl").unlink(missing_ok=True)
            stage(done, folder / piece.stem, worker.annotator)
        yield (item.pane.span, item.pane.part), piece

    def _read(self, item: Item, annotator: Annotator) -> Annotated:
        """A block annotated; a gap becomes one dead letter."""
        if isinstance(item, Lost):
            nothing = annotator.annotated(Documents(""), 0)
            nothing.figures.dead_reasons = {LOST: 1}
            return Annotated(nothing.table, [records.lost(item)], nothing.figures)

        def done(spoilt: Spoilt) -> Annotated:
            found = records.validate(item, annotator.config, annotator.own, self._values, spoilt)
            return annotator.annotated(found, sum(len(value or b"") for value in item.values))

        return without_spoilt(done, item.size, annotator.probe)


class ListBlocks(beam.DoFn):
    """Step (pane, its staged blocks) -> nothing; writes blocks.json in the pane's folder.

    The file appears by an atomic rename. It marks that the pane is whole.
    """

    def __init__(self, context: GraphContext):
        self._context = context

    def process(self, element: tuple[tuple[int, int], Iterable[StagedRange]]) -> None:
        """List the blocks of a pane.

        Args:
            element: The pane as (span, part), and its blocks, in any order.
        """
        pane, pieces = element
        folder = folder_of(Path(self._context.staged), PaneId(*pane))
        part = folder / f".{BLOCKS}"
        with self._context.worker().noting_failure():
            part.write_bytes(orjson.dumps([dataclasses.asdict(piece) for piece in pieces]))
            part.replace(folder / BLOCKS)


def build_graph(
    pipeline: beam.Pipeline, source: Source, context: GraphContext, to_end: bool
) -> None:
    """Build the graph: read, annotate, stage -> spans of time -> the blocks of a pane -> a list.

    Args:
        pipeline: The pipeline that gets the steps.
        source: What is read.
        context: What the steps need.
        to_end: Whether reading stops at the end offsets of the start.
    """
    read = ReadFromKafkaToEnd(source) if to_end else ReadFromKafka(source)
    _ = (
        pipeline
        | "Read, annotate, stage" >> read
        | "Spans" >> beam.WindowInto(FixedWindows(source.cutter.span_ms / 1000))
        | "Blocks of a pane" >> beam.GroupByKey()
        | "List blocks" >> beam.ParDo(ListBlocks(context))
    )


@dataclass(frozen=True)
class HeldFile:
    """Whether gate/held is there; called by the source in its workers.

    Attributes:
        path: Path of gate/held.
    """

    path: str

    def __call__(self) -> bool:
        """Whether the gate is held."""
        return Path(self.path).exists()


def positions(totals: Totals) -> dict[int, Position]:
    """Return the position of each partition after the panes of a ledger, by its number."""
    return {int(partition): position for partition, position in totals.positions.items()}


def starts(totals: Totals, topic: str, cutter: PaneCutter) -> dict[tuple[str, int], Start]:
    """Find where each partition goes on after the panes of a ledger.

    Args:
        totals: The sums of the ledger.
        topic: The topic.
        cutter: Cuts panes.

    Returns:
        (topic, partition) to the next offset and its pane; empty for an empty ledger.
    """
    if totals.stream is None:
        return {}
    pane = PaneId(*totals.stream)
    return {
        (topic, partition): Start(position.next, cutter.after(pane, position.time))
        for partition, position in positions(totals).items()
    }


def read_pieces(folder: Path) -> list[StagedRange]:
    """Read the blocks of a pane, as ListBlocks wrote them, by partition and offset."""
    found = orjson.loads((folder / BLOCKS).read_bytes())
    pieces = [StagedRange(**{**data, "figures": Figures.read(data["figures"])}) for data in found]
    return sorted(pieces, key=lambda piece: (piece.partition, piece.start, piece.next))


def joined(pieces: Sequence[StagedRange], expected: dict[int, int]) -> list[StagedRange]:
    """Select blocks that continue the ledger without a gap, each range of offsets once.

    Beam may process a bundle twice; then its blocks come twice.

    Args:
        pieces: Staged blocks, by partition and offset.
        expected: Partition to the next offset by the ledger.

    Returns:
        The blocks to commit.

    Raises:
        GapError: Offsets are missing.
    """
    kept: list[StagedRange] = []
    next_offsets = dict(expected)
    for piece in pieces:
        due = next_offsets.get(piece.partition)
        if due is not None and piece.next <= due:
            continue
        if due is not None and piece.start != due:
            raise GapError(
                f"partition {piece.partition}: offset {due} was due and offsets {piece.start}"
                f" to {piece.next - 1} came; nothing more is committed: start again, and reading"
                " goes on from the ledger"
            )
        next_offsets[piece.partition] = piece.next
        kept.append(piece)
    return kept


@dataclass
class StreamCommitter:
    """Commits panes as they become whole, in order.

    Attributes:
        output: The output directory.
        topic: The topic that is read.
        committer: Judges and commits a pane.
        annotator: Annotates what closing a pane reads again.
        after_commit: Called with each entry as soon as it is in the ledger.
        on_pane: Called with each entry and its seconds.
    """

    output: Path
    topic: str
    committer: commit.Committer
    annotator: Annotator
    after_commit: Callable[[PaneEntry], None] = lambda entry: None
    on_pane: Callable[[PaneEntry, float], None] = lambda entry, seconds: None

    def __post_init__(self) -> None:
        """Take the next offsets from the ledger."""
        self._next_offsets = {
            partition: position.next
            for partition, position in positions(self.committer.entries.totals).items()
        }

    def hold(self) -> str | None:
        """Return why the gate is held, and hold the source by a file in gate/.

        Returns:
            The reason; None where the gate is not held. Then the file goes.
        """
        held = self.committer.held()
        flag = self.output / "gate" / HELD
        if held:
            flag.touch()
        else:
            flag.unlink(missing_ok=True)
        return held

    def commit_whole(self, stop: Callable[[], bool]) -> int:
        """Commit panes in order, up to the first that is not whole or until the gate is held.

        Args:
            stop: Asked before each pane; True: commit no more.

        Returns:
            How many were committed.

        Raises:
            GapError: A pane does not continue the ledger.
        """
        count = 0
        for folder in sorted((self.output / "staged").iterdir()):
            if stop() or not (folder / BLOCKS).exists() or self.hold():
                break
            self._commit(folder)
            count += 1
        return count

    def _commit(self, folder: Path) -> None:
        """Close and commit the pane in a folder of staged/."""
        began = time.perf_counter()
        span, part = (int(piece) for piece in folder.name.split("-"))
        pieces = joined(read_pieces(folder), self._next_offsets)
        number = len(self.committer.entries)
        staged = [
            Staged((piece.partition, piece.start), piece.stem, piece.figures) for piece in pieces
        ]
        close_pane(number, staged, folder, self.annotator, self.committer.index)
        timings = {"shards": time.perf_counter() - began}
        ends: dict[int, Position] = {}
        ranges: dict[int, SourceRange] = {}
        for piece in pieces:
            ends[piece.partition] = Position(next=piece.next, time=piece.time)
            file = records.source(self.topic, piece.partition)
            first = ranges[piece.partition].first if piece.partition in ranges else piece.start
            ranges[piece.partition] = SourceRange(file=file, first=first, last=piece.next - 1)
        stream = StreamPane(
            span=span, part=part, positions={str(key): each for key, each in ends.items()}
        )
        entry = self.committer.commit(
            folder, read_ready(folder), list(ranges.values()), timings, stream
        )
        self._next_offsets |= {key: each.next for key, each in ends.items()}
        self.after_commit(entry)
        seconds = time.perf_counter() - began
        self.committer.note_timings(entry, seconds, timings)
        self.on_pane(entry, seconds)


def source_settings(config: Config, topic: str, span_seconds: float, values: str) -> dict[str, Any]:
    """Collect the settings of a stream that a continued run must not change.

    Args:
        config: The configuration.
        topic: The topic.
        span_seconds: Span of a pane in seconds.
        values: What a record's value is: "json" or "text".

    Returns:
        The settings, under the key stream.
    """
    return {
        "stream": {
            "topic": topic,
            "pane_seconds": span_seconds,
            "pane_mib": config.pane.mib,
            "values": values,
        }
    }
