"""Metrics of panes and documents: how many came, and where they went."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Exemplar, Metric

from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics.draw import counter, gauge
from evenflow.schemas.ledger import STATES


def families(totals: Totals) -> Iterator[Metric]:
    """Yield the metrics of panes and documents."""
    yield from _verdicts(totals)
    yield from _reviewed(totals)
    yield from _read(totals)


def _verdicts(totals: Totals) -> Iterator[Metric]:
    """Yield where panes and documents went."""
    accepted = totals.accepted - totals.reviewed.documents  # a counter: never falls
    last = Exemplar({"pane": str(totals.panes - 1)}, 1)
    yield counter(
        "evenflow_panes",
        "Panes judged, by verdict.",
        ["verdict"],
        {(state,): count for state, count in totals.states.items()},
        {(totals.state,): last} if totals.panes else {},
    )
    yield gauge(
        "evenflow_pane_verdict",
        "1 for the verdict on the last pane, 0 for the others.",
        ["state"],
        {(state,): int(state == totals.state) for state in STATES if totals.panes},
    )
    yield counter(
        "evenflow_documents",
        "Documents as the gate decided: accepted, quarantined (their pane or themselves), dead.",
        ["fate"],
        {
            ("accepted",): accepted,
            ("quarantined",): totals.documents - accepted,
            ("dead",): totals.dead,
        },
    )
    yield counter(
        "evenflow_documents_removed",
        "Documents that were set aside so that their pane is not blocked (gate.scope: documents).",
        (),
        {(): totals.removed},
    )


def _reviewed(totals: Totals) -> Iterator[Metric]:
    """Yield what people decided."""
    yield gauge(
        "evenflow_reviewed_panes",
        "Panes that a person accepted after the gate blocked them, or rejected.",
        ["decision"],
        {("accept",): totals.reviewed.accepted, ("reject",): totals.reviewed.rejected},
    )
    yield gauge(
        "evenflow_reviewed_documents",
        "By how much decisions of people changed the number of accepted documents.",
        (),
        {(): totals.reviewed.documents},
    )


def _read(totals: Totals) -> Iterator[Metric]:
    """Yield what was read, and what the checks found in it."""
    yield counter(
        "evenflow_bytes",
        "Bytes of records that were read, decompressed.",
        (),
        {(): totals.input_bytes},
    )
    yield counter(
        "evenflow_text_bytes", "Bytes of the documents' texts.", (), {(): totals.text_bytes}
    )
    yield counter("evenflow_sentences", "Sentences of the documents.", (), {(): totals.sentences})
    yield counter(
        "evenflow_dead_letters",
        "Records that became no documents, by kind of reason.",
        ["reason"],
        {(reason,): each.count for reason, each in totals.dead_reasons.items()},
    )
    yield counter(
        "evenflow_checks", "Expectations that were evaluated.", (), {(): totals.evaluated}
    )
    yield counter("evenflow_checks_failed", "Expectations that failed.", (), {(): totals.failures})
    yield counter(
        "evenflow_checks_failed_panes",
        "Panes with a critical failure of a check.",
        (),
        {(): totals.panes_failed},
    )
