"""Metrics of the ledger's sums: panes, documents, attributes, repairs and weights."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from prometheus_client.core import Exemplar, Metric

from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics import draw
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import BAD, STATES, Score
from evenflow.transforms.measures.measure import Family

WINDOWS = ("pane", "rolling", "stream", "cumulative", "accepted")
SUMS = ("pane", "cumulative", "accepted")
SCORES = (
    ("dr", "Demographic Representation score: 0 is even.", "dr"),
    ("dr_low", "Lower bound of the score's interval, by which the gate judges.", "low"),
    ("dr_high", "Upper bound of the score's interval.", "high"),
)
SETS = (
    ("repair_sets", "Sets of mentions that the repair found.", "sets"),
    ("repair_eligible_sets", "Sets that could be exchanged.", "eligible"),
    ("repair_changed_sets", "Sets that were exchanged.", "changed"),
)


def families(totals: Totals, config: Config | None, since: Mapping[str, float]) -> Iterator[Metric]:
    """Yield the metrics of the ledger's sums.

    `config`: Says the thresholds; None: there are none. `since`: When each attribute's state began,
    seconds since 1970.
    """
    last = Exemplar({"pane": str(totals.panes - 1)}, 1)
    states = {(state,): count for state, count in totals.states.items()}
    yield draw.family(
        Family("panes", "Panes judged, by verdict.", ["verdict"], states, is_counter=True),
        {(totals.state,): last} if totals.panes else None,
    )
    yield from draw.rows(_counts(totals), is_counter=True)
    yield from draw.rows([*_now(totals), *_scores(totals, config, since), *_shares(totals)])


def _counts(totals: Totals) -> Iterator[draw.Row]:
    """What never falls."""
    accepted = totals.accepted - totals.reviewed.documents  # as the gate decided
    quarantined = totals.documents - accepted
    fates = {"accepted": accepted, "quarantined": quarantined, "dead": totals.dead}
    letters = {reason: each.count for reason, each in totals.dead_reasons.items()}
    removed = "Documents set aside so that their pane is not blocked (gate.scope: documents)."
    yield "documents", "Documents as the gate decided, or dead records.", "fate", fates
    yield "documents_removed", removed, "", totals.removed
    yield "bytes", "Bytes of records that were read, decompressed.", "", totals.input_bytes
    yield "dead_letters", "Records that became no documents, by reason.", "reason", letters
    yield "checks", "Expectations that were evaluated.", "", totals.evaluated
    yield "checks_failed", "Expectations that failed.", "", totals.failures
    yield "checks_failed_panes", "Panes with a critical failure.", "", totals.panes_failed
    mentions = {
        (name, group): count
        for name, each in totals.attributes.items()
        for group, count in zip(each.last.groups, each.sums.counts, strict=True)
    }
    yield "mentions", "Mentions of a group, after the repair.", "attribute group", mentions
    repairs = {name: each.repair for name, each in totals.attributes.items() if each.repair}
    for name, about, key in SETS:
        values = {each: getattr(own, key) for each, own in repairs.items()}
        yield name, about, "attribute", values
    barred = Counter[tuple[str, str]]()
    for name, own in repairs.items():
        for why, n in own.barred.items():  # without its figures: a label has few values
            barred[name, re.split("[,:]", why)[0]] += n
    about = "Sets that could not be exchanged, by reason."
    yield "repair_barred_sets", about, "attribute reason", barred


def _now(totals: Totals) -> Iterator[draw.Row]:
    """The last pane's verdict, decisions of people, and weights."""
    reviewed = totals.reviewed
    now = {state: int(state == totals.state) for state in STATES if totals.panes}
    yield "pane_verdict", "1 for the verdict on the last pane, 0 for the others.", "state", now
    people = {"accept": reviewed.accepted, "reject": reviewed.rejected}
    yield "reviewed_panes", "Panes decided on against the gate.", "decision", people
    more = "By how much decisions of people changed the number of accepted documents."
    yield "reviewed_documents", more, "", reviewed.documents
    effective = totals.weights.effective if totals.weights else None
    about = "Effective sample of the accepted documents under their weights, as a share of them."
    yield "effective_sample_ratio", about, "", effective


def _scores(
    totals: Totals, config: Config | None, since: Mapping[str, float]
) -> Iterator[draw.Row]:
    """Scores, thresholds and verdicts of attributes."""
    attributes = totals.attributes
    found: dict[tuple[str, str], Score] = {
        (name, window): score
        for name, each in attributes.items()
        for window in WINDOWS
        if (score := getattr(each.last, window)) is not None
    }
    for name, about, key in SCORES:  # without a mention there is no score, and no sample
        values = {at: getattr(own, key) for at, own in found.items()}
        yield name, about, "attribute window", values
    limits = {
        (name, level): value
        for name in (config.attributes if config else ())
        for level, value in zip(BAD, config.thresholds(name) if config else (), strict=True)
    }
    about = "Lower bound of the rolling score from which a pane gets a warning, or is blocked."
    yield "dr_threshold", about, "attribute level", limits
    states = {name: each.last.verdict.state for name, each in attributes.items()}
    now = {(name, state): int(state == own) for name, own in states.items() for state in STATES}
    about = "1 for the verdict on an attribute of the last pane, 0 for the others."
    yield "verdict", about, "attribute state", now
    unjudged = {name: each.unjudged for name, each in attributes.items()}
    about = "Panes in a row, up to the last, that did not judge an attribute."
    yield "unjudged_panes", about, "attribute", unjudged
    began = {(name, state): since.get(name) for name, state in states.items() if state in BAD}
    about = "When an attribute's present state began, if it is warn or block, seconds since 1970."
    yield "verdict_since_timestamp_seconds", about, "attribute state", began


def _shares(totals: Totals) -> Iterator[draw.Row]:
    """The shares of groups, and what these should be."""
    attributes = totals.attributes
    shares = {
        (name, group, window): count / total
        for name, own in attributes.items()
        for window, each in zip(SUMS, (own.last.sums, own.sums, own.accepted), strict=True)
        if (total := sum(each.counts))
        for group, count in zip(own.last.groups, each.counts, strict=True)
    }
    about = "Share of a group in the attribute's mentions."
    yield "share_ratio", about, "attribute group window", shares
    targets = {
        (name, group): share
        for name, each in attributes.items()
        for group, share in zip(each.last.groups, each.last.target, strict=True)
    }
    about = "Share of the mentions that a group should have."
    yield "target_share_ratio", about, "attribute group", targets
