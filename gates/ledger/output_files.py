"""Compares the files of an output with its ledger, which has the size and the SHA-256 of each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice, repeat

from evenflow.gates.ledger import pruned, segments
from evenflow.gates.ledger.history import History
from evenflow.schemas.ledger import DOCUMENT_FOLDERS, PaneEntry, Shard
from evenflow.transforms.storage.storage import Storage

FOLDERS = (*DOCUMENT_FOLDERS, "dead-letter", "sentences")
SHARD = re.compile(r"part-(\d{8,})-(\d{4,}|aside)\.parquet")
OF_PANE = re.compile(r"[\w-]+/part-(\d{8,})\b.*")
READ_BYTES = 8 << 20
AT_ONCE = 4  # files that are read


@dataclass
class Compared:
    """What a comparison has found, by names below the output.

    Attributes:
        files: Number of files that the ledger names.
        missing: Those that are not there.
        changed: Those whose size or SHA-256 is another.
        pruned: Number of those that were deleted by `evenflow gate verify --prune`, and noted.
        unknown: Files that the ledger does not name.
        next: Files of the pane after the last one: it is being committed, or the run was killed
            then. The next start finishes or removes them.
    """

    files: int = 0
    bytes: int = 0
    missing: list[str] = field(default_factory=list[str])
    changed: list[str] = field(default_factory=list[str])
    pruned: int = 0
    unknown: list[str] = field(default_factory=list[str])
    next: list[str] = field(default_factory=list[str])

    @property
    def is_sound(self) -> bool:
        """Whether every file is there and as it was written, and no other."""
        return not (self.missing or self.changed or self.unknown)


def compare(root: Storage, history: History) -> Compared:
    """Compare all files with the ledger, and read each.

    Raises:
        LedgerError: An entry cannot be read.
        OSError: A file cannot be read.
    """
    found = Compared()
    named: set[str] = set()
    noted = pruned.notes(root)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        pairs = ((name, file) for entry in history for name, file in _files(entry))
        while some := list(islice(pairs, 64 * AT_ONCE)):
            said = pool.map(_fault, repeat(root), *zip(*some, strict=True))
            for (name, file), fault in zip(some, said, strict=True):
                named.add(name)
                if fault == "missing" and name in noted:
                    found.pruned += 1
                    continue
                found.files, found.bytes = found.files + 1, found.bytes + file.bytes
                if fault is not None:
                    getattr(found, fault).append(name)
    there = {each.name for folder in FOLDERS for each in root.tree(folder)}
    known = len(history)
    if history.follow():  # a run has committed panes meanwhile
        named |= {
            name for entry in history.some(range(known, len(history))) for name, _ in _files(entry)
        }
    for name in sorted(there - named):
        pane = OF_PANE.fullmatch(name)
        (found.next if pane and int(pane[1]) == len(history) else found.unknown).append(name)
    return found


def strays(root: Storage, history: History) -> tuple[list[str], list[str], int]:
    """Compare the names of shards with the ledger.

    A start reads no segment. So of panes in segments only names that no pane gives are found, and
    the others are counted.

    Returns:
        Names below the output, sorted, that the ledger does not have; those of the other panes that
        are gone and were not pruned; and how many files of panes in segments there are more than
        the ledger has (below 0: fewer).

    Raises:
        LedgerError: An entry cannot be read.
        OSError: A folder cannot be listed.
    """
    recent = range(len(history) - len(history) % segments.EVERY, len(history))
    named = {name for entry in history.some(recent) for name in entry.document_files()}
    noted, unknown, old = pruned.notes(root).keys(), list[str](), 0
    lost, gone = named - noted, noted - named
    for folder in DOCUMENT_FOLDERS:
        for name in root.names(folder):
            if (pane := SHARD.fullmatch(name)) and int(pane[1]) < recent.start:
                old += 1
                gone.discard(f"{folder}/{name}")
            elif f"{folder}/{name}" not in named:
                unknown.append(f"{folder}/{name}")
            lost.discard(f"{folder}/{name}")
    return unknown, sorted(lost), old + len(gone) - (history.totals.files - len(named))


def _files(entry: PaneEntry) -> Iterator[tuple[str, Shard]]:
    """The files of a pane, by their names below the output."""
    for folder, file in entry.files():
        yield f"{folder}/{file.name}", file


def _fault(root: Storage, name: str, file: Shard) -> str | None:
    """What is wrong with a file: missing, changed, or None."""
    digest, size = hashlib.sha256(), 0
    try:
        with root.open(name) as source:
            while data := source.read(READ_BYTES):
                digest.update(data)
                size += len(data)
    except FileNotFoundError:
        return "missing"
    return None if (size, digest.hexdigest()) == (file.bytes, file.sha256) else "changed"
