"""Metrics of what changes a text: the repair, and the filter of stereotypes."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric

from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics.draw import counter

REPAIR = (
    ("evenflow_repair_sets", "Sets of mentions that the repair found.", "sets"),
    ("evenflow_repair_eligible_sets", "Sets that could be exchanged.", "eligible"),
    ("evenflow_repair_changed_sets", "Sets that were exchanged.", "changed"),
)
STEREOTYPES = (
    ("evenflow_stereotypes_asked", "Sentences that were looked at for stereotypes.", "asked"),
    (
        "evenflow_potential_stereotypes",
        "Sentences that may state a stereotype.",
        "potential",
    ),
    ("evenflow_strong_stereotypes", "Sentences that state a strong stereotype.", "strong"),
)


def families(totals: Totals) -> Iterator[Metric]:
    """Yield the metrics of repairs and stereotypes."""
    repairs = {
        name: each.repair for name, each in totals.attributes.items() if each.repair is not None
    }
    for name, about, key in REPAIR:
        counts = {(each,): getattr(repair, key) for each, repair in repairs.items()}
        yield counter(name, about, ["attribute"], counts)
    yield counter(
        "evenflow_repair_barred_sets",
        "Sets that could not be exchanged, by reason.",
        ["attribute", "reason"],
        {
            (name, reason): count
            for name, repair in repairs.items()
            for reason, count in repair.barred.items()
        },
    )
    filtered = {
        name: each.stereotypes
        for name, each in totals.attributes.items()
        if each.stereotypes is not None
    }
    for name, about, key in STEREOTYPES:
        counts = {(each,): getattr(found, key) for each, found in filtered.items()}
        yield counter(name, about, ["attribute"], counts)
