"""`evenflow gate export`: accepted documents, handed over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, option
from evenflow.pipelines.cli.gate import check
from evenflow.pipelines.terminal.endings import show
from evenflow.pipelines.terminal.lines import counted, visible


@command(
    "evenflow gate export out --to accepted",
    "evenflow gate export out --to accepted.jsonl.zst --pane 0..99",
    "evenflow gate export out --to iceberg:warehouse/curated.documents",
)
def export(
    directory: options.DirArgument,
    to: Annotated[
        str,
        option(
            "PATH",
            "A new folder (Parquet), a file .jsonl, .jsonl.gz or .jsonl.zst, or"
            " iceberg:CATALOG/NAMESPACE.TABLE.",
        ),
    ],
    pane: options.PaneOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Write what the gate has accepted as one data set with one schema.

    A folder gets data/*.parquet and a README.md: pandas, polars, duckdb and
    datasets.load_dataset read it. What a person accepted after review is part of it.

    A table of Apache Iceberg gets a snapshot a pane; again, it gets only what is new. CATALOG is a
    catalog of pyiceberg's configuration, or a folder, which gets one in SQLite.
    """
    from evenflow.pipelines.accepted import export as exporting
    from evenflow.pipelines.accepted import iceberg
    from evenflow.pipelines.accepted.rows import Accepted

    check(directory)
    rows = Accepted(directory, options.panes(pane))
    if to.startswith(iceberg.PREFIX) and pane is not None:
        raise typer.BadParameter("a table follows all panes", param_hint="'--pane'")
    files: list[Path] = []
    new: list[int] = []
    gone: list[int] = []
    try:
        if to.startswith(iceberg.PREFIX):
            new, gone = iceberg.append(rows, to)
        else:
            files = exporting.export(rows, Path(to))
    except exporting.ExportError as error:
        raise typer.BadParameter(str(error), param_hint="'--to'") from error
    result: dict[str, Any] = {
        "rows": len(rows),
        "to": to,
        "files": [str(each) for each in files],
        "appended": new,
        "taken_out": gone,
        "columns": rows.schema.names,
        "as_json": rows.as_json,
        "extra": rows.extra,
    }
    show(result, as_json, _draw)


def _draw(result: dict[str, Any]) -> None:
    """Print what was handed over."""
    from evenflow.pipelines.accepted import iceberg

    print(f"{counted(result['rows'], 'document')}: {visible(result['to'])}")
    if result["to"].startswith(iceberg.PREFIX):
        new, gone = (counted(len(result[name]), "pane") for name in ("appended", "taken_out"))
        print(f"{new} appended, {gone} taken out")
    if result["as_json"]:
        print(f"JSON text, since their types differ: {visible(', '.join(result['as_json']))}")
    if result["extra"]:
        print(f"{result['extra']:,} documents have fields that fit no column: see _extra")
