"""The ledger as a sequence, however long: what a start or a commit costs is what the last panes
cost, not all.

    ledger/PANE.json                       the last panes, fewer than EVERY ledger/checkpoint.json
    the sums of the panes before them (totals.Totals) ledger/segments/FIRST-LAST.parquet     their
    entries, EVERY a file, whole: each row is the JSON that PANE.json was
    ledger/segments/FIRST-LAST.spans.json  what charts draw of them, by hours (spans.Span)

After each pane whose number completes a segment: the segment is written, then the checkpoint, then
the JSON files go. Each step is durable before the next; a kill between two of them leaves what the
next start completes, with the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import overload

import orjson

from evenflow.gates.ledger import spans
from evenflow.gates.ledger.files import (
    LedgerError,
    atomic_write,
    canonical,
    parsed,
    read_entry,
    write_entry,
)
from evenflow.gates.ledger.spans import Span
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import PaneEntry

EVERY = 256  # panes a checkpoint: fewer make more files, more make a start slower (2 ms an entry)
TRIES = 5  # of a reader beside a run that compacts meanwhile


class History(Sequence[PaneEntry]):
    """The ledger of an output directory: its sums, and its entries one by one, the last of them in
    memory.

    config: of the run, for what the sums look back on. mend: complete what a kill left; for who
    holds the output's lock. Raises LedgerError, OSError.
    """

    def __init__(self, root: Path, config: Config | None = None, mend: bool = False):
        self._root = root
        self.totals = Totals()
        self._last: PaneEntry | None = None
        for attempt in range(TRIES):
            try:
                self._read(config)
                break
            except (LedgerError, FileNotFoundError):
                if mend or attempt == TRIES - 1:
                    raise
        if mend:
            self._clear(checkpoint_panes(root))
            self._compact()

    def _read(self, config: Config | None) -> None:
        checkpoint = read_checkpoint(self._root)
        self.totals, self._last = Totals.begun(config) if checkpoint is None else checkpoint, None
        for number, path in _live(self._root):
            if number < self.totals.panes:
                continue  # in a segment already
            if number != self.totals.panes:
                raise LedgerError(
                    f"{path}: pane {number} where pane {self.totals.panes} was expected; an entry"
                    " is missing"
                )
            self._take(parsed(path.read_bytes(), path))

    def _take(self, entry: PaneEntry) -> None:
        self.totals.add(entry)
        self._last = entry

    def commit(self, entry: PaneEntry) -> None:
        """Write the next pane's entry, durable when this returns; then take it in."""
        write_entry(self._root, entry)
        self.append(entry)

    def append(self, entry: PaneEntry) -> None:
        """Take in an entry that was written."""
        self._take(entry)
        self._compact()

    def _compact(self) -> None:
        """Make a segment and a checkpoint of the JSON files, where they complete one."""
        done = checkpoint_panes(self._root)
        while len(self) - done >= EVERY:
            numbers = range(done, done + EVERY)
            paths = [self._root / "ledger" / f"{number:08d}.json" for number in numbers]
            raw = [path.read_bytes() for path in paths]
            write_segment(
                self._root,
                done,
                raw,
                [parsed(each, path) for each, path in zip(raw, paths, strict=True)],
            )
            done += EVERY
            totals = self.totals if done == len(self) else self._until(done)
            atomic_write(
                self._root / "ledger" / "checkpoint.json", canonical(totals.model_dump(mode="json"))
            )
            self._clear(done)

    def _until(self, panes: int) -> Totals:
        """The sums of the first panes, from the last checkpoint on."""
        totals = read_checkpoint(self._root) or Totals(
            rolling=self.totals.rolling, epsilons=self.totals.epsilons
        )
        for number in range(totals.panes, panes):
            totals.add(read_entry(self._root, number))
        return totals

    def _clear(self, until: int) -> None:
        for number, path in _live(self._root):
            if number < until:
                path.unlink()

    def __len__(self) -> int:
        return self.totals.panes

    @overload
    def __getitem__(self, index: int) -> PaneEntry: ...

    @overload
    def __getitem__(self, index: slice) -> list[PaneEntry]: ...

    def __getitem__(self, index: int | slice) -> PaneEntry | list[PaneEntry]:
        numbers = range(len(self))[index]
        return (
            list(self._some(numbers))
            if isinstance(numbers, range)
            else next(self._some(range(numbers, numbers + 1)))
        )

    def __iter__(self) -> Iterator[PaneEntry]:
        return self._some(range(len(self)))

    def _some(self, numbers: range) -> Iterator[PaneEntry]:
        """Entries of some panes; neighbours in a segment are read together."""
        segment, rows = -1, []
        for number in numbers:
            if number == len(self) - 1 and self._last is not None:
                yield self._last
                continue
            path = self._root / "ledger" / f"{number:08d}.json"
            if path.exists():
                yield parsed(path.read_bytes(), path)
                continue
            if number // EVERY != segment:
                segment = number // EVERY
                rows = read_segment(self._root, segment * EVERY)
            yield parsed(rows[number % EVERY], segment_path(self._root, segment * EVERY))

    def spans(self) -> list[Span]:
        """All panes, by hours: those of the segments are kept so."""
        found: list[Span] = []
        checkpointed = checkpoint_panes(self._root)
        for first in range(0, checkpointed, EVERY):
            path = segment_path(self._root, first).with_suffix(".spans.json")
            found += (Span.model_validate(each) for each in orjson.loads(path.read_bytes()))
        found += map(spans.of, self._some(range(checkpointed, len(self))))
        return spans.grouped(found, spans.HOUR)


def _live(root: Path) -> list[tuple[int, Path]]:
    """The JSON files of entries, in the panes' order."""
    return sorted((int(path.stem), path) for path in (root / "ledger").glob("[0-9]*.json"))


def read_checkpoint(root: Path) -> Totals | None:
    """The last checkpoint; None before the first. Raises LedgerError."""
    path = root / "ledger" / "checkpoint.json"
    try:
        return Totals.model_validate(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise LedgerError(
            f"{path}: not a checkpoint: {error}; `evenflow ledger verify --rebuild` makes it anew"
        ) from error


def checkpoint_panes(root: Path) -> int:
    """How many panes are in segments."""
    try:
        return int(orjson.loads((root / "ledger" / "checkpoint.json").read_bytes())["panes"])
    except FileNotFoundError:
        return 0


def segment_path(root: Path, first: int) -> Path:
    """A segment's file; the names sort as the panes do, up to 10^12."""
    return root / "ledger" / "segments" / f"{first:012d}-{first + EVERY - 1:012d}.parquet"


def write_segment(
    root: Path, first: int, raw: Sequence[bytes], entries: Sequence[PaneEntry]
) -> None:
    """Write a segment, durable when this returns. raw: the JSON of its entries."""
    import pyarrow as pa
    import pyarrow.parquet as pq  # where entries are read one by one, nobody waits for it

    path = segment_path(root, first)
    path.parent.mkdir(exist_ok=True)
    sink = pa.BufferOutputStream()
    table = pa.table(
        {
            "pane": pa.array(range(first, first + len(raw)), pa.int64()),
            "entry": pa.array(raw, pa.large_binary()),
        }
    )
    options = {"compression": "zstd", "use_dictionary": False, "write_statistics": ["pane"]}
    pq.write_table(table, sink, **options)  # pyright: ignore[reportArgumentType] (its stubs know no list of columns)
    hours = spans.grouped(map(spans.of, entries), spans.HOUR)
    atomic_write(
        path.with_suffix(".spans.json"), orjson.dumps([each.model_dump() for each in hours])
    )
    atomic_write(path, sink.getvalue().to_pybytes())


def read_segment(root: Path, first: int) -> list[bytes]:
    """The JSON of a segment's entries. Raises LedgerError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = segment_path(root, first)
    try:
        return pq.read_table(path, columns=["entry"]).column(0).to_pylist()
    except (FileNotFoundError, pa.ArrowException) as error:
        raise LedgerError(f"{path}: not a segment of the ledger: {error}") from error


def recount(root: Path) -> tuple[int, list[str]]:
    """Add up a ledger again from its entries: how many panes there are, and where the checkpoint
    says otherwise.

    Raises LedgerError for an entry that is missing or cannot be read.
    """
    checkpoint = read_checkpoint(root)
    history = History(root)
    totals = (
        Totals()
        if checkpoint is None
        else Totals(rolling=checkpoint.rolling, epsilons=checkpoint.epsilons)
    )
    for number, entry in enumerate(history):
        if entry.pane != number:
            raise LedgerError(
                f"{root / 'ledger'}: pane {entry.pane} where pane {number} was expected"
            )
        if checkpoint is not None and totals.panes == checkpoint.panes:
            break
        totals.add(entry)
    if checkpoint is None:
        return len(history), []
    counted, told = totals.model_dump(mode="json"), checkpoint.model_dump(mode="json")
    return len(history), [key for key in told if told[key] != counted[key]]


def rebuild(root: Path, config: Config | None) -> None:
    """Make the checkpoint anew from the segments. config: of the run. Raises LedgerError, OSError."""
    totals = Totals.begun(config)
    while (path := segment_path(root, totals.panes)).exists():
        for raw in read_segment(root, totals.panes):
            totals.add(parsed(raw, path))
    if totals.panes:
        atomic_write(root / "ledger" / "checkpoint.json", canonical(totals.model_dump(mode="json")))
