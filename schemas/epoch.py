"""Epochs: stretches of panes that one program made under one set of thresholds."""

from __future__ import annotations

from pydantic import Field

from evenflow.schemas.ledger import Entry


class Epoch(Entry):
    """Panes from `pane` on, up to the next epoch's. program: what made them, by version and
    digests. changes: what is other than in the epoch before, a line each."""

    number: int = 0
    pane: int = 0
    program: dict[str, str] = Field(default_factory=dict)
    changes: list[str] = Field(default_factory=list)
