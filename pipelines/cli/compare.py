"""`evenflow compare`: what a filter removed beside what it kept, or two versions of a corpus."""

from __future__ import annotations

from typing import Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import argument, command, flag, option
from evenflow.pipelines.terminal.endings import BLOCKED, EMPTY, report_event, show


@command(
    "evenflow compare kept/ removed/ --by source",
    "evenflow compare 'v1/*.jsonl.gz' 'v2/*.jsonl.gz' --attribute gender --json",
    options=("fields.text", "fields.id"),
)
def compare(
    context: typer.Context,
    first: Annotated[str, argument("KEPT", "What was kept: a path or glob.")],
    second: Annotated[str, argument("REMOVED", "What was removed.")],
    *,
    selection: options.Selection,
    by: Annotated[
        str | None, option("FIELD", "Compare by the source that this field names, too.")
    ] = None,
    unpaired: Annotated[bool, flag("Equal ids name different documents.")] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Compare how evenly two inputs name the groups: what a filter kept and removed.

    Shows the difference of DR, of each group's share, and how much more of a group's mentions was
    removed than of all, with intervals over documents. With --by, also for each source, and with
    the same mix of sources on both sides: a difference that the mix alone makes is gone there.

    Inputs that share ids are versions of one corpus, the older first: documents on both sides are
    paired, and removed is what the newer lacks.

    Nothing is written. Exit status: 0 done, 3 there was no document, 2 wrong usage or
    configuration, 1 failure.
    """
    from evenflow.pipelines.engine.files.compare import compared
    from evenflow.pipelines.terminal import comparison

    config = selection.configuration()
    found = compared([first], [second], config, by, unpaired)
    show(found, as_json, comparison.draw)
    if not all(found["documents"]):
        report_event("empty", EMPTY, BLOCKED, context.obj)
        raise typer.Exit(BLOCKED)
