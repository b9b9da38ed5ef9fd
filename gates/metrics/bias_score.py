"""Metrics of the bias score."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric

from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics.draw import Values, counter, gauge
from evenflow.schemas.ledger import BiasSummary

PLACE = ("attribute", "window")


def families(totals: Totals) -> Iterator[Metric]:
    """Yield the metrics of the bias score; without it they have no sample."""
    found = totals.bias_score
    windows: dict[tuple[str, str], BiasSummary] = {}
    if found is not None:
        last = found.last
        windows = {(last.attribute, window): each for window, each in last.windows().items()}
    scored: Values = {} if found is None else {(found.last.attribute,): found.sums.sentences}
    yield counter(
        "evenflow_bias_score_sentences", "Sentences with a bias score.", ["attribute"], scored
    )
    yield gauge(
        "evenflow_bias_score_mean",
        "Mean absolute bias score.",
        PLACE,
        {place: each.mean.value for place, each in windows.items() if each.mean is not None},
    )
    yield gauge(
        "evenflow_bias_score",
        "Percentiles of the absolute bias score.",
        [*PLACE, "percentile"],
        {
            (*place, percent): figure.value
            for place, each in windows.items()
            for percent, figure in each.percentiles.items()
        },
    )
    above = {place: each.above for place, each in windows.items() if each.above is not None}
    yield gauge(
        "evenflow_bias_score_high_share",
        "Share of sentences above the reference's percentile.",
        PLACE,
        {place: each.value for place, each in above.items()},
    )
    yield gauge(
        "evenflow_bias_score_high_share_low",
        "Lower bound of that share's interval, by which the gate judges.",
        PLACE,
        {place: each.low for place, each in above.items()},
    )
