"""Decisions of people: a pane that was set aside is accepted, one that was accepted is rejected.

Each decision is one file, ledger/reviews/NUMBER.json, that is created once and never changes. No
shard moves and no entry changes: who follows the ledger asks it where a pane's documents count. The
last decision on a pane is in force.
"""

from __future__ import annotations

import datetime
import getpass
import os
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, Literal

from evenflow.gates.ledger.combine import add_sums
from evenflow.gates.ledger.files import LedgerError, canonical, parsed
from evenflow.gates.ledger.spans import causes
from evenflow.gates.ledger.totals import NAMED, Reviewed, Totals, Window
from evenflow.schemas.errors import USAGE
from evenflow.schemas.ledger import AttributeEntry, Entry, Folder, PaneEntry, Shard, Sums
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.representation.dr import score
from evenflow.transforms.measures.representation.people import doubted
from evenflow.transforms.measures.shift.measure import ShiftMeasure
from evenflow.transforms.storage.storage import Place, Storage, at

FOLDER = "ledger/reviews"
MOST_PANES = 10_000_000  # of a decision: more than any ledger has
ASIDE = "aside.parquet"  # end of the name of documents that were set aside one by one
Action = Literal["accept", "reject", "undo"]
FOLDERS: dict[Action, Folder] = {"accept": "accepted", "reject": "quarantine"}


class PrunedError(LedgerError):
    """A pane whose documents were pruned cannot be accepted."""

    status = USAGE


class Review(Entry):
    """A decision on neighbouring panes.

    Attributes:
        number: Number of the decision, from 0.
        action: accept, reject, or undo: the gate's own verdict counts again.
        when: Time in UTC, ISO 8601.
        reason: Why, in the person's words.
    """

    number: int
    action: Action
    first: int
    last: int
    who: str
    when: str
    reason: str

    @property
    def said(self) -> str:
        """The decision in words, without its panes."""
        return f"{self.action}ed by {self.who} at {self.when}: {self.reason}"


def user() -> str:
    """The user's name, or number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return f"user {os.getuid()}"


def signed(who: str | None) -> dict[str, str]:
    """Who decides, the user of this process if nobody is named, and when."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {"who": f"{who or user()} on {socket.gethostname()}", "when": now}


def read(root: Place, after: int = 0) -> list[Review]:
    """Read the decisions."""
    storage = at(root)
    return [_read(storage, name) for name in storage.names(FOLDER)[after:]]


def _read(storage: Storage, name: str) -> Review:
    """Read a file of ledger/reviews. Raises LedgerError."""
    try:
        found = Review.model_validate(parsed(storage.read(f"{FOLDER}/{name}")))
        if not 0 <= found.first <= found.last < found.first + MOST_PANES:
            raise ValueError(f"panes {found.first} to {found.last}")
        return found
    except ValueError as error:
        address = storage.address(f"{FOLDER}/{name}")
        raise LedgerError(f"{address}: not a review: {error}") from error


def in_force(reviews: Iterable[Review]) -> dict[int, Review]:
    """The decision that counts for each pane; panes without one are missing."""
    found: dict[int, Review] = {}
    for each in reviews:
        for pane in range(each.first, each.last + 1):
            if each.action == "undo":
                found.pop(pane, None)
            else:
                found[pane] = each
    return found


def add(
    root: Place, action: Action, panes: range, reason: str, who: str | None = None
) -> Review | None:
    """Decide on panes; the decision is durable when this returns.

    The same decision a second time changes nothing and is not written.

    Args:
        action: accept, reject or undo.
        panes: The panes, at least one; the ledger has them.
        who: The person; None: the user of this process.

    Returns:
        The decision; None if each of the panes has it already.

    Raises:
        ValueError: The reason is empty.
        PrunedError: The documents of a pane that is to be accepted were pruned.
        LedgerError: An earlier decision cannot be read.
        OSError: The file cannot be written.
    """
    if not reason.strip():
        raise ValueError(f"a decision ({action}) needs a reason")
    storage = at(root)
    if action == "accept":
        _refuse_pruned(storage, panes)
    while True:
        known = read(storage)
        now = in_force(known)
        before = {now[pane].action if pane in now else "undo" for pane in panes}
        if before == {action}:
            return None
        made = Review(
            number=len(known),
            action=action,
            first=panes[0],
            last=panes[-1],
            reason=reason,
            **signed(who),
        )
        if storage.create(f"{FOLDER}/{made.number:08d}.json", canonical(made.model_dump())):
            break  # else somebody else has decided meanwhile
    if action == "accept":
        try:  # once more, for who prunes looks at the decisions after the note (see `pruned`)
            _refuse_pruned(storage, panes)
        except PrunedError:
            add(root, "undo", panes, "the documents were pruned meanwhile", who)
            raise
    return made


def _refuse_pruned(storage: Storage, panes: range) -> None:
    """Raise PrunedError if a pane's documents in quarantine were pruned."""
    from evenflow.gates.ledger import pruned  # only where a person accepts a pane
    from evenflow.gates.ledger.history import History

    parts = (each.removeprefix("quarantine/part-").split("-") for each in pruned.notes(storage))
    named = sorted({(int(part[0]), part[1] == ASIDE) for part in parts if int(part[0]) in panes})
    history = History(storage) if named else ()
    if gone := [pane for pane, alone in named if not alone or aside(history[pane])]:
        raise PrunedError(
            f"{storage}: the documents of pane {gone[0]} were pruned, so it cannot be accepted;"
            f" {storage.address(pruned.FOLDER)} says when and by whom"
        )


def waiting(entries: Iterable[PaneEntry], decided: Mapping[int, Review]) -> list[int]:
    """The panes that are blocked, or have a source that was set aside, until a person decides."""
    off = (each.pane for each in entries if each.folder == "quarantine" or aside(each))
    return [pane for pane in off if pane not in decided]


def folder(entry: PaneEntry, decided: Mapping[int, Review]) -> Folder:
    """Where a pane's documents count, whatever folder its files are in."""
    review = decided.get(entry.pane)
    return entry.folder if review is None else FOLDERS[review.action]


def aside(entry: PaneEntry) -> Shard | None:
    """The file in quarantine of a pane whose sources have shifted; None: it has no such source."""
    shift = entry.measures.get(ShiftMeasure.name)
    return entry.set_aside if getattr(shift, "aside", None) else None


def taken(entry: PaneEntry, decided: Mapping[int, Review]) -> Shard | None:
    """That file where a person has accepted the pane: its documents count as accepted."""
    review = decided.get(entry.pane)
    return aside(entry) if review is not None and review.action == "accept" else None


def overlay(
    totals: Totals,
    reviewed: Sequence[PaneEntry],
    decided: Mapping[int, Review],
    recent: Sequence[PaneEntry],
    last: PaneEntry,
    reason_of: Callable[[int], str],
    confidence: float,
) -> Totals:
    """Apply decisions to the sums of a ledger."""
    moved = [each for each in reviewed if folder(each, decided) != each.folder]
    signs = {each.pane: 1 if each.folder == "quarantine" else -1 for each in moved}
    back = {each.pane: own.rows for each in reviewed if (own := taken(each, decided))}
    documents = sum(signs[each.pane] * each.documents for each in moved) + sum(back.values())
    accepted = [each for each in moved if signs[each.pane] > 0]
    rejected = [each for each in moved if signs[each.pane] < 0]
    blocked = sorted({*totals.blocked, *(each.pane for each in rejected)})
    blocked = [pane for pane in blocked if pane not in {each.pane for each in accepted}]
    number = totals.blocked_panes + len(rejected) - len(accepted)
    shifted, shift = dict(totals.measures), ShiftMeasure.name
    for each in filter(aside, reviewed):  # accepted or rejected, none of its sources waits
        shifted[shift] = ShiftMeasure().taken_back(shifted[shift], each.measures[shift])
    changes: dict[str, object] = {
        "accepted": totals.accepted + documents,
        "aside": totals.aside - sum(back.values()),
        "blocked_panes": number,
        "blocked": blocked[-NAMED:],
        "reviewed": Reviewed(
            accepted=len(back.keys() | {each.pane for each in accepted}),
            rejected=len(rejected),
            confirmed=sum(each.folder == "quarantine" for each in reviewed) - len(accepted),
            documents=documents,
            decided=[pane for pane in blocked[-NAMED:] if pane in decided],
        ),
        "attributes": {
            name: each.model_copy(
                update=_accepted(each.accepted, each.last, name, moved, signs, confidence)
            )
            for name, each in totals.attributes.items()
        },
        "recent_accepted": [_window(each) for each in recent],
        "measures": {
            name: each.model_copy(update={"recent": _recent(name, recent)})
            for name, each in shifted.items()
        },
    }
    newest = blocked[-1] if blocked else None
    if newest in signs:
        changes["blocked_reason"] = decided[newest].said
    elif newest != (totals.blocked[-1] if totals.blocked else None):
        changes["blocked_reason"] = "" if newest is None else reason_of(newest)
    if last.pane in signs:
        changes["folder"] = folder(last, decided)
        changes["state"] = "open" if signs[last.pane] > 0 else "block"
    elif last.pane in back and causes(last) == (shift,):
        changes["state"] = "open"
    if "state" in changes:
        changes["reason"] = decided[last.pane].said
    return totals.model_copy(update=changes)


def _window(entry: PaneEntry) -> Window:
    """What later verdicts need of a pane."""
    return {name: each.sums for name, each in entry.attributes.items()}


def _recent(name: str, panes: Sequence[PaneEntry]) -> list[dict[str, Any]]:
    """A measure's sums of panes."""
    measure = registry.measures([name])[name]
    found = (each.measures.get(name) for each in panes)
    return [measure.sums(each) for each in found if each is not None]


def _accepted(
    before: Sums,
    last: AttributeEntry,
    name: str,
    moved: Sequence[PaneEntry],
    signs: Mapping[int, int],
    confidence: float,
) -> dict[str, object]:
    """Sums of an attribute's accepted panes, and the last pane's record with their score."""
    total = reduce(
        add_sums,
        (
            _times(each.attributes[name].sums, signs[each.pane])
            for each in moved
            if name in each.attributes
        ),
        before,
    )
    wide = doubted(total, 0.0 if last.people is None else last.people.doubt)
    after = last.model_copy(update={"accepted": score(wide, last.target, confidence)})
    return {"accepted": total, "last": after}


def _times(sums: Sums, sign: int) -> Sums:
    """Sums with a sign, so that adding them takes them away."""
    return Sums(
        documents=sign * sums.documents,
        counts=[sign * each for each in sums.counts],
        products=[[sign * each for each in row] for row in sums.products],
    )
