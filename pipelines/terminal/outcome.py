"""What a run reports: to an observer while it goes on, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenflow.gates.ledger.history import History
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import PaneEntry

if TYPE_CHECKING:
    from evenflow.gates.health import Health


@dataclass
class PaneProgress:
    """How far a run is after a pane.

    Attributes:
        entry: The pane's entry in the ledger.
        input_bytes: Bytes of the files as stored that are done; of a topic 0.
        total_bytes: Bytes of all files as stored; of a topic 0.
    """

    entry: PaneEntry
    seconds: float
    input_bytes: int = 0
    total_bytes: int = 0


@dataclass
class Observer:
    """Hears how a run goes on.

    Attributes:
        note: Called with what a user should know.
        block: Called after each block of a file is read, with one worker only.
        backlog: Called again and again with the records of each partition of a topic that are not
            committed yet, and whether any of them are read; None: nobody wants to know.
        health: Says whether the run can do its work; None: nobody asks.
    """

    pane: Callable[[PaneProgress], None] = lambda done: None
    note: Callable[[str], None] = lambda text: None
    block: Callable[[Figures], None] = lambda figures: None
    backlog: Callable[[Mapping[int, int], bool], None] | None = None
    health: Health | None = None


@dataclass
class Outcome:
    """How a run ended.

    Attributes:
        held: Why the gate is held; None if it is not.
        unread: What of the input was not read, and why; None: all of it was.
    """

    entries: History
    new: int
    held: str | None = None
    unread: str | None = None

    @property
    def halted(self) -> bool:
        """Whether the run stopped before the end of its input."""
        return self.held is not None
