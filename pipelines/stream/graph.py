"""The gate on Kafka: the graph reads, annotates and stages where it reads; the driver commits panes
in order.

The graph: partitions -> blocks, annotated and staged by the reading step itself -> the blocks of a
pane, when the watermark has passed its span -> a list of them beside them in staged/. The driver
looks for such lists and commits the earliest pane, as long as none earlier is still being filled.
What travels are names and counts, never documents.

Restart: from the ledger's last position of each partition. The group's offsets in Kafka follow the
ledger (after the entry), for other tools to see; they are compared with it at the start and never
believed against it.
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
from evenflow.pipelines.files.graph import GraphPlace
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
from evenflow.transforms.staging.block import StagedBlock

BLOCKS = "blocks.json"  # in a pane's folder in staged/: the pane is whole, and these are its blocks
HELD = "held"  # in gate/: while it is there, the source does not read
LOST = "lost by retention"


class GapError(RuntimeError):
    """The blocks of a pane do not join up with what the ledger holds: the run must not go on."""


@dataclass(frozen=True)
class StagedRange:
    """A staged block: its partition, offsets start..next (excluded), time of its last record in ms,
    and its figures.
    """

    partition: int
    start: int
    next: int
    time: int
    figures: Figures

    @property
    def stem(self) -> str:
        """Of its files in the pane's folder."""
        return f"{self.partition:06d}-{self.start:020d}"


def folder_of(staged: Path, pane: PaneId) -> Path:
    """A pane's folder in staged/; the folders' names are in the order of the panes."""
    return staged / f"{pane.span:015d}-{pane.part:012d}"


class StageItems:
    """Annotates and stages what the source reads, in the worker that reads it; gives (span, part)
    -> Piece.
    """

    def __init__(self, place: GraphPlace, values: records.Values):
        self._place = place
        self._values: records.Values = values

    def setup(self) -> None:
        """Build the tables of the word lists, once a process."""
        self._place.workshop()

    def process(self, item: Item) -> Iterator[tuple[tuple[int, int], StagedRange]]:
        """Stage an item; names depend on partition and offset alone, so that a replay writes them
        again.
        """
        shop = self._place.workshop()
        folder = folder_of(Path(self._place.staged), item.pane)
        with shop.noting_failure():
            folder.mkdir(parents=True, exist_ok=True)
            done = self._read(item, shop.annotator)
            piece = StagedRange(item.partition, item.start, item.next, item.end.time, done.figures)
            block = StagedBlock(folder, piece.stem)
            block.remove()  # what an earlier try left
            stage(done, block, shop.annotator)
        yield (item.pane.span, item.pane.part), piece

    def _read(self, item: Item, annotator: Annotator) -> Annotated:
        if isinstance(item, Lost):
            nothing = annotator.annotate_documents(Documents(""), 0)
            nothing.figures.dead_reasons = {LOST: 1}
            return Annotated(nothing.table, [records.lost(item)], nothing.figures)

        def done(spoilt: Spoilt) -> Annotated:
            found = records.validate(item, annotator.config, annotator.own, self._values, spoilt)
            return annotator.annotate_documents(
                found, sum(len(value or b"") for value in item.values)
            )

        return without_spoilt(done, item.size, annotator.probe)


class ListBlocks(beam.DoFn):
    """(pane, its pieces) -> blocks.json in the pane's folder, by an atomic rename: the pane is
    whole.
    """

    def __init__(self, place: GraphPlace):
        self._place = place

    def process(self, element: tuple[tuple[int, int], Iterable[StagedRange]]) -> None:
        pane, pieces = element
        folder = folder_of(Path(self._place.staged), PaneId(*pane))
        part = folder / f".{BLOCKS}"
        with self._place.workshop().noting_failure():
            part.write_bytes(orjson.dumps([dataclasses.asdict(piece) for piece in pieces]))
            part.replace(folder / BLOCKS)


def graph(pipeline: beam.Pipeline, source: Source, place: GraphPlace, to_end: bool) -> None:
    """Draw the graph."""
    read = ReadFromKafkaToEnd(source) if to_end else ReadFromKafka(source)
    _ = (
        pipeline
        | "Read, annotate, stage" >> read
        | "Spans" >> beam.WindowInto(FixedWindows(source.cutter.span_ms / 1000))
        | "Blocks of a pane" >> beam.GroupByKey()
        | "List blocks" >> beam.ParDo(ListBlocks(place))
    )


@dataclass(frozen=True)
class HeldFile:
    """Whether gate/held is there; asked by the source in its workers."""

    path: str

    def __call__(self) -> bool:
        return Path(self.path).exists()


def positions(totals: Totals) -> dict[int, Position]:
    """Where each partition stands after the panes of a ledger, by its number."""
    return {int(partition): position for partition, position in totals.positions.items()}


def starts(totals: Totals, topic: str, cutter: PaneCutter) -> dict[tuple[str, int], Start]:
    """Where each partition goes on after the panes of a ledger."""
    if totals.stream is None:
        return {}
    pane = PaneId(*totals.stream)
    return {
        (topic, partition): Start(position.next, cutter.after(pane, position.time))
        for partition, position in positions(totals).items()
    }


def read_pieces(folder: Path) -> list[StagedRange]:
    """What ListBlocks wrote, in source order."""
    found = orjson.loads((folder / BLOCKS).read_bytes())
    pieces = [StagedRange(**{**data, "figures": Figures.read(data["figures"])}) for data in found]
    return sorted(pieces, key=lambda piece: (piece.partition, piece.start, piece.next))


def joined(pieces: Sequence[StagedRange], due: dict[int, int]) -> list[StagedRange]:
    """The pieces, each stretch of offsets once, joining up with what is due (partition -> next
    offset) by the ledger.

    A stretch that was put out twice (a bundle that was done again) counts once. Raises GapError.
    """
    kept: list[StagedRange] = []
    at = dict(due)
    for piece in pieces:
        expected = at.get(piece.partition)
        if expected is not None and piece.next <= expected:
            continue
        if expected is not None and piece.start != expected:
            raise GapError(
                f"partition {piece.partition}: offset {expected} was due and offsets {piece.start}"
                f" to {piece.next - 1} came; nothing more is committed: start again, and reading"
                " goes on from the ledger"
            )
        at[piece.partition] = piece.next
        kept.append(piece)
    return kept


@dataclass
class StreamCommitter:
    """Commits panes as they become whole, in order. after_commit: called with each entry and its
    positions.
    """

    output: Path
    topic: str
    committer: commit.Committer
    annotator: Annotator
    after_commit: Callable[[PaneEntry], None] = lambda entry: None
    on_pane: Callable[[PaneEntry, float], None] = lambda entry, seconds: None

    def __post_init__(self) -> None:
        self._due = {
            partition: position.next
            for partition, position in positions(self.committer.entries.totals).items()
        }

    def hold(self) -> str | None:
        """Why the gate is held, which the source is told by a file in gate/; None if it may go on."""
        held = self.committer.held()
        flag = self.output / "gate" / HELD
        if held:
            flag.touch()
        else:
            flag.unlink(missing_ok=True)
        return held

    def commit_whole(self, stop: Callable[[], bool]) -> int:
        """Commit panes that are whole, up to the first that is not, the gate is held or stop() says
        so; how many.
        """
        count = 0
        for folder in sorted((self.output / "staged").iterdir()):
            if stop() or not (folder / BLOCKS).exists() or self.hold():
                break
            self._commit(folder)
            count += 1
        return count

    def _commit(self, folder: Path) -> None:
        began = time.perf_counter()
        span, part = (int(piece) for piece in folder.name.split("-"))
        pieces = joined(read_pieces(folder), self._due)
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
        self._due |= {key: each.next for key, each in ends.items()}
        self.after_commit(entry)
        seconds = time.perf_counter() - began
        self.committer.note_timings(entry, seconds, timings)
        self.on_pane(entry, seconds)


def source_settings(config: Config, topic: str, span_seconds: float, values: str) -> dict[str, Any]:
    """What of a stream must be the same for it to be continued."""
    return {
        "stream": {
            "topic": topic,
            "pane_seconds": span_seconds,
            "pane_mib": config.pane.mib,
            "values": values,
        }
    }
