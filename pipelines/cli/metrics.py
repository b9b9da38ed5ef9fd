"""`--metrics-port` of `evenflow run`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evenflow.pipelines.terminal.endings import Session, tell

if TYPE_CHECKING:
    from evenflow.pipelines.panes.metrics_server import LiveMetrics
    from evenflow.schemas.config import Config


@contextmanager
def served(
    settings: Config, output: Path, session: Session, quiet: bool
) -> Iterator[LiveMetrics | None]:
    """Serve metrics within the block, if a port is configured, and say where. Raises OSError for a
    port that cannot be had.
    """
    if settings.metrics.port is None:
        yield None
        return
    from evenflow.pipelines.panes.metrics_server import serving

    with serving(output, settings) as (metrics, address):
        if not quiet:
            tell("metrics", f"metrics at {address}", 0, session)
        yield metrics
