"""`evenflow config`: how a gate is configured."""

from __future__ import annotations

import json

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import printing


@command(
    "evenflow config show > evenflow.yaml", "evenflow config show --config evenflow.yaml --json"
)
def show(*, selection: options.Selection, as_json: options.JsonOption = False) -> None:
    """Show the effective configuration.

    Each key is printed with its meaning and the reason for its default. The output is a valid
    configuration file.
    """
    from evenflow.schemas.config import commented

    effective = selection.configuration()
    with printing():
        print(
            json.dumps(effective.model_dump(), indent=1) + "\n"
            if as_json
            else commented(effective),
            end="",
        )
