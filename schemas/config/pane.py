"""Section `pane`: slices of the input."""

from __future__ import annotations

from pydantic import Field

from evenflow.schemas.config.section import Section


class PaneSettings(Section):
    """Section `pane`."""

    docs: int | None = Field(
        default=None,
        ge=1,
        description="Most documents in a pane. null: 262,144, or as many as mib allows.",
    )
    mib: int = Field(
        default=64,
        ge=1,
        description=(
            "Most MiB of records in a pane, as read and decompressed. 64: that much web and news"
            " text names even religion, the rarest shipped attribute, some thousand times, which"
            " is enough for a verdict. The checks and files of such a pane cost little compared"
            " with reading it."
        ),
    )
    rolling: int = Field(
        default=4,
        ge=1,
        description=(
            "Number of panes behind a verdict: the pane itself and the last accepted ones before"
            " it, because the verdict is about what accepted/ will hold. 4: one odd pane (a single"
            " book or site) does not decide alone, and a lasting change shows within four panes."
            " 1: each pane is judged alone."
        ),
    )
