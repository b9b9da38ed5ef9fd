"""`evenflow gate trigger`: the rules of a gate, and what became of their actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import argument, command
from evenflow.pipelines.terminal.endings import show
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.errors import FAILED

if TYPE_CHECKING:
    from evenflow.schemas.config import Config
    from evenflow.transforms.storage.storage import Storage


@command("evenflow gate trigger list out", "evenflow gate trigger list out --json")
def trigger_list(
    directory: options.DirArgument,
    *,
    settings: options.Settings,
    as_json: options.JsonOption = False,
) -> None:
    """List the rules of a gate's configuration, and how often their actions ended how.

    They are those of --config; without it, those with which the output was begun.
    """
    from evenflow.gates import triggers

    _print(triggers.overview(directory, _config(directory, settings).triggers), as_json)


@command(
    "evenflow gate trigger run out -c gate.yaml",
    "evenflow gate trigger run out nightly -c gate.yaml",
)
def trigger_run(
    directory: options.DirArgument,
    rule: Annotated[str | None, argument("RULE", "Fire this rule for the last pane first.")] = None,
    *,
    settings: options.Settings,
    as_json: options.JsonOption = False,
) -> None:
    """Act on every decision that is pending; with RULE, fire it first.

    What the rules start is read from --config alone, never from DIR. A rule fires once for a pane.
    Exit status: 1 if an action failed.
    """
    from evenflow.gates import triggers
    from evenflow.gates.ledger.history import History
    from evenflow.pipelines.triggers.worker import act

    if settings.config is None:
        raise typer.BadParameter(
            "give the YAML file that has the rules. Those in the ledger are not acted on: whoever"
            f" may write to {directory} could have put a command there",
            param_hint="'--config'",
        )
    own, panes = _config(directory, settings), len(History(directory))
    if rule is not None:
        if rule not in own.triggers:
            known = ", ".join(own.triggers) or "there are none"
            raise typer.BadParameter(f"{rule!r} is no rule of the configuration: {known}")
        if not panes:
            raise typer.BadParameter("there is no pane yet")
        fired = triggers.Decision(rule=rule, pane=panes - 1, reason="by hand")
        triggers.write_decision(directory, fired)
    ended = act(directory, own)
    _print([triggers.record(each) for each in ended], as_json)
    raise typer.Exit(FAILED if any(each.outcome == "failed" for each in ended) else 0)


@command("evenflow gate trigger history out")
def trigger_history(directory: options.DirArgument, as_json: options.JsonOption = False) -> None:
    """Show how the actions ended, and which are pending."""
    from evenflow.gates import triggers

    _print(triggers.records(directory), as_json)


def _config(directory: Storage, settings: options.Settings) -> Config:
    """The configuration of a file, or that with which an output was begun. Raises ConfigError."""
    from evenflow.gates.ledger.files import read_meta
    from evenflow.pipelines.pages.report.figures import configuration
    from evenflow.schemas.config import ConfigError

    found = configuration(read_meta(directory))
    if found is None:
        raise ConfigError(f"{directory}: no ledger here; give the --output directory of a run")
    if settings.config is None and settings.sets:
        raise typer.BadParameter("it goes with --config", param_hint="'--set'")
    return found if settings.config is None else settings.configuration()


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print rows as JSON or as a table."""
    from rich.table import Table

    from evenflow.pipelines.terminal.tables import console

    def draw(rows: list[dict[str, Any]]) -> None:
        if not rows:
            print("none")
            return
        shown = [key for key in rows[0] if key != "figures"]
        table = Table(*shown)
        for row in rows:
            table.add_row(*(visible(str(row.get(key, ""))) for key in shown))
        console().print(table)

    show(rows, as_json, draw)
