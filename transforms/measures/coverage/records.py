"""What the ledger holds of coverage."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from evenflow.schemas.ledger import Measured


class CoverageEntry(Measured):
    """The records of a pane by their values, and the gaps of the rolling panes."""

    model_config = ConfigDict(extra="forbid")

    records: dict[str, int]
    squares: int
    clusters: dict[str, dict[str, int]] = Field(default_factory=dict[str, dict[str, int]])
    rolling: dict[str, Any]
