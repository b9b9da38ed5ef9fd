"""Metrics of the measured attributes: scores, verdicts, mentions and shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client.core import Metric

from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics.draw import counter, gauge
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import BAD, STATES, Score, Sums

WINDOWS = ("pane", "rolling", "stream", "cumulative", "accepted")
SCORES = (
    ("evenflow_dr", "Demographic Representation score: 0 is even.", "dr"),
    ("evenflow_dr_low", "Lower bound of the score's interval, by which the gate judges.", "low"),
    ("evenflow_dr_high", "Upper bound of the score's interval.", "high"),
)


def families(totals: Totals, config: Config | None, since: Mapping[str, float]) -> Iterator[Metric]:
    """Yield the metrics of the attributes.

    Args:
        totals: Sums of the ledger.
        config: Says the thresholds; None: there are none.
        since: When each attribute's state began, seconds since 1970.

    Yields:
        The families.
    """
    yield from _scores(totals)
    yield from _verdicts(totals, config, since)
    yield from _mentions(totals)


def _scores(totals: Totals) -> Iterator[Metric]:
    """Yield the scores of attributes, and what they are made of where people are counted."""
    attributes = totals.attributes
    found: dict[tuple[str, str], Score] = {
        (name, window): score
        for name, each in attributes.items()
        for window in WINDOWS
        if (score := getattr(each.last, window)) is not None
    }
    # Without a mention there is no score, and no sample
    for name, about, key in SCORES:
        values = {place: getattr(score, key) for place, score in found.items()}
        yield gauge(name, about, ["attribute", "window"], values)
    words: dict[tuple[str, str], Score] = {
        (name, window): getattr(people, window)
        for name, each in attributes.items()
        if (people := each.last.people) is not None
        for window in ("pane", "cumulative")
    }
    for key in ("dr", "low", "high"):
        yield gauge(
            f"evenflow_words_dr{'' if key == 'dr' else f'_{key}'}",
            "Score of all mentions beside that of people (measure.count: people)"
            + {"dr": ".", "low": ", lower bound.", "high": ", upper bound."}[key],
            ["attribute", "window"],
            {place: getattr(score, key) for place, score in words.items()},
        )
    yield gauge(
        "evenflow_people_passages",
        "Passages of the last pane that the reader read to count people.",
        ["attribute"],
        {
            (name,): each.last.people.passages
            for name, each in attributes.items()
            if each.last.people is not None
        },
    )


def _verdicts(
    totals: Totals, config: Config | None, since: Mapping[str, float]
) -> Iterator[Metric]:
    """Yield the thresholds and verdicts of attributes."""
    yield gauge(
        "evenflow_dr_threshold",
        "Lower bound of the rolling score from which a pane gets a warning, or is blocked.",
        ["attribute", "level"],
        {
            (name, level): value
            for name in (config.attributes if config else ())
            for level, value in zip(BAD, config.thresholds(name) if config else (), strict=True)
        },
    )
    states = {name: each.last.verdict.state for name, each in totals.attributes.items()}
    yield gauge(
        "evenflow_verdict",
        "1 for the verdict on an attribute of the last pane, 0 for the others.",
        ["attribute", "state"],
        {(name, state): int(state == now) for name, now in states.items() for state in STATES},
    )
    yield gauge(
        "evenflow_verdict_since_timestamp_seconds",
        "When an attribute came into its present state, if that is warn or block, seconds since"
        " 1970.",
        ["attribute", "state"],
        {(name, state): since.get(name) for name, state in states.items() if state in BAD},
    )


def _mentions(totals: Totals) -> Iterator[Metric]:
    """Yield the mentions of groups, their shares and what these should be."""
    attributes = totals.attributes
    yield counter(
        "evenflow_mentions",
        "Mentions of a group, after the repair.",
        ["attribute", "group"],
        {
            (name, group): count
            for name, each in attributes.items()
            for group, count in zip(each.last.groups, each.sums.counts, strict=True)
        },
    )
    sums: dict[tuple[str, str], Sums] = {}
    for name, each in attributes.items():
        sums[name, "pane"] = each.last.sums
        sums[name, "cumulative"], sums[name, "accepted"] = each.sums, each.accepted
    yield gauge(
        "evenflow_share_ratio",
        "Share of a group in the attribute's mentions.",
        ["attribute", "group", "window"],
        {
            (name, group, window): count / total
            for (name, window), each in sums.items()
            if (total := sum(each.counts))
            for group, count in zip(attributes[name].last.groups, each.counts, strict=True)
        },
    )
    yield gauge(
        "evenflow_target_share_ratio",
        "Share of the mentions that a group should have.",
        ["attribute", "group"],
        {
            (name, group): share
            for name, each in attributes.items()
            for group, share in zip(each.last.groups, each.last.target, strict=True)
        },
    )
