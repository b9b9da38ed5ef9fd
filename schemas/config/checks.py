"""Section `checks`: the checks of Great Expectations."""

from __future__ import annotations

from pydantic import Field

from evenflow.schemas.config.section import Section


class CheckSettings(Section):
    """Section `checks`."""

    suite: str | None = Field(
        default=None,
        description=(
            "YAML file with further expectations for each pane, [{type, kwargs}]. The path is"
            " relative to this file's folder."
        ),
    )
