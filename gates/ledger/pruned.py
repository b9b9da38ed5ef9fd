"""Removes what a gate no longer needs: leftovers in staged/, old quarantine, old results of checks.

The ledger is not touched, nor are documents that count as accepted, whatever folder they are in.
Before files of quarantine are deleted, ledger/pruned/NUMBER.json names them: a file that is created
once and never changes. So a file that is missing can be told from one that was pruned.

A person may accept a pane of quarantine at the same moment. Pruning notes the files first and then
looks at the decisions; a decision is written first and then looks at what was pruned (`reviews`).
So at least one of the two sees the other, and no pane is accepted without its documents.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import ValidationError

from evenflow.gates.lease import Lease
from evenflow.gates.ledger.files import LedgerError, canonical, refuse_newer
from evenflow.gates.lock import LockedError
from evenflow.schemas.ledger import Entry
from evenflow.transforms.storage.storage import Place, Storage, Stored, at

if TYPE_CHECKING:
    from evenflow.gates.ledger.history import History  # it imports reviews, and these this module

Kind = Literal["staged", "quarantine", "checks"]
KINDS: tuple[Kind, ...] = ("staged", "quarantine", "checks")
FOLDER = "ledger/pruned"
CHECKS = "checks/gx/validations"
CHECKED = re.compile(rf"{CHECKS}/[^/]+/pane-(\d{{8,}})/.*")
TOGETHER = 1000  # files that are noted and deleted together


class Pruned(Entry):
    """Files of the ledger that are deleted.

    Attributes:
        number: Number of this note, from 0.
        files: Their names below the output.
        when: Time in UTC, ISO 8601.
    """

    number: int
    files: list[str]
    who: str
    when: str


class Old(NamedTuple):
    """A file that can go."""

    kind: Kind
    file: Stored


def read(root: Place) -> list[Pruned]:
    """Read what was pruned."""
    storage = at(root)
    names = [f"{FOLDER}/{name}" for name in storage.names(FOLDER)]
    return [
        _parse(data, storage.address(name))
        for name, data in zip(names, storage.read_all(names), strict=True)
        if data is not None
    ]


def _parse(data: bytes, address: str) -> Pruned:
    """Parse a note. Raises LedgerError."""
    try:
        return Pruned.model_validate_json(data)
    except ValidationError as error:
        refuse_newer(None, address, error)
        raise LedgerError(f"{address}: not a note of what was pruned: {error}") from error


def notes(root: Place) -> dict[str, Pruned]:
    """The notes on the files of the ledger that were pruned, by file. Raises as `read` does."""
    return {name: each for each in read(root) for name in each.files}


def missing(root: Place, files: Sequence[str]) -> list[str]:
    """Say of files that cannot be read why that is.

    Args:
        files: Their names below the output.

    Returns:
        A sentence about each, without a full stop.
    """
    return said(notes(root) if files else {}, files)


def said(known: Mapping[str, Pruned], files: Sequence[str]) -> list[str]:
    """Say the same with the notes at hand, by file."""
    return [
        f"{name} was pruned on {known[name].when} by {known[name].who}"
        if name in known
        else f"{name} cannot be read"
        for name in files
    ]


def candidates(root: Place, history: History, kinds: Iterable[Kind]) -> Iterator[Old]:
    """Find the files that no reader of the output needs.

    Yields:
        The files, in no order. Of quarantine: those that the ledger names and whose documents do
        not count as accepted. Of checks: the results of committed panes.

    Raises:
        LedgerError: An entry cannot be read.
        OSError: A folder cannot be listed.
    """
    storage, wanted = at(root), set(kinds)
    if "staged" in wanted:
        yield from (Old("staged", each) for each in storage.tree("staged"))
    if "checks" in wanted:
        for each in storage.tree(CHECKS):
            if (found := CHECKED.fullmatch(each.name)) and int(found[1]) < len(history):
                yield Old("checks", each)
    if "quarantine" in wanted:
        there = {each.name: each for each in storage.tree("quarantine")}
        for entry in history if there else ():
            for counted, folder, shard in history.files(entry):
                name = f"{folder}/{shard.name}"
                if counted == "quarantine" and name in there:
                    yield Old("quarantine", there[name])


def chosen(found: Iterable[Old], before: int | None = None, most: int | None = None) -> list[Old]:
    """Choose what goes by age and size.

    Args:
        before: A file that was changed before this goes, in nanoseconds since 1970; None: age is
            no reason. A file whose store does not say its age stays.
        most: Of each kind, the oldest files go until the rest has as many bytes at most; None: size
            is no reason.

    Returns:
        The files that go, by kind and from the oldest on.
    """
    ordered = sorted(found, key=lambda old: (old.kind, old.file.modified or 0, old.file.name))
    rest = dict.fromkeys(KINDS, 0)
    for each in ordered:
        rest[each.kind] += each.file.bytes
    gone: list[Old] = []
    for each in ordered:
        modified = each.file.modified
        is_old = before is not None and modified is not None and modified < before
        if is_old or (most is not None and rest[each.kind] > most):
            rest[each.kind] -= each.file.bytes
            gone.append(each)
    return gone


def prune(
    directory: Storage, history: History, files: Sequence[Old], who: str
) -> tuple[list[Old], str | None]:
    """Delete files, but those in staged/ that a run or an unfinished commit needs.

    Args:
        files: What `chosen` returned.

    Returns:
        What was deleted: not the files of panes that were accepted meanwhile; and why something
        stays, None where nothing does.

    Raises:
        LedgerError: A note or a decision cannot be read.
        OSError: A file cannot be written or deleted.
    """
    staged = [each for each in files if each.kind == "staged"]
    done = _prune(directory, history, [each for each in files if each.kind != "staged"], who)
    try:
        with Lease(directory) if staged else nullcontext():
            claims = directory.names("ledger/claims") if staged else []
            if any(int(name.split("-")[0]) >= len(history) for name in claims):
                return done, "staged/ stays: the next run finishes a commit from there"
            return done + _prune(directory, history, staged, who), None
    except LockedError as error:
        return done, f"staged/ stays: {error}"


def _prune(storage: Storage, history: History, files: Sequence[Old], who: str) -> list[Old]:
    """Delete files; what of quarantine goes is noted first, durably.

    A run that is killed meanwhile leaves files that are noted and still there. They are candidates
    again.

    Returns:
        What was deleted.
    """
    noted = [each for each in files if each.kind == "quarantine"]
    deleted = [each for each in files if each.kind != "quarantine"]
    storage.remove(each.file.name for each in deleted)
    for first in range(0, len(noted), TOGETHER):
        some = noted[first : first + TOGETHER]
        note = _note(storage, [each.file.name for each in some], who)
        history.look()
        kept = {
            f"{folder}/{shard.name}"
            for pane in history.reviews
            for counted, folder, shard in history.files(history[pane])
            if counted != "quarantine"
        }
        if kept & set(note.files):
            storage.remove([_name(note.number)])
            some = [each for each in some if each.file.name not in kept]
            _note(storage, [each.file.name for each in some], who)
        storage.remove(each.file.name for each in some)
        deleted += some
    return deleted


def _name(number: int) -> str:
    """The file of a note."""
    return f"{FOLDER}/{number:08d}.json"


def _note(storage: Storage, files: list[str], who: str) -> Pruned:
    """Note files as pruned; it is durable when this returns."""
    known = storage.names(FOLDER)
    number = int(known[-1].removesuffix(".json")) + 1 if known else 0
    while True:
        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        made = Pruned(number=number, files=files, who=who, when=when)
        if storage.create(_name(number), canonical(made.model_dump())):
            return made
        number += 1
