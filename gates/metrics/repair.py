"""Metrics of the repair and of weights."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric

from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics.draw import counter, gauge, one

REPAIR = (
    ("evenflow_repair_sets", "Sets of mentions that the repair found.", "sets"),
    ("evenflow_repair_eligible_sets", "Sets that could be exchanged.", "eligible"),
    ("evenflow_repair_changed_sets", "Sets that were exchanged.", "changed"),
)


def families(totals: Totals) -> Iterator[Metric]:
    """Yield the metrics of repairs and weights."""
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
    found = totals.weights
    yield one(
        "evenflow_effective_sample_ratio",
        "Effective sample of the accepted documents under their weights, as a share of them.",
        None if found is None else found.effective,
    )
    yield one(
        "evenflow_design_effect",
        "How many times as many documents an estimate needs under the weights, as Kish has it.",
        None if found is None else 1 / found.effective,
    )
    yield one(
        "evenflow_weight_limit",
        "Greatest weight that a document may have.",
        None if found is None else found.last.limit,
    )
    yield gauge(
        "evenflow_dr_least",
        "Least DR that weights can bring an attribute of the last pane to.",
        ["attribute"],
        {(name,): each.least for name, each in found.last.attributes.items()} if found else {},
    )
