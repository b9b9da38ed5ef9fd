"""How far a run on files is, for whoever shows its progress."""

from __future__ import annotations

from dataclasses import dataclass

from evenflow.schemas.ledger import PaneEntry


@dataclass
class PaneProgress:
    """How far a run is after a pane.

    Attributes:
        entry: The pane's entry in the ledger.
        seconds: Time that the pane took.
        input_bytes: Bytes of the files as stored that are done.
        total_bytes: Bytes of all files as stored.
    """

    entry: PaneEntry
    seconds: float
    input_bytes: int
    total_bytes: int
