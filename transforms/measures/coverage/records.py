"""What the ledger holds of coverage."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from evenflow.schemas.ledger import Measured


class CoverageEntry(Measured):
    """The records of a pane by their values, and the gaps of the rolling panes.

    Attributes:
        records: How often each record occurs, by its values as JSON (measures.coverage.named).
        squares: Sum over documents of their squared number of records.
        clusters: Sums over documents by pattern (measures.coverage.clusters); empty without.
        rolling: The gaps of the last accepted panes and this one (measures.coverage.gaps).
        verdict: Verdict on the largest of them.
    """

    model_config = ConfigDict(extra="forbid")

    records: dict[str, int]
    squares: int
    clusters: dict[str, dict[str, int]] = Field(default_factory=dict[str, dict[str, int]])
    rolling: dict[str, Any]
