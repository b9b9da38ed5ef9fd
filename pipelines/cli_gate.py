"""`evenflow gate status|hold|release` and `evenflow report`: what the ledger of a run says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from evenflow.pipelines import options, summaries, tables
from evenflow.pipelines.endings import BLOCKED, Session, printing
from evenflow.pipelines.explain import visible
from evenflow.schemas.config import ConfigError
from evenflow.schemas.ledger import PaneEntry

STATUS_EXAMPLES = options.examples("evenflow gate status out", "evenflow gate status out --json && train.sh")
HOLD_EXAMPLES = options.examples("evenflow gate hold out --reason 'the source is being looked at'")
RELEASE_EXAMPLES = options.examples("evenflow gate release out --reason 'one book, looked at by Ada'")
REPORT_EXAMPLES = options.examples("evenflow report out")

ReasonOption = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the ledger.")]


def gate_status(directory: options.DirArgument, as_json: options.JsonOption = False) -> None:
    """Show the state of a gate from its ledger.

    Exit status: 0 open or warn, 3 if any pane is blocked or the gate is held.
    """
    from evenflow.gates.ledger import read_entries, read_meta

    _check(directory)
    meta = read_meta(directory) or {}
    entries = read_entries(directory)
    held = _held(directory, entries, meta)
    status = summaries.status(entries, bool(meta.get("finished")), held)
    with printing():
        if as_json:
            print(json.dumps(status, indent=1))
        else:
            tables.gate(status)
    raise typer.Exit(BLOCKED if status["blocked"] or held else 0)


def gate_hold(directory: options.DirArgument, reason: ReasonOption) -> None:
    """Hold a gate: no pane is committed until it is released.

    A run stops after the pane in hand. Who, when and why stand in the ledger.
    """
    from evenflow.gates import hold
    from evenflow.gates.ledger import read_entries

    _check(directory)
    word = hold.give(directory, "hold", _reason(reason), len(read_entries(directory)))
    with printing():
        print(visible(f"held by {word.who}, {_after(word.panes)}: {word.reason}"))


def gate_release(directory: options.DirArgument, reason: ReasonOption) -> None:
    """Let a held gate go on: behind a blocked pane, or after a hold.

    The blocked pane stays in quarantine; run the same command again to go on. Who, when and why stand in the ledger.
    """
    from evenflow.gates import hold
    from evenflow.gates.ledger import read_entries, read_meta

    _check(directory)
    entries = read_entries(directory)
    if _held(directory, entries, read_meta(directory) or {}) is None:
        with printing():
            print(f"{visible(str(directory))} is not held; nothing to release")
        return
    word = hold.give(directory, "release", _reason(reason), len(entries))
    with printing():
        print(visible(f"released by {word.who}, {_after(word.panes)}: {word.reason}"))


def _held(directory: Path, entries: Sequence[PaneEntry], meta: Mapping[str, Any]) -> str | None:
    """Why a gate is held, under the policy of its run."""
    from evenflow.gates import hold

    return hold.held(directory, entries, meta.get("configuration", {}).get("gate", {}).get("policy", "quarantine"))


def _after(panes: int) -> str:
    return f"after pane {panes - 1}" if panes else "before the first pane"


def _reason(reason: str) -> str:
    if not reason.strip():
        raise typer.BadParameter("a reason was expected", param_hint="'--reason'")
    return reason


def report(context: typer.Context, directory: options.DirArgument, as_json: options.JsonOption = False) -> None:
    """Rebuild report.html and report.json from the ledger."""
    from evenflow.pipelines.board.report import build

    _check(directory)
    session: Session = context.obj
    session.output = directory
    page = build(directory)
    with printing():
        print(json.dumps({"report": str(page)}) if as_json else visible(str(page)))


def _check(directory: Path) -> None:
    if not (directory / "ledger").is_dir():
        raise ConfigError(f"{directory}: no ledger here; give the --output directory of a run")
