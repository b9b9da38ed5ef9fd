"""Metrics of the bias score."""

from __future__ import annotations

from collections.abc import Iterator

from evenflow.transforms.measures.bias_score.records import BiasScore
from evenflow.transforms.measures.measure import Family

PLACE = ("attribute", "window")


def families(last: BiasScore | None, sentences: int) -> Iterator[Family]:
    """Yield the metrics of the bias score; without it they have no sample.

    Args:
        last: The record of the last pane; None before the first.
        sentences: Number of scored sentences of all panes.
    """
    windows = (
        {(last.attribute, name): each for name, each in last.windows().items()} if last else {}
    )
    yield Family(
        "bias_score_sentences",
        "Sentences with a bias score.",
        ["attribute"],
        {(last.attribute,): sentences} if last else {},
        is_counter=True,
    )
    yield Family(
        "bias_score_mean",
        "Mean absolute bias score.",
        PLACE,
        {place: each.mean.value for place, each in windows.items() if each.mean is not None},
    )
    yield Family(
        "bias_score",
        "Percentiles of the absolute bias score.",
        [*PLACE, "percentile"],
        {
            (*place, percent): figure.value
            for place, each in windows.items()
            for percent, figure in each.percentiles.items()
        },
    )
    above = {place: each.above for place, each in windows.items() if each.above is not None}
    yield Family(
        "bias_score_high_share",
        "Share of sentences above the reference's percentile.",
        PLACE,
        {place: each.value for place, each in above.items()},
    )
    yield Family(
        "bias_score_high_share_low",
        "Lower bound of that share's interval, by which the gate judges.",
        PLACE,
        {place: each.low for place, each in above.items()},
    )
