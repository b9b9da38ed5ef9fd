"""Section `metrics`: what a run serves to Prometheus."""

from __future__ import annotations

from pydantic import Field

from evenflow.schemas.config.section import Section


class Metrics(Section):
    """Section `metrics`."""

    port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description=(
            "Port at which a run serves its metrics to Prometheus. 0: any free port. null: no"
            " metrics are served."
        ),
    )
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description=(
            "Address to listen on. 127.0.0.1: only this machine can connect. 0.0.0.0: every"
            " network of this machine can."
        ),
    )
