"""Metrics of what questions to a language model cost; the label step is the prompt's name."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import HistogramMetricFamily, Metric

from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics import draw
from evenflow.transforms.llm.client.stats import SHORTEST, STEPS_A_DOUBLING, Stats

DOUBLINGS = 20  # buckets of the latency: up to 0.001 s · 2^20, a quarter of an hour


def families(totals: Totals) -> Iterator[Metric]:
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
