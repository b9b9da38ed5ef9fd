"""`evenflow measure` and `compare`: figures of files, nothing written."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import argument, command, flag, option
from evenflow.pipelines.terminal.endings import BLOCKED, EMPTY, report_event, show


@command(
    "evenflow measure corpus/",
    "evenflow measure 'corpus/*.jsonl.gz' --attribute gender --json",
    "evenflow measure reviews.parquet --text-field body --wordlist mine.yaml",
    options=("fields.text", "measure.count", "measure.epsilon"),
)
def measure(
    context: typer.Context,
    inputs: options.InputsArgument,
    *,
    selection: options.Selection,
    allow_empty: options.AllowEmptyOption = False,
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Count labels and score DR with its interval, per attribute.

    Nothing is written. Reads .jsonl, .jsonl.gz, .jsonl.zst, .parquet and .txt.

    Exit status: 0 done, 3 there was no document, 2 wrong usage or configuration, 1 failure.
    """
    from evenflow.pipelines.engine.files.measure import measure as figures_of
    from evenflow.pipelines.terminal import summaries, tables
    from evenflow.pipelines.terminal.progress import reporter
    from evenflow.schemas.documents import Figures
    from evenflow.transforms.annotation.people import resolve

    config = selection.configuration()
    total, course = Figures(), summaries.Course()
    # Elsewhere than on a terminal the figures themselves are the report.
    with reporter("text", options.sizes_of(inputs), quiet or not sys.stderr.isatty()) as progress:
        for figures in figures_of(inputs, config):
            total.add(figures)
            course.note(total)
            progress.on_measured(figures)
    resolve(total, config)
    result = summaries.measured(total, config, course)
    show(result, as_json, tables.measured)
    for reason, number in total.dead_reasons.items():
        print(f"evenflow: not measured: {number:,} ({reason})", file=sys.stderr)
    if not total.documents and not allow_empty:
        report_event("empty", EMPTY, BLOCKED, context.obj)
        raise typer.Exit(BLOCKED)


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
