"""`evenflow gate metrics` and `alerts`: outputs for Prometheus."""

from __future__ import annotations

import threading
from collections import Counter

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import Session, printing, report_event


@command(
    "evenflow gate metrics out --port 9464",
    "evenflow gate metrics /data/news /data/web s3://bucket/books --port 9464",
)
def gate_metrics(
    directories: list[options.Output],
    *,
    port: options.Port = 9464,
    host: str = "127.0.0.1",
    session: Session,
) -> None:
    """Serve the metrics of outputs without a running gate, until Ctrl-C.

    Each output's metrics have the label gate, the name of its directory. The ledgers are followed
    while others write them.
    """
    from evenflow.pipelines.metrics.serving import serving
    from evenflow.pipelines.metrics.watching import Watched

    gates: list[Watched] = []
    for output in directories:
        options.check(output)
        gates.append(Watched(output))
    twice = [name for name, count in Counter(gate.name for gate in gates).items() if count > 1]
    if twice:
        text = f"two directories are named {twice[0]!r}, and the label gate is that name; serve"
        raise options.wrong("DIR", f"{text} them by two commands, or rename one")
    with serving(gates, host, port) as address:
        report_event("metrics", f"metrics at {address}; Ctrl-C ends this", 0, session)
        threading.Event().wait()


@command(
    "evenflow gate alerts > evenflow.rules.yaml",
    "evenflow gate alerts --config gate.yaml > evenflow.rules.yaml",
)
def gate_alerts(*, settings: options.Settings, for_: options.Natural | None = None) -> None:
    """Print alert and recording rules for Prometheus.

    Thresholds are metrics: a change of them needs no new rules.

    Args:
        for_ (S): No alert waits for more seconds before it fires, as for a trial.
    """
    from evenflow.gates import alerts

    with printing():
        print(alerts.rules(settings.configuration(), for_), end="")
