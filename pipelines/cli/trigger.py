"""`evenflow gate trigger`: the rules of a gate, and what became of their actions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import show
from evenflow.schemas.errors import FAILED

if TYPE_CHECKING:
    from evenflow.schemas.config import Config
    from evenflow.transforms.storage.storage import Storage


@command("evenflow gate trigger list out", "evenflow gate trigger list out --json")
def gate_trigger_list(
    directory: options.Output, *, config: Path | None = None, as_json: bool = False
) -> None:
    """List the rules of a gate, and how often their actions ended how.

    They are those of --config; without it, those with which the output was begun.

    Args:
        config: YAML file, see `evenflow config show`.
    """
    from evenflow.gates import triggers

    _print(triggers.overview(directory, _config(directory, config).triggers), as_json)


@command(
    "evenflow gate trigger run out -c gate.yaml",
    "evenflow gate trigger run out nightly -c gate.yaml",
)
def gate_trigger_run(
    directory: options.Output,
    rule: str | None = None,
    *,
    config: Path | None = None,
    as_json: bool = False,
) -> None:
    """Act on every decision that is pending; with RULE, fire it first.

    What the rules start is read from --config alone, never from DIR. A rule fires once for a pane.
    Exit status: 1 if an action failed.

    Args:
        rule (RULE): Fire this rule for the last pane first.
        config: YAML file that has the rules; it is needed.
    """
    from evenflow.gates import triggers
    from evenflow.gates.ledger.history import History
    from evenflow.pipelines.triggers.worker import act

    if config is None:
        why = "give the YAML file that has the rules. Those in the ledger are not acted on: whoever"
        raise options.wrong("--config", f"{why} may write to {directory} could have put them there")
    own, panes = _config(directory, config), len(History(directory))
    if rule is not None:
        if rule not in own.triggers:
            known = ", ".join(own.triggers) or "there are none"
            raise click.BadParameter(f"{rule!r} is no rule of the configuration: {known}")
        if not panes:
            raise click.BadParameter("there is no pane yet")
        fired = triggers.Decision(rule=rule, pane=panes - 1, reason="by hand")
        triggers.write_decision(directory, fired)
    ended = act(directory, own)
    _print([triggers.record(each) for each in ended], as_json)
    raise Exit(FAILED if any(each.outcome == "failed" for each in ended) else 0)


@command("evenflow gate trigger history out")
def gate_trigger_history(directory: options.Output, *, as_json: bool = False) -> None:
    """Show how the actions ended, and which are pending."""
    from evenflow.gates import triggers

    _print(triggers.records(directory), as_json)


def _config(directory: Storage, path: Path | None) -> Config:
    """The configuration of a file, or that with which an output was begun. Raises ConfigError."""
    from evenflow.gates.ledger.files import read_meta
    from evenflow.schemas.config import ConfigError, load, recorded

    found = recorded(read_meta(directory))
    if found is None:
        raise ConfigError(f"{directory}: no ledger here; give the --output directory of a run")
    return found if path is None else load(path)


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print rows as JSON or as a table."""
    from evenflow.pipelines.terminal import tables
    from evenflow.schemas.words import Table

    def draw(rows: list[dict[str, Any]]) -> None:
        if not rows:
            print("none")
            return
        shown = [key for key in rows[0] if key != "figures"]
        cells = [[str(row.get(key, "")) for key in shown] for row in rows]
        tables.draw(Table("", tuple(shown), cells))

    show(rows, as_json, draw)
