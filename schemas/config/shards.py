"""Section `shards`: the output's files."""

from __future__ import annotations

from pydantic import Field

from evenflow.schemas.config.section import Section


class Shards(Section):
    """Section `shards`."""

    rows: int = Field(
        default=50_000,
        ge=1,
        description=(
            "Most documents in a shard. 50,000: an ordinary pane is one shard. A pane of very"
            " short texts has several, and none is too large to be read at once."
        ),
    )
