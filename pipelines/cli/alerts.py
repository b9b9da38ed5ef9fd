"""`evenflow alerts`: the rules for Prometheus."""

from __future__ import annotations

from typing import Annotated

from evenflow.pipelines.cli.commands import command, option
from evenflow.pipelines.cli.options import Settings
from evenflow.pipelines.terminal.endings import printing


@command(
    "evenflow gate alerts > evenflow.rules.yaml",
    "evenflow gate alerts --config gate.yaml > evenflow.rules.yaml",
)
def rules(
    *,
    settings: Settings,
    most_wait: Annotated[
        int | None,
        option(
            "S", "No alert waits for more seconds before it fires, as for a trial.", "--for", min=0
        ),
    ] = None,
) -> None:
    """Print alert and recording rules for Prometheus.

    Thresholds are metrics: a change of them needs no new rules.
    """
    from evenflow.gates import alerts

    with printing():
        print(alerts.rules(settings.configuration(), most_wait), end="")
