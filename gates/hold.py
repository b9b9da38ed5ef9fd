"""Holding the gate: by its policy after a blocked pane, or by hand; and letting it go on. Who, when
and why stand in the ledger.

Each word given is one file, ledger/holds/NUMBER.json, written once and never changed.
"""

from __future__ import annotations

import datetime
import getpass
import json
import os
import socket
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from evenflow.gates.ledger.files import LedgerError, atomic_write, canonical
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.ledger import Entry

Action = Literal["hold", "release"]


class Word(Entry):
    """hold or release: given by whom, when (UTC, ISO 8601), why, and after how many panes."""

    number: int
    action: Action
    panes: int
    who: str
    when: str
    reason: str


def words(root: Path) -> list[Word]:
    """All words given, in order. Raises LedgerError for a file that cannot be read."""
    found: list[Word] = []
    for path in sorted((root / "ledger" / "holds").glob("[0-9]*.json")):
        try:
            found.append(Word.model_validate(json.loads(path.read_bytes())))
        except (ValidationError, ValueError) as error:
            raise LedgerError(f"{path}: not a hold or release: {error}") from error
    return found


def give(root: Path, action: Action, reason: str, panes: int) -> Word:
    """Write a word, durable when this returns. Raises ValueError for an empty reason, OSError."""
    if not reason.strip():
        raise ValueError(f"a {action} needs a reason")
    folder = root / "ledger" / "holds"
    folder.mkdir(parents=True, exist_ok=True)
    word = Word(
        number=len(words(root)),
        action=action,
        panes=panes,
        who=f"{_user()} on {socket.gethostname()}",
        when=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        reason=reason,
    )
    atomic_write(folder / f"{word.number:08d}.json", canonical(word.model_dump()))
    return word


def held(root: Path, totals: Totals, policy: str) -> str | None:
    """Why the gate is held now, in a sentence; None if it may go on.

    totals: of its ledger. A word counts over the policy: a release lets a blocked pane be, a hold
    stands until a release.
    """
    given = words(root)
    last = given[-1] if given else None
    if last is not None and last.action == "hold":
        return f"held by {last.who} at {last.when}: {last.reason}"
    blocked = totals.folder == "quarantine"
    if policy == "halt" and blocked and (last is None or last.panes < totals.panes):
        return f"pane {totals.panes - 1} is blocked: {totals.reason}"
    return None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return f"user {os.getuid()}"
