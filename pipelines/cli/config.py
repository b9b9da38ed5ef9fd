"""`evenflow config`: how a gate is configured, and the plug-ins that it may name."""

from __future__ import annotations

import json

from click.exceptions import Exit

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import printing, show
from evenflow.schemas.errors import USAGE


@command(
    "evenflow config show > evenflow.yaml", "evenflow config show --config evenflow.yaml --json"
)
def config_show(*, selection: options.Selection, as_json: bool = False) -> None:
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


@command("evenflow config plugins", "evenflow config plugins --json")
def config_plugins(*, as_json: bool = False) -> None:
    """List the plug-ins that installed packages declare; each is loaded.

    Exit status: 0 all can be used, 2 one cannot.
    """
    from evenflow.pipelines.terminal import tables
    from evenflow.schemas import plugins as known
    from evenflow.schemas.plugin_finder import PluginFinder

    rows = known.listed({known.ATTRIBUTES: PluginFinder, known.MEASURES: known.measure})
    show(rows, as_json, tables.plugins)
    raise Exit(USAGE if any(row["problem"] for row in rows) else 0)
