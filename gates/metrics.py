"""Metrics of a gate for Prometheus, computed from the ledger's sums.

Counters start from the sums of the ledger, so they continue after a restart. Labels are words of
the configuration, of prompts or of this code (attributes, verdicts, kinds of reasons), never words
of a document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.ledger import Score
from evenflow.transforms.llm.client.stats import SHORTEST, STEPS_A_DOUBLING, Stats

WINDOWS = ("pane", "rolling", "stream", "cumulative", "accepted")
DOUBLINGS = 20  # buckets of the latency: up to 0.001 s · 2^20, a quarter of an hour
MS = 1000  # milliseconds in a second


@dataclass(frozen=True)
class Now:
    """The present state of a run, which the ledger does not record.

    Attributes:
        time: Time of the clock, seconds since 1970.
        held: Whether the gate is held.
        committed: When this run last committed a pane, seconds since 1970; None if it has not.
        read: Stored bytes of the input up to the last commit; None if not known.
        size: Stored bytes of the whole input; None if not known.
    """

    time: float
    held: bool
    committed: float | None = None
    read: int | None = None
    size: int | None = None


def families(totals: Totals, now: Now) -> Iterator[Metric]:
    """Compute all metrics.

    Args:
        totals: Sums of the ledger so far.
        now: Present state of the run.

    Yields:
        The families of metrics.
    """
    dead = {reason: each.count for reason, each in totals.dead_reasons.items()}
    changed = {
        name: each.repair.changed
        for name, each in totals.attributes.items()
        if each.repair is not None
    }
    strong = {
        name: each.stereotypes.strong
        for name, each in totals.attributes.items()
        if each.stereotypes is not None
    }
    yield _counter("evenflow_panes", "Panes judged, by verdict.", "verdict", {**totals.states})
    fates = {
        "accepted": totals.accepted,
        "quarantined": totals.documents - totals.accepted,
        "dead": totals.dead,
    }
    yield _counter(
        "evenflow_documents",
        "Documents: accepted, quarantined (their pane or themselves), dead.",
        "fate",
        fates,
    )
    yield CounterMetricFamily(
        "evenflow_bytes", "Bytes of records that were read, decompressed.", value=totals.input_bytes
    )
    yield CounterMetricFamily(
        "evenflow_text_bytes", "Bytes of the documents' texts.", value=totals.text_bytes
    )
    yield _counter(
        "evenflow_dead_letters",
        "Records that became no documents, by kind of reason.",
        "reason",
        dead,
    )
    yield _counter(
        "evenflow_substitutions", "Sets of mentions that were exchanged.", "attribute", changed
    )
    yield _counter(
        "evenflow_strong_stereotypes",
        "Sentences that state a strong stereotype.",
        "attribute",
        strong,
    )
    last = {name: each.last for name, each in totals.attributes.items()}
    scores = {
        (name, window): getattr(each, window) for name, each in last.items() for window in WINDOWS
    }
    yield from _scores({place: each for place, each in scores.items() if each is not None})
    if totals.last_coverage is not None:
        rolling = totals.last_coverage.rolling
        yield GaugeMetricFamily(
            "evenflow_coverage_gaps",
            "Meetings of attributes that are too rare, in the rolling panes.",
            value=rolling["found"],
        )
        if rolling["largest"] is not None:
            yield GaugeMetricFamily(
                "evenflow_coverage_largest_gap",
                "Largest gap, 1 - coverage / tau, by which the gate judges.",
                value=rolling["largest"],
            )
    yield from _llm({step: Stats.from_json(each) for step, each in totals.llm.items()})
    yield GaugeMetricFamily(
        "evenflow_held", "1 while the gate is held, 0 otherwise.", value=int(now.held)
    )
    if totals.newest is not None:
        yield GaugeMetricFamily(
            "evenflow_lag_seconds",
            "Seconds since the time of the newest record that was committed; it grows on a quiet"
            " topic too.",
            value=max(0.0, now.time - totals.newest / MS),
        )
    if now.committed is not None:
        yield GaugeMetricFamily(
            "evenflow_last_commit_timestamp_seconds",
            "When this run committed its last pane, seconds since 1970.",
            value=now.committed,
        )
    if now.read is not None and now.size is not None:
        yield GaugeMetricFamily(
            "evenflow_input_read_bytes",
            "Stored bytes of the input up to the last commit.",
            value=now.read,
        )
        yield GaugeMetricFamily(
            "evenflow_input_bytes", "Stored bytes of the input in all.", value=now.size
        )


def _counter(name: str, description: str, label: str, counts: Mapping[str, int]) -> Metric:
    """A counter with one label."""
    family = CounterMetricFamily(name, description, labels=[label])
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family


def _scores(scores: Mapping[tuple[str, str], Score]) -> Iterator[Metric]:
    """Gauges of the scores by attribute and window; without a mention there is no sample."""
    for name, description, key in (
        ("evenflow_dr", "Demographic Representation score: 0 is even.", "dr"),
        (
            "evenflow_dr_low",
            "Lower bound of the score's interval, by which the gate judges.",
            "low",
        ),
        ("evenflow_dr_high", "Upper bound of the score's interval.", "high"),
    ):
        family = GaugeMetricFamily(name, description, labels=["attribute", "window"])
        for place, score in sorted(scores.items()):
            value = getattr(score, key)
            if value is not None:
                family.add_metric(place, value)
        yield family


def _llm(llm: Mapping[str, Stats]) -> Iterator[Metric]:
    """What questions to a language model cost; the label step is the prompt's name."""
    outcomes = CounterMetricFamily(
        "evenflow_llm_requests", "Questions, by who answered them.", labels=["step", "outcome"]
    )
    http = CounterMetricFamily(
        "evenflow_llm_http_requests",
        "HTTP requests that questions took, retries too.",
        labels=["step"],
    )
    tokens = CounterMetricFamily(
        "evenflow_llm_tokens", "Tokens of prompts and answers.", labels=["step"]
    )
    hits = CounterMetricFamily(
        "evenflow_llm_cache_hits", "Questions that the cache answered.", labels=["step"]
    )
    fallbacks = CounterMetricFamily(
        "evenflow_llm_fallbacks",
        "Questions that the embedded model answered, by reason.",
        labels=["step", "reason"],
    )
    latency = HistogramMetricFamily(
        "evenflow_llm_latency_seconds", "Latency of the model's answers.", labels=["step"]
    )
    for step, each in sorted(llm.items()):
        lost = sum(each.fallbacks.values())
        answered = {
            "model": each.questions - each.cache_hits - lost,
            "cache": each.cache_hits,
            "fallback": lost,
        }
        for outcome, count in answered.items():
            outcomes.add_metric([step, outcome], count)
        http.add_metric([step], each.requests)
        tokens.add_metric([step], each.tokens)
        hits.add_metric([step], each.cache_hits)
        for reason, count in sorted(each.fallbacks.items()):
            fallbacks.add_metric([step, reason], count)
        latency.add_metric([step], _buckets(each), _seconds(each))
    yield from (outcomes, http, tokens, hits, fallbacks, latency)


def _buckets(stats: Stats) -> list[tuple[str, float]]:
    """Cumulative counts of latencies by doublings of SHORTEST.

    A latency is known to ± 4.4 %, so one near a bound may be in the neighbouring bucket.
    """
    bounds = [
        (str(SHORTEST * 2**number), STEPS_A_DOUBLING * number) for number in range(DOUBLINGS + 1)
    ]
    counted = [
        (bound, sum(count for step, count in stats.latencies.items() if step <= last))
        for bound, last in bounds
    ]
    return [
        (bound, float(count))
        for bound, count in [*counted, ("+Inf", sum(stats.latencies.values()))]
    ]


def _seconds(stats: Stats) -> float:
    """The sum of all latencies, each taken from its step."""
    return sum(
        count * SHORTEST * 2 ** (step / STEPS_A_DOUBLING) for step, count in stats.latencies.items()
    )
