"""`evenflow alerts`: the rules for Prometheus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenflow.pipelines.cli.commands import examples
from evenflow.pipelines.cli.options import DATA, SetOption
from evenflow.pipelines.terminal.endings import printing

EXAMPLES = examples(
    "evenflow gate alerts > evenflow.rules.yaml",
    "evenflow gate alerts --config gate.yaml > evenflow.rules.yaml",
)


def rules(
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            metavar="FILE",
            help="YAML file, see `evenflow config show`.",
            rich_help_panel=DATA,
        ),
    ] = None,
    sets: SetOption = None,
    most_wait: Annotated[
        int | None,
        typer.Option(
            "--for",
            min=0,
            metavar="S",
            help="No alert waits for more seconds before it fires, as for a trial.",
        ),
    ] = None,
) -> None:
    """Print alert and recording rules for Prometheus.

    Thresholds are metrics: a change of them needs no new rules.
    """
    from evenflow.gates import alerts
    from evenflow.schemas.config import load

    with printing():
        print(alerts.rules(load(config, sets=sets or ()), most_wait), end="")
