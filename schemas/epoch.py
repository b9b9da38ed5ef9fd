"""Epochs: ranges of panes that one program produced under one set of thresholds."""

from __future__ import annotations

from pydantic import Field

from evenflow.schemas.ledger import Entry


class Epoch(Entry):
    """The panes from one change of program or thresholds up to the next.

    Attributes:
        number: Number of the epoch, from 0.
        pane: First pane of the epoch.
        program: What produced the panes: versions and digests, by name.
        changes: What differs from the epoch before, one line for each difference.
    """

    number: int = 0
    pane: int = 0
    program: dict[str, str] = Field(default_factory=dict)
    changes: list[str] = Field(default_factory=list)
