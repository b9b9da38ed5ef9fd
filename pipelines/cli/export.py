"""`evenflow export`: accepted documents, handed over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import examples
from evenflow.pipelines.cli.gate import check
from evenflow.pipelines.terminal.endings import printing
from evenflow.pipelines.terminal.lines import visible

EXAMPLES = examples(
    "evenflow export out --to accepted",
    "evenflow export out --to accepted.jsonl.zst --pane 0..99",
)


def export(
    directory: options.DirArgument,
    to: Annotated[
        Path,
        typer.Option(
            metavar="PATH",
            help="A new folder (Parquet), or a file .jsonl, .jsonl.gz or .jsonl.zst.",
        ),
    ],
    pane: options.PaneOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Write what the gate has accepted as one data set with one schema.

    A folder gets data/*.parquet and a README.md: pandas, polars, duckdb and
    datasets.load_dataset read it. What a person accepted after review is part of it.
    """
    from evenflow.pipelines.accepted import export as exporting
    from evenflow.pipelines.accepted.rows import Accepted

    check(directory)
    rows = Accepted(directory, options.panes(pane))
    try:
        files = exporting.export(rows, to)
    except exporting.ExportError as error:
        raise typer.BadParameter(str(error), param_hint="'--to'") from error
    with printing():
        if as_json:
            print(
                json.dumps(
                    {
                        "rows": len(rows),
                        "files": [str(each) for each in files],
                        "columns": rows.schema.names,
                        "as_json": rows.as_json,
                        "extra": rows.extra,
                    }
                )
            )
            return
        print(f"{len(rows):,} documents: {visible(str(to))}")
        if rows.as_json:
            print(f"JSON text, since their types differ: {visible(', '.join(rows.as_json))}")
        if rows.extra:
            print(f"{rows.extra:,} documents have fields that fit no column: see _extra")
