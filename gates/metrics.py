"""What Prometheus is told of a gate: figures added up from the ledger's entries, as families of metrics.

Counters begin with the sums of the ledger, so they go on where they were after a restart. Labels are words of the
configuration, of prompts or of this code (attributes, verdicts, kinds of reasons), never of a document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from evenflow.schemas.ledger import STATES, PaneEntry, Score
from evenflow.transforms.llm.inference_stats import SHORTEST, STEPS_A_DOUBLING, Stats

WINDOWS = ("pane", "rolling", "cumulative")
DOUBLINGS = 20  # buckets of the latency: up to 0.001 s · 2^20, a quarter of an hour
MS = 1000


@dataclass
class Totals:
    """The sums of a ledger's entries. scores: of the last entry, by attribute and window. newest: time of the newest record that
    was committed from a topic, in seconds since 1970; None for files.
    """

    panes: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(STATES, 0)))
    documents: Counter[str] = field(default_factory=lambda: Counter(accepted=0, quarantined=0, dead=0))
    input_bytes: int = 0
    text_bytes: int = 0
    dead: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    stereotypes: Counter[str] = field(default_factory=Counter)
    scores: dict[tuple[str, str], Score] = field(default_factory=dict)
    llm: dict[str, Stats] = field(default_factory=dict)
    last: PaneEntry | None = None
    newest: float | None = None

    def add(self, entry: PaneEntry) -> None:
        """Add a pane that was committed; to be called in the ledger's order."""
        aside = 0 if entry.set_aside is None else entry.set_aside.rows
        self.panes[entry.verdict.state] += 1
        self.documents["accepted" if entry.folder == "accepted" else "quarantined"] += entry.documents
        self.documents["quarantined"] += aside
        self.documents["dead"] += entry.dead
        self.input_bytes += entry.input_bytes
        self.text_bytes += entry.text_bytes
        self.dead.update(entry.dead_reasons)
        for name, each in entry.attributes.items():
            self.scores |= {(name, window): getattr(each, window) for window in WINDOWS}
            if each.repair is not None:
                self.changed[name] += each.repair.changed
            if each.stereotypes is not None:
                self.stereotypes[name] += each.stereotypes.strong
        for step, cost in (entry.llm or {}).items():
            self.llm.setdefault(step, Stats()).add(Stats.from_json(cost))
        if entry.stream is not None:
            times = [position.time / MS for position in entry.stream.positions.values()]
            self.newest = max([*times, *([] if self.newest is None else [self.newest])], default=None)
        self.last = entry


@dataclass(frozen=True)
class Now:
    """What no ledger says. time: of the clock, seconds since 1970. held: whether the gate is held. committed: when this run last
    committed a pane; read, size: stored bytes of the input, up to the last commit and in all; None where not known.
    """

    time: float
    held: bool
    committed: float | None = None
    read: int | None = None
    size: int | None = None


def families(totals: Totals, now: Now) -> Iterator[Metric]:
    """All metrics."""
    yield _counter("evenflow_panes", "Panes judged, by verdict.", "verdict", totals.panes)
    yield _counter(
        "evenflow_documents", "Documents: accepted, quarantined (their pane or themselves), dead.", "fate", totals.documents
    )
    yield CounterMetricFamily("evenflow_bytes", "Bytes of records that were read, decompressed.", value=totals.input_bytes)
    yield CounterMetricFamily("evenflow_text_bytes", "Bytes of the documents' texts.", value=totals.text_bytes)
    yield _counter("evenflow_dead_letters", "Records that became no documents, by kind of reason.", "reason", totals.dead)
    yield _counter("evenflow_substitutions", "Sets of mentions that were exchanged.", "attribute", totals.changed)
    yield _counter("evenflow_strong_stereotypes", "Sentences that state a strong stereotype.", "attribute", totals.stereotypes)
    yield from _scores(totals.scores)
    yield from _llm(totals.llm)
    yield GaugeMetricFamily("evenflow_held", "1 while the gate is held, 0 otherwise.", value=int(now.held))
    if totals.newest is not None:
        said = "Seconds since the time of the newest record that was committed; it grows on a quiet topic too."
        yield GaugeMetricFamily("evenflow_lag_seconds", said, value=max(0.0, now.time - totals.newest))
    if now.committed is not None:
        said = "When this run committed its last pane, seconds since 1970."
        yield GaugeMetricFamily("evenflow_last_commit_timestamp_seconds", said, value=now.committed)
    if now.read is not None and now.size is not None:
        yield GaugeMetricFamily("evenflow_input_read_bytes", "Stored bytes of the input up to the last commit.", value=now.read)
        yield GaugeMetricFamily("evenflow_input_bytes", "Stored bytes of the input in all.", value=now.size)


def _counter(name: str, said: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, said, labels=[label])
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family


def _scores(scores: Mapping[tuple[str, str], Score]) -> Iterator[Metric]:
    """Gauges; without a mention there is no score, and so no sample."""
    for name, said, key in (
        ("evenflow_dr", "Demographic Representation score: 0 is even.", "dr"),
        ("evenflow_dr_low", "Lower bound of the score's interval, by which the gate judges.", "low"),
        ("evenflow_dr_high", "Upper bound of the score's interval.", "high"),
    ):
        family = GaugeMetricFamily(name, said, labels=["attribute", "window"])
        for place, score in sorted(scores.items()):
            value = getattr(score, key)
            if value is not None:
                family.add_metric(place, value)
        yield family


def _llm(llm: Mapping[str, Stats]) -> Iterator[Metric]:
    """What asking a language model cost; step: the prompt's name."""
    outcomes = CounterMetricFamily("evenflow_llm_requests", "Questions, by who answered them.", labels=["step", "outcome"])
    http = CounterMetricFamily("evenflow_llm_http_requests", "HTTP requests that questions took, retries too.", labels=["step"])
    tokens = CounterMetricFamily("evenflow_llm_tokens", "Tokens of prompts and answers.", labels=["step"])
    hits = CounterMetricFamily("evenflow_llm_cache_hits", "Questions that the cache answered.", labels=["step"])
    fallbacks = CounterMetricFamily(
        "evenflow_llm_fallbacks", "Questions that the embedded model answered, by reason.", labels=["step", "reason"]
    )
    latency = HistogramMetricFamily("evenflow_llm_latency_seconds", "Latency of the model's answers.", labels=["step"])
    for step, each in sorted(llm.items()):
        lost = sum(each.fallbacks.values())
        answered = {"model": each.questions - each.cache_hits - lost, "cache": each.cache_hits, "fallback": lost}
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
    """Cumulative counts of latencies by doublings of SHORTEST; a latency is known to ± 4.4 %, so is its side."""
    bounds = [(str(SHORTEST * 2**number), STEPS_A_DOUBLING * number) for number in range(DOUBLINGS + 1)]
    counted = [(bound, sum(count for step, count in stats.latencies.items() if step <= last)) for bound, last in bounds]
    return [(bound, float(count)) for bound, count in [*counted, ("+Inf", sum(stats.latencies.values()))]]


def _seconds(stats: Stats) -> float:
    """The sum of all latencies, each as its step says."""
    return sum(count * SHORTEST * 2 ** (step / STEPS_A_DOUBLING) for step, count in stats.latencies.items())
