"""Who is told of what happens: Prometheus with the gate's rules, for the trial of `storm`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from services.prometheus_server import Prometheus

from evenflow.gates.alerts import rules
from evenflow.schemas.config import Config

EVERY_SECONDS = 5.0  # between two looks at the gates, and at the rules
FOR_SECONDS = 5.0  # what happens here is over before alerts fire that wait for minutes
TOLD_SECONDS = 60.0  # a gate that commits nothing for longer has to be known
TELLING = ("EvenflowPaneOverdue", "EvenflowMetricsAbsent")  # what tells that it does not commit


@dataclass
class Fired:
    """An alert, and from when to when it fired; in seconds."""

    alert: str
    begin: float
    end: float

    def touches(self, begin: float, end: float) -> bool:
        """Whether it fired at some time of a span."""
        return self.begin <= end and begin <= self.end


class Alerts:
    """Prometheus over the metrics of gates at ports of the loopback interface; it runs at once."""

    def __init__(self, folder: Path, ports: Iterable[int]):
        folder.mkdir(parents=True)
        (folder / "rules.yaml").write_text(rules(Config(), round(FOR_SECONDS)))
        every = f"{EVERY_SECONDS:.0f}s"
        targets = [{"targets": [f"127.0.0.1:{port}" for port in ports]}]
        self._prometheus = Prometheus(
            folder / "prometheus",
            {
                "global": {"scrape_interval": every, "evaluation_interval": every},
                "rule_files": [str(folder / "rules.yaml")],
                "scrape_configs": [{"job_name": "evenflow", "static_configs": targets}],
            },
        )
        self._began = time.time()

    def stop(self) -> None:
        """End Prometheus."""
        self._prometheus.stop()

    def fired(self, began: float) -> list[Fired]:
        """What has fired so far, in seconds after a time of the clock."""
        found = self._prometheus.ask(
            "query_range",
            query='max by (alertname) (ALERTS{alertstate="firing"})',
            start=self._began,
            end=time.time(),
            step=EVERY_SECONDS,
        )
        spans: list[Fired] = []
        for series in found["result"]:
            name, last = series["metric"]["alertname"], None
            for moment, _ in series["values"]:
                at = round(moment - began, 1)
                if last is None or at - last.end > 1.5 * EVERY_SECONDS:
                    spans.append(last := Fired(name, at, at))
                last.end = at
        return sorted(spans, key=lambda each: each.begin)


def untold(
    samples: Sequence[dict[str, float]], fired: Sequence[Fired]
) -> list[tuple[float, float]]:
    """Spans of more than TOLD_SECONDS without a new pane, while documents waited, in which none of
    TELLING fired. A sample has `seconds`, `panes` and the documents `behind`.
    """
    fired = [each for each in fired if each.alert in TELLING]
    samples = [sample for sample in samples if sample["panes"] > 0]  # without the start
    if not samples:
        return []
    stops, begin = list[tuple[float, float]](), samples[0]["seconds"]
    for before, sample in pairwise(samples):
        if sample["panes"] > before["panes"] or before["behind"] <= 0:
            stops.append((begin, before["seconds"]))
            begin = sample["seconds"]
    stops.append((begin, samples[-1]["seconds"]))
    return [
        (begin, end)
        for begin, end in stops
        if end - begin > TOLD_SECONDS and not any(each.touches(begin, end) for each in fired)
    ]
