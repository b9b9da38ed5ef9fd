"""All metrics of a gate."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from prometheus_client.core import Exemplar, HistogramMetricFamily, Metric

from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics import draw, state
from evenflow.gates.metrics.now import BOUNDS, Now
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import BAD, STATES, Score
from evenflow.transforms.llm.client.stats import SHORTEST, STEPS_A_DOUBLING, Stats
from evenflow.transforms.measures import registry
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
DOUBLINGS = 20  # buckets of the latency: up to 0.001 s · 2^20, a quarter of an hour


def families(totals: Totals, now: Now, config: Config | None = None) -> Iterator[Metric]:
    """Compute all metrics.

    Args:
        totals: Sums of the ledger so far.
        config: Says the thresholds; None: there are none.

    Yields:
        The families of metrics. One whose value is not known has no sample.
    """
    yield from of_sums(totals, config, now.since)
    for name, each in registry.measures(totals.measures).items():
        yield from map(draw.family, each.families(totals.measures.get(name)))
    yield from of_questions(totals)
    yield from state.families(totals, now)
    if config is not None:
        yield from of_thresholds(config, now)


def of_sums(totals: Totals, config: Config | None, since: Mapping[str, float]) -> Iterator[Metric]:
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


def of_questions(totals: Totals) -> Iterator[Metric]:
    """Yield the metrics of questions to a language model."""
    llm = {step: Stats.from_json(each) for step, each in totals.llm.items()}
    lost = {step: sum(each.fallbacks.values()) for step, each in llm.items()}
    outcomes: dict[tuple[str, str], int] = {}
    for step, each in llm.items():
        outcomes[step, "model"] = each.questions - each.cache_hits - lost[step]
        outcomes[step, "cache"], outcomes[step, "fallback"] = each.cache_hits, lost[step]
    lost_by = {
        (step, reason): count
        for step, each in llm.items()
        for reason, count in each.fallbacks.items()
    }
    requests = {step: each.requests for step, each in llm.items()}
    tokens = {step: each.tokens for step, each in llm.items()}
    by_reason = "Questions that the embedded model answered, by reason."
    yield from draw.rows(
        [
            ("llm_requests", "Questions, by who answered them.", "step outcome", outcomes),
            ("llm_http_requests", "HTTP requests of questions, retries too.", "step", requests),
            ("llm_tokens", "Tokens of prompts and answers.", "step", tokens),
            ("llm_fallbacks", by_reason, "step reason", lost_by),
        ],
        is_counter=True,
    )
    latency = HistogramMetricFamily(
        "evenflow_llm_latency_seconds", "Latency of the model's answers.", labels=["step"]
    )
    for step, each in sorted(llm.items()):
        latency.add_metric([step], _buckets(each), _seconds(each))
    yield latency


def _buckets(stats: Stats) -> list[tuple[str, float]]:
    """Cumulative counts of latencies by doublings of SHORTEST.

    A latency is known to ± 4.4 %, so one near a bound may be in the neighbouring bucket.
    """
    counted = [
        (
            str(SHORTEST * 2**number),
            sum(n for step, n in stats.latencies.items() if step <= STEPS_A_DOUBLING * number),
        )
        for number in range(DOUBLINGS + 1)
    ]
    return [*counted, ("+Inf", sum(stats.latencies.values()))]


def _seconds(stats: Stats) -> float:
    """The sum of all latencies, each taken from its step."""
    return sum(
        count * SHORTEST * 2 ** (step / STEPS_A_DOUBLING) for step, count in stats.latencies.items()
    )


def of_thresholds(config: Config, now: Now) -> Iterator[Metric]:
    """Yield the thresholds and budgets of a configuration, and the panes in time and late."""
    alerts = config.alerts
    for each in registry.of(config).values():
        yield from map(draw.family, each.limit_families(config))
    seconds = now.pane_seconds
    overdue = None if seconds is None else alerts.overdue_panes * seconds
    fallbacks = config.llm.most_fallbacks if config.llm.url is not None else None
    burn = "Share of panes that may be blocked; burn is measured by it."
    rows: list[draw.Row] = [
        (name, f"{what} which an alert fires.", "", value)
        for name, what, value in (
            ("lag_threshold_seconds", "Lag from", alerts.lag_seconds),
            ("pane_overdue_threshold_seconds", "Age of the pane being filled from", overdue),
            ("dead_letter_threshold_ratio", "Dead share in an hour from", alerts.dead_share),
            ("llm_fallback_threshold_ratio", "Unanswered share in an hour from", fallbacks),
            ("llm_token_threshold", "Tokens in a day from", alerts.tokens_a_day),
            ("disk_free_threshold_ratio", "Free share of the disk below", alerts.disk_free),
        )
    ]
    about = "Share of time, records or panes for which an objective may be missed."
    budgets = alerts.budgets.model_dump()
    rows.append(("objective_budget_ratio", about, "objective", budgets))
    yield from draw.rows([*rows, ("blocked_budget_ratio", burn, "", alerts.blocked_share)])
    in_time = sum(
        count
        for bound, count in zip(BOUNDS, now.latencies.counts, strict=False)
        if bound <= alerts.verdict_seconds
    )
    about = "Panes by whether they took at most alerts.verdict_seconds from close to ledger entry."
    panes = {"in time": in_time, "late": sum(now.latencies.counts) - in_time}
    yield from draw.rows([("timed_panes", about, "outcome", panes)], is_counter=True)
