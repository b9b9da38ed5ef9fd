"""A ledger that grows for ever, without holding it in memory: some 30 KiB an entry, ten thousands of them in a week."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import overload

from evenflow.gates.ledger import read_entry
from evenflow.schemas.ledger import PaneEntry


class Entries(Sequence[PaneEntry]):
    """The entries of a ledger: the last one is in memory, the others are read from their files when they are asked for.

    root: the output directory. entries: those that it holds at the start. Raises LedgerError and OSError when one is read.
    """

    def __init__(self, root: Path, entries: Sequence[PaneEntry]):
        self._root = root
        self._count = len(entries)
        self._last = entries[-1] if entries else None

    def append(self, entry: PaneEntry) -> None:
        """Take in an entry that was written to the ledger."""
        self._count += 1
        self._last = entry

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> PaneEntry: ...

    @overload
    def __getitem__(self, index: slice) -> list[PaneEntry]: ...

    def __getitem__(self, index: int | slice) -> PaneEntry | list[PaneEntry]:
        numbers = range(self._count)[index]
        if isinstance(numbers, range):
            return [self._at(number) for number in numbers]
        return self._at(numbers)

    def __iter__(self) -> Iterator[PaneEntry]:
        return (self._at(number) for number in range(self._count))

    def _at(self, number: int) -> PaneEntry:
        if number == self._count - 1 and self._last is not None:
            return self._last
        return read_entry(self._root, number)
