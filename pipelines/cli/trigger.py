"""`evenflow gate trigger`: the rules of a gate, and what became of their actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenflow.pipelines.cli import options
from evenflow.schemas.errors import FAILED


def gate_trigger(
    directory: options.Output,
    rule: str | None = None,
    *,
    run: bool = False,
    config: Path | None = None,
) -> options.Shown:
    """List the rules of a gate and their actions, or act on them.

    Listed are the rules of --config; without it, those with which the output was begun. What the
    rules start is read from --config alone, never from DIR. A rule fires once for a pane.

    Exit status: 1 if an action failed.

    Args:
        rule (RULE): With --run, fire this rule for the last pane first.
        run: Act on every decision that is pending.
        config: YAML file that has the rules; with --run it is needed.

    Examples:
        evenflow gate trigger out
        evenflow gate trigger out --run -c gate.yaml
        evenflow gate trigger out nightly --run -c gate.yaml
    """
    from evenflow.gates import triggers
    from evenflow.pipelines.cli.gate import opened
    from evenflow.pipelines.triggers.worker import act
    from evenflow.schemas.config import ConfigError, load

    history, recorded, _ = opened(directory)
    own = load(config) if config is not None else recorded
    if own is None:
        raise ConfigError(f"{directory}: its configuration is from another version; give --config")
    if not run:
        rules, done = triggers.overview(directory, own.triggers), triggers.records(directory)
        return options.Shown({"rules": rules, "actions": done}, _draw)
    if config is None:
        why = "give the YAML file that has the rules. Those in the ledger are not acted on: whoever"
        raise options.wrong("--config", f"{why} may write to {directory} could have put them there")
    if rule is not None:
        if rule not in own.triggers:
            known = ", ".join(own.triggers) or "there are none"
            raise click.BadParameter(f"{rule!r} is no rule of the configuration: {known}")
        if not history:
            raise click.BadParameter("there is no pane yet")
        fired = triggers.Decision(rule=rule, pane=len(history) - 1, reason="by hand")
        triggers.write_decision(directory, fired)
    ended = act(directory, own)
    status = FAILED if any(each.outcome == "failed" for each in ended) else 0
    return options.Shown({"actions": [triggers.record(each) for each in ended]}, _draw, status)


def _draw(found: dict[str, list[dict[str, Any]]]) -> None:
    """Print rows as tables."""
    from evenflow.pipelines.terminal import tables
    from evenflow.schemas.words import Table

    for title, rows in found.items():
        shown = [key for key in rows[0] if key != "figures"] if rows else []
        cells = [[str(row.get(key, "")) for key in shown] for row in rows]
        print(f"{title}: none") if not rows else tables.draw(Table(title, tuple(shown), cells))
