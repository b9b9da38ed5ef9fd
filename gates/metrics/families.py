"""All metrics of a gate."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric

from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics import draw, figures, llm, state, thresholds
from evenflow.gates.metrics.now import Now
from evenflow.schemas.config import Config
from evenflow.transforms.measures import registry


def families(totals: Totals, now: Now, config: Config | None = None) -> Iterator[Metric]:
    """Compute all metrics.

    Args:
        totals: Sums of the ledger so far.
        config: Says the thresholds; None: there are none.

    Yields:
        The families of metrics. One whose value is not known has no sample.
    """
    yield from figures.families(totals, config, now.since)
    for name, each in registry.measures(totals.measures).items():
        yield from map(draw.family, each.families(totals.measures.get(name)))
    yield from llm.families(totals)
    yield from state.families(totals, now)
    if config is not None:
        yield from thresholds.families(config, now)
