"""Section `synthetic`: documents that a program wrote."""

from __future__ import annotations

from pydantic import Field, model_validator

from evenflow.schemas.config.section import Section, Share
from evenflow.schemas.messages import Problem, refuse


class SyntheticSettings(Section):
    """Section `synthetic`."""

    field: str | None = Field(
        default=None,
        min_length=1,
        description=(
            "Field that marks a document as synthetic, by any value but null, false, 0 and empty"
            " text. `evenflow lab coverage generate` writes the field synthetic. null: synthetic"
            " documents are not told from others."
        ),
    )
    warn: Share | None = Field(
        default=None,
        description=(
            "A pane gets a warning if more than this share of the rolling panes' documents is"
            " synthetic. null: none does for its share."
        ),
    )
    block: Share | None = Field(
        default=None,
        description=(
            "A pane is blocked if more than this share of the rolling panes' documents is"
            " synthetic. null: none is."
        ),
    )

    @model_validator(mode="after")
    def _in_order(self) -> SyntheticSettings:
        """Refuse limits without a field, and a block limit below warn."""
        if self.field is None and (self.warn, self.block) != (None, None):
            refuse([Problem(("field",), "a limit needs the field that marks a document")])
        if self.warn is not None and self.block is not None and self.block < self.warn:
            refuse([Problem(("block",), f"block ({self.block}) is below warn ({self.warn})")])
        return self
