"""`evenflow measure`: figures of files, nothing written."""

from __future__ import annotations

import sys

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
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
