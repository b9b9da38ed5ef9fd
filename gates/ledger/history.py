"""The ledger as a sequence of entries, of any length.

The last panes, fewer than segments.EVERY, are JSON files ledger/PANE.json. Older ones are in
segments. A start or a commit therefore costs as much as the last panes, not as all panes.

After a pane that completes a segment, the segment is written, then the checkpoint, and then the
JSON files are removed. Each step is durable before the next one begins. If the process is killed
between two steps, the next start completes them with the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import overload

from evenflow.gates.ledger import reviews, segments, spans
from evenflow.gates.ledger.files import (
    LedgerError,
    claim_name,
    entry_bytes,
    entry_name,
    parse_entry,
    read_entry,
    write_entry,
)
from evenflow.gates.ledger.reviews import Review
from evenflow.gates.ledger.spans import Span
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import Folder, PaneEntry, Shard
from evenflow.transforms.measures import registry
from evenflow.transforms.storage.storage import Place, Storage, at

CONFIDENCE = 0.95  # without a configuration
TRIES = 5  # of a reader while a run compacts the ledger, even one that has lost its lease


class History(Sequence[PaneEntry]):
    """The ledger of an output directory: its sums, and its entries one by one.

    The last entry stays in memory, with those that are not written yet; the others are read when
    they are asked for.

    Attributes:
        reviews: The decision in force on each pane that people decided on.
    """

    def __init__(self, root: Place, config: Config | None = None, repair: bool = False):
        """Read the ledger."""
        self._root, self._config = at(root), config
        self._sums = Totals.for_run(config)
        self.reviews: dict[int, Review] = {}
        self._all_reviews: list[Review] = []
        self._reviewed: list[PaneEntry] = []  # entries with a decision
        self._recent: list[PaneEntry] = []  # the last that count as accepted, with decisions
        self._totals: Totals | None = None
        self._in_segments = 0
        self._last: list[PaneEntry] = []  # and before it those that are not written
        self._tail: list[Span] = []  # of the panes that are not in segments
        self._hours: list[Span] = []  # of segments, as far as they were asked for
        for attempt in range(TRIES):
            try:
                self._read()
                break
            except (LedgerError, FileNotFoundError):
                if attempt == TRIES - 1:
                    raise
        self.look()
        if repair:
            self._clear(self._in_segments)
            self._compact()

    @property
    def decisions(self) -> Sequence[Review]:
        """All decisions of people, in order, with those that others have replaced."""
        return self._all_reviews

    @property
    def totals(self) -> Totals:
        """Sums of all entries, with the decisions of people."""
        if self._totals is None:
            self._totals = self._sums
            if self.reviews and self._last:
                confidence = self._config.gate.confidence if self._config else CONFIDENCE
                self._totals = reviews.overlay(
                    self._sums,
                    self._reviewed,
                    self.reviews,
                    self._recent,
                    self._last[-1],
                    lambda pane: self[pane].verdict.reason,
                    confidence,
                )
        return self._totals

    def folder(self, entry: PaneEntry) -> Folder:
        """Return where a pane's documents count; its files stay in `entry.folder`."""
        return reviews.folder(entry, self.reviews)

    def files(self, entry: PaneEntry) -> list[tuple[str, str, Shard]]:
        """List a pane's files, each with the folder that it counts in and the one that it is in."""
        folders = dict.fromkeys([each.name for each in entry.shards], self.folder(entry))
        if aside := reviews.taken(entry, self.reviews):
            folders[aside.name] = "accepted"
        return [(folders.get(each.name, place), place, each) for place, each in entry.files()]

    def look(self) -> bool:
        """Read what people have decided since.

        Returns:
            Whether there was anything.

        Raises:
            LedgerError: A decision or an entry cannot be read.
            OSError: A file cannot be read.
        """
        fresh = reviews.read(self._root, len(self._all_reviews))
        if not fresh:
            return False
        self._all_reviews += fresh
        self._decide()
        return True

    def _decide(self) -> None:
        """Find what the decisions change."""
        found = reviews.in_force(self._all_reviews)
        self.reviews = {pane: each for pane, each in found.items() if pane < len(self)}
        self._reviewed = [self[pane] for pane in sorted(self.reviews)]
        self._recent = []
        most = self._sums.rolling - 1
        for number in range(len(self) - 1, -1, -1):
            if len(self._recent) >= most or not self.reviews:
                break
            if self.folder(entry := self[number]) == "accepted":
                self._recent.insert(0, entry)
        self._totals = None

    def _read(self) -> None:
        """Read the checkpoint and the entries after it.

        A store may list an entry late. So the entry after the last listed one is asked for. Of
        panes that are committed together the first is written last: until then none counts.
        """
        checkpoint = segments.read_checkpoint(self._root)
        self._sums = Totals.for_run(self._config) if checkpoint is None else checkpoint
        self._last, self._tail, self._totals = [], [], None
        listed = [number for number in entry_numbers(self._root) if number >= self._sums.panes]
        if listed[:1] != [self._sums.panes]:
            # A committer that lost its lease may have put back an older checkpoint
            while self._root.exists(name := segments.segment_name(self._sums.panes)):
                for raw in segments.read_segment(self._root, self._sums.panes):
                    self._add(parse_entry(raw, name))
        self._in_segments, self._tail = self._sums.panes, []
        due = [number for number in listed if number >= self._sums.panes]
        expected = range(self._sums.panes, self._sums.panes + len(due))
        names = [entry_name(number) for number in expected]
        for number, name, raw in zip(expected, names, self._root.read_all(names), strict=True):
            if raw is None:
                if self._root.exists(claim_name(number, 0)) or self._root.exists(name):
                    break
                raise LedgerError(
                    f"{self._root.address(entry_name(due[-1]))}: pane {due[-1]} where pane"
                    f" {number} was expected; an entry is missing"
                )
            self._add(parse_entry(raw, self._root.address(name)))
        self._read_late()

    def _read_late(self) -> None:
        """Add entries after the last one: another run commits them, or a store lists them late."""
        while (raw := next(self._root.read_all([name := entry_name(len(self))]))) is not None:
            self._add(parse_entry(raw, self._root.address(name)))

    def follow(self) -> bool:
        """Add what another run has committed since. After an error, this is as it was before.

        Returns:
            Whether there was anything.

        Raises:
            LedgerError: An entry cannot be read.
            OSError: A file cannot be read.
        """
        before, kept = len(self), dict(self.__dict__)
        if self._root.exists(segments.segment_name(before - before % segments.EVERY)):
            try:
                self._read()
            except (LedgerError, OSError):
                self.__dict__.update(kept)
                raise
        self._read_late()
        if len(self) > before:
            self._decide()
        return self.look() or len(self) > before

    def _add(self, entry: PaneEntry) -> None:
        """Add an entry to the sums."""
        self._sums.add(entry)
        self._totals = None
        self._last = [entry]
        self._tail.append(spans.from_entry(entry))

    def commit(self, *entries: PaneEntry) -> None:
        """Append the entries of the next panes and write them; durable when this returns.

        Raises:
            TakenError: Another run has committed one of them.
            OSError: A file cannot be written.
        """
        for entry in entries:
            self.append(entry)
        self.write([(entry, entry_bytes(entry)) for entry in entries])

    def append(self, entry: PaneEntry) -> None:
        """Append the next pane's entry, which `write` is to write."""
        unwritten = self._last
        self._add(entry)
        self._last = [*unwritten, entry]
        if self.reviews and self.folder(entry) == "accepted":
            most = self._sums.rolling - 1
            self._recent = [*self._recent, entry][-most:] if most else []

    def write(self, entries: Sequence[tuple[PaneEntry, bytes]]) -> None:
        """Write the entries of the last panes, with their bytes; see `commit`.

        The first is written last, so that who reads the ledger sees all of them or none.
        """
        list(self._root.at_once(lambda each: write_entry(self._root, *each), entries[1:]))
        write_entry(self._root, *entries[0])
        self._last = self._last[-1:]
        self._compact()

    def _compact(self) -> None:
        """Move the JSON files into segments as long as they fill one."""
        while len(self) - (done := self._in_segments) >= segments.EVERY:
            names = [entry_name(number) for number in range(done, done + segments.EVERY)]
            raw = [each for each in self._root.read_all(names) if each is not None]
            if len(raw) == len(names):
                entries = [parse_entry(each, name) for each, name in zip(raw, names, strict=True)]
                segments.write_segment(self._root, done, raw, entries)
            elif not self._root.exists(segments.segment_name(done)):
                raise LedgerError(f"{self._root.address(names[0])}: it or a later entry is missing")
            # Else a run that has lost its lease since it committed the last of these has done this
            done += segments.EVERY
            totals = self._sums if done == len(self) else self._first(done)
            segments.write_checkpoint(self._root, totals)
            self._tail = self._tail[done - self._in_segments :]
            self._in_segments = done
            self._clear(done)

    def _first(self, panes: int) -> Totals:
        """The sums of the first panes, computed from the last checkpoint on."""
        totals = segments.read_checkpoint(self._root) or Totals(
            rolling=self._sums.rolling, epsilons=self._sums.epsilons
        )
        for number in range(totals.panes, panes):
            totals.add(read_entry(self._root, number))
        return totals

    def _clear(self, until: int) -> None:
        """Remove the JSON files of panes before `until`."""
        done = [number for number in entry_numbers(self._root) if number < until]
        self._root.remove(entry_name(number) for number in done)

    def __len__(self) -> int:
        return self._sums.panes

    @overload
    def __getitem__(self, index: int) -> PaneEntry: ...

    @overload
    def __getitem__(self, index: slice) -> list[PaneEntry]: ...

    def __getitem__(self, index: int | slice) -> PaneEntry | list[PaneEntry]:
        numbers = range(len(self))[index]
        return (
            list(self.some(numbers))
            if isinstance(numbers, range)
            else next(self.some(range(numbers, numbers + 1)))
        )

    def __iter__(self) -> Iterator[PaneEntry]:
        return self.some(range(len(self)))

    def some(self, numbers: range) -> Iterator[PaneEntry]:
        """Read the entries of some panes one by one; neighbours in a segment are read together.

        Raises:
            LedgerError: An entry cannot be read.
            OSError: A file cannot be read.
        """
        near = {each.pane: each for each in self._last}
        segment: int | None = None
        rows: list[bytes] = []
        for number in numbers:
            if number in near:
                yield near[number]
                continue
            first = number - number % segments.EVERY
            if number >= self._in_segments and first != segment:
                with suppress(FileNotFoundError):  # a run may compact the ledger meanwhile
                    yield read_entry(self._root, number)
                    continue
            if first != segment:
                segment, rows = first, segments.read_segment(self._root, first)
            yield parse_entry(rows[number - first], segments.segment_name(first))

    def spans(self) -> list[Span]:
        """Summarise all panes by hours; segments hold their part already.

        Raises:
            LedgerError: An entry cannot be read.
            OSError: A file cannot be read.
        """
        known = self._hours[-1].last + 1 if self._hours else 0
        fresh = [
            span
            for first in range(known, self._in_segments, segments.EVERY)
            for span in segments.read_spans(self._root, first)
        ]
        self._hours = [*self._hours, *fresh]
        return spans.grouped([*self._hours, *self._tail], spans.HOUR)

    def single_spans(self, numbers: range) -> list[Span]:
        """Summarise panes one by one.

        Raises:
            LedgerError: An entry cannot be read.
            OSError: A file cannot be read.
        """
        done = self._in_segments
        older = range(numbers.start, min(numbers.stop, done))
        newer = self._tail[max(numbers.start - done, 0) : max(numbers.stop - done, 0)]
        return [*map(spans.from_entry, self.some(older)), *newer]


def entry_numbers(root: Storage) -> list[int]:
    """Numbers of the panes that have a file of their own, in order."""
    found = (name.removesuffix(".json") for name in root.names("ledger") if name.endswith(".json"))
    return sorted(int(stem) for stem in found if stem.isdigit())


def recount(root: Place) -> tuple[int, list[str]]:
    """Verify the checkpoint by adding up the entries again.

    Returns:
        Number of panes, and the keys of the checkpoint that are wrong.

    Raises:
        LedgerError: An entry is missing or cannot be read.
    """
    checkpoint = segments.read_checkpoint(root)
    history = History(root)
    like = checkpoint or Totals()
    totals = Totals(rolling=like.rolling, epsilons=like.epsilons)
    for number, entry in enumerate(history):
        if entry.pane != number:
            raise LedgerError(
                f"{at(root).address('ledger')}: pane {entry.pane} where pane {number} was expected"
            )
        if checkpoint is not None and totals.panes == checkpoint.panes:
            break
        totals.add(entry)
    if checkpoint is None:
        return len(history), []
    counted, stored = totals.model_dump(mode="json"), checkpoint.model_dump(mode="json")
    return len(history), [key for key in stored if stored[key] != counted[key]]


def rebuild(root: Place, config: Config | None) -> None:
    """Compute the checkpoint again from the segments.

    Raises:
        LedgerError: A segment cannot be read, or an entry has a measure that is not loaded here.
        OSError: The checkpoint cannot be written.
    """
    totals = Totals.for_run(config)
    while at(root).exists(name := segments.segment_name(totals.panes)):
        for raw in segments.read_segment(root, totals.panes):
            totals.add(entry := parse_entry(raw, name))
            for unknown in entry.measures.keys() - registry.measures(entry.measures).keys():
                raise LedgerError(
                    f"{at(root).address(name)}: it has the measure {unknown}, which its plug-in"
                    f" alone adds up: delete {at(root).address(segments.CHECKPOINT)}, and the next"
                    " run makes it anew"
                )
    if totals.panes:
        segments.write_checkpoint(root, totals)
