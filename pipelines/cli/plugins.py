"""`evenflow config plugins`: the plug-ins that installed packages declare."""

from __future__ import annotations

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import show
from evenflow.schemas.errors import USAGE


@command("evenflow config plugins", "evenflow config plugins --json")
def plugins(as_json: options.JsonOption = False) -> None:
    """List the plug-ins that installed packages declare; each is loaded.

    Exit status: 0 all can be used, 2 one cannot.
    """
    from evenflow.pipelines.terminal import tables
    from evenflow.schemas import plugins as known
    from evenflow.schemas.plugin_finder import PluginFinder

    rows = known.listed({known.ATTRIBUTES: PluginFinder, known.MEASURES: known.measure})
    show(rows, as_json, tables.plugins)
    raise typer.Exit(USAGE if any(row["problem"] for row in rows) else 0)
