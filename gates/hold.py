"""Holding the gate, by gate.on_block after a blocked pane or by hand, and releasing it.

Each hold or release is one file, ledger/holds/NUMBER.json. It says who, when and why, is written
once and never changes.
"""

from __future__ import annotations

from typing import Literal

from evenflow.gates.ledger.files import LedgerError, canonical, parsed
from evenflow.gates.ledger.reviews import signed
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import Entry
from evenflow.transforms.storage.storage import Place, Storage, at

FOLDER = "ledger/holds"
Action = Literal["hold", "release"]


class HoldEvent(Entry):
    """A hold or a release.

    Attributes:
        number: Number of the event, from 0.
        panes: Number of panes in the ledger at the time.
        when: Time in UTC, ISO 8601.
        reason: Why, in the user's words.
    """

    number: int
    action: Action
    panes: int
    who: str
    when: str
    reason: str


def read_events(root: Place) -> list[HoldEvent]:
    """Read all holds and releases.

    Raises:
        LedgerError: A file cannot be read.
    """
    storage = at(root)
    return [_read(storage, name) for name in storage.names(FOLDER)]


def _read(storage: Storage, name: str) -> HoldEvent:
    """Read an event of ledger/holds. Raises LedgerError."""
    try:
        return HoldEvent.model_validate(parsed(storage.read(f"{FOLDER}/{name}")))
    except ValueError as error:
        raise LedgerError(
            f"{storage.address(f'{FOLDER}/{name}')}: not a hold or release: {error}"
        ) from error


def add_event(
    root: Place, action: Action, reason: str, panes: int, who: str | None = None
) -> HoldEvent:
    """Write a hold or a release; it is durable when this returns.

    Args:
        who: The person, where it is not the user of this process.

    Raises:
        ValueError: The reason is empty.
        OSError: The file cannot be written.
    """
    if not reason.strip():
        raise ValueError(f"a {action} needs a reason")
    storage = at(root)
    event = HoldEvent(
        number=len(storage.names(FOLDER)),
        action=action,
        panes=panes,
        reason=reason,
        **signed(who),
    )
    while not storage.create(f"{FOLDER}/{event.number:08d}.json", canonical(event.model_dump())):
        event.number += 1  # somebody else holds or releases at the same time
    return event


def held_reason(root: Place, totals: Totals, config: Config | None) -> str | None:
    """Say why the gate is held now.

    An event overrides gate.on_block: a release lets the gate go on after a blocked pane, and a hold
    lasts until a release.

    Args:
        config: The run's, of which gate.on_block counts; None: it cannot be read.

    Returns:
        The reason, in a sentence; None if the gate is not held.

    Raises:
        LedgerError: A hold or release cannot be read.
    """
    storage = at(root)
    names = storage.names(FOLDER)
    last = _read(storage, names[-1]) if names else None
    if last is not None and last.action == "hold":
        return f"held by {last.who} at {last.when}: {last.reason}"
    if config is None or config.gate.on_block != "halt" or totals.folder != "quarantine":
        return None
    if last is None or last.panes < totals.panes:
        return f"pane {totals.panes - 1} is blocked: {totals.reason}"
    return None
