"""The ledger as a sequence of entries, of any length.

The last panes, fewer than segments.EVERY, are JSON files ledger/PANE.json. Older ones are in
segments. A start or a commit therefore costs as much as the last panes, not as all panes.

After a pane that completes a segment, the segment is written, then the checkpoint, and then the
JSON files are removed. Each step is durable before the next one begins. If the process is killed
between two steps, the next start completes them with the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import overload

from evenflow.gates.ledger import segments, spans
from evenflow.gates.ledger.files import LedgerError, parse_entry, read_entry, write_entry
from evenflow.gates.ledger.spans import Span
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import PaneEntry

TRIES = 5  # of a reader while a run compacts the ledger


class History(Sequence[PaneEntry]):
    """The ledger of an output directory: its sums, and its entries one by one.

    The last entry stays in memory; the others are read when they are asked for.

    Attributes:
        totals: Sums of all entries.
    """

    def __init__(self, root: Path, config: Config | None = None, repair: bool = False):
        """Read the ledger.

        Args:
            root: Output directory.
            config: The run's configuration, which says how far the sums look back.
            repair: Complete what a killed run left unfinished. Only the holder of the output's
                lock may do this.

        Raises:
            LedgerError: An entry is missing or cannot be read.
            OSError: A file cannot be read or written.
        """
        self._root = root
        self.totals = Totals()
        self._last: PaneEntry | None = None
        for attempt in range(TRIES):
            try:
                self._read(config)
                break
            except (LedgerError, FileNotFoundError):
                if repair or attempt == TRIES - 1:
                    raise
        if repair:
            self._clear(segments.checkpoint_panes(root))
            self._compact()

    def _read(self, config: Config | None) -> None:
        """Read the checkpoint and the entries after it."""
        checkpoint = segments.read_checkpoint(self._root)
        self.totals = Totals.for_run(config) if checkpoint is None else checkpoint
        self._last = None
        for number, path in entry_files(self._root):
            if number < self.totals.panes:
                continue  # in a segment already
            if number != self.totals.panes:
                raise LedgerError(
                    f"{path}: pane {number} where pane {self.totals.panes} was expected; an entry"
                    " is missing"
                )
            self._add(parse_entry(path.read_bytes(), path))

    def _add(self, entry: PaneEntry) -> None:
        """Add an entry to the sums."""
        self.totals.add(entry)
        self._last = entry

    def commit(self, entry: PaneEntry) -> None:
        """Write the next pane's entry, durable when this returns, and append it.

        Args:
            entry: Entry of the pane.

        Raises:
            OSError: A file cannot be written.
        """
        write_entry(self._root, entry)
        self.append(entry)

    def append(self, entry: PaneEntry) -> None:
        """Append an entry that is already written."""
        self._add(entry)
        self._compact()

    def _compact(self) -> None:
        """Move the JSON files into segments as long as they fill one."""
        done = segments.checkpoint_panes(self._root)
        while len(self) - done >= segments.EVERY:
            numbers = range(done, done + segments.EVERY)
            paths = [self._root / "ledger" / f"{number:08d}.json" for number in numbers]
            raw = [path.read_bytes() for path in paths]
            entries = [parse_entry(each, path) for each, path in zip(raw, paths, strict=True)]
            segments.write_segment(self._root, done, raw, entries)
            done += segments.EVERY
            totals = self.totals if done == len(self) else self._first(done)
            segments.write_checkpoint(self._root, totals)
            self._clear(done)

    def _first(self, panes: int) -> Totals:
        """The sums of the first panes, computed from the last checkpoint on."""
        totals = segments.read_checkpoint(self._root) or Totals(
            rolling=self.totals.rolling, epsilons=self.totals.epsilons
        )
        for number in range(totals.panes, panes):
            totals.add(read_entry(self._root, number))
        return totals

    def _clear(self, until: int) -> None:
        """Remove the JSON files of panes before `until`."""
        for number, path in entry_files(self._root):
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
        segment: int | None = None
        rows: list[bytes] = []
        for number in numbers:
            if number == len(self) - 1 and self._last is not None:
                yield self._last
                continue
            path = self._root / "ledger" / f"{number:08d}.json"
            if path.exists():
                yield parse_entry(path.read_bytes(), path)
                continue
            first = number - number % segments.EVERY
            if first != segment:
                segment, rows = first, segments.read_segment(self._root, first)
            yield parse_entry(rows[number - first], segments.segment_path(self._root, first))

    def spans(self) -> list[Span]:
        """Summarise all panes by hours; segments hold their part already.

        Returns:
            One span for each hour with panes.

        Raises:
            LedgerError: An entry cannot be read.
            OSError: A file cannot be read.
        """
        found: list[Span] = []
        checkpointed = segments.checkpoint_panes(self._root)
        for first in range(0, checkpointed, segments.EVERY):
            found += segments.read_spans(self._root, first)
        found += map(spans.from_entry, self._some(range(checkpointed, len(self))))
        return spans.grouped(found, spans.HOUR)


def entry_files(root: Path) -> list[tuple[int, Path]]:
    """Numbers and JSON files of the panes that are not in segments, in order."""
    return sorted((int(path.stem), path) for path in (root / "ledger").glob("[0-9]*.json"))


def recount(root: Path) -> tuple[int, list[str]]:
    """Verify the checkpoint by adding up the entries again.

    Args:
        root: Output directory.

    Returns:
        Number of panes, and the keys of the checkpoint that are wrong.

    Raises:
        LedgerError: An entry is missing or cannot be read.
    """
    checkpoint = segments.read_checkpoint(root)
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
    counted, stored = totals.model_dump(mode="json"), checkpoint.model_dump(mode="json")
    return len(history), [key for key in stored if stored[key] != counted[key]]


def rebuild(root: Path, config: Config | None) -> None:
    """Compute the checkpoint again from the segments.

    Args:
        root: Output directory.
        config: The run's configuration.

    Raises:
        LedgerError: A segment cannot be read.
        OSError: The checkpoint cannot be written.
    """
    totals = Totals.for_run(config)
    while (path := segments.segment_path(root, totals.panes)).exists():
        for raw in segments.read_segment(root, totals.panes):
            totals.add(parse_entry(raw, path))
    if totals.panes:
        segments.write_checkpoint(root, totals)
