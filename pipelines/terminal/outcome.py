"""What a run reports: how far it is after a pane, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

from evenflow.gates.ledger.history import History
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


@dataclass
class Outcome:
    """How a run ended.

    Attributes:
        entries: The ledger.
        new: Panes that this run committed.
        held: Why the gate is held; None if it is not.
    """

    entries: History
    new: int
    held: str | None = None

    @property
    def halted(self) -> bool:
        """Whether the run stopped before the end of its input."""
        return self.held is not None
