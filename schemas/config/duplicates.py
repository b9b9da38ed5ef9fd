"""Section `duplicates`: documents with the same id."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evenflow.schemas.config.section import Section


class Duplicates(Section):
    """Section `duplicates`."""

    scope: Literal["pane", "run"] = Field(
        default="pane",
        description=(
            "Where an id must be unique. The first document with an id stays, later ones become"
            " dead letters. pane: within a pane. run: across all panes, accepted or not, with an"
            " exact index of ids on disk (gate/ids.sqlite), which is rebuilt from the shards if it"
            " is missing. pane is the default because run has a cost: the index (2 million ids of"
            " 36 characters took 48 bytes and 16 µs each), and panes that are closed one after the"
            " other instead of by the workers."
        ),
    )
