"""`evenflow gate export` and `card`: accepted documents, handed over and described."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import printing, show
from evenflow.pipelines.terminal.lines import counted, visible


@command(
    "evenflow gate export out --to accepted",
    "evenflow gate export out --to accepted.jsonl.zst --pane 0..99",
    "evenflow gate export out --to iceberg:warehouse/curated.documents",
)
def gate_export(
    directory: options.Output, *, to: str, pane: options.Panes | None = None, as_json: bool = False
) -> None:
    """Write what the gate has accepted as one data set with one schema.

    A folder gets data/*.parquet and a README.md: pandas, polars, duckdb and
    datasets.load_dataset read it. What a person accepted after review is part of it.

    A table (Apache Iceberg, a plug-in's) gets a commit a pane; again, only what is new.
    CATALOG is a catalog of pyiceberg's configuration, or a folder, which gets one in SQLite. Panes
    that are not accepted go to the branch quarantine of a table of Iceberg.

    Args:
        to (PATH): A new folder (Parquet), a file .jsonl, .jsonl.gz or .jsonl.zst, or a table:
            iceberg:CATALOG/NAMESPACE.TABLE, or NAME:PLACE of a plug-in.
    """
    from evenflow.pipelines.accepted import export as exporting
    from evenflow.pipelines.accepted import sinks
    from evenflow.pipelines.accepted.rows import Accepted

    rows = Accepted(directory, pane)
    found = sinks.named(to)
    if found is not None and pane is not None:
        raise options.wrong("--pane", "a table follows all panes")
    done: sinks.Followed | None = None
    files: list[Path] = []
    try:
        if found is not None:
            done = sinks.follow(rows, *found)
        else:
            files = exporting.export(rows, Path(to))
    except exporting.ExportError as error:
        raise options.wrong("--to", str(error)) from error
    result: dict[str, Any] = {
        "rows": len(rows),
        "to": to,
        "files": [str(each) for each in files],
        **(done or sinks.Followed([], [], [], []))._asdict(),
        "is_table": found is not None,
        "columns": rows.schema.names,
        "as_json": rows.as_json,
        "extra": rows.extra,
    }
    show(result, as_json, _draw)


def _draw(result: dict[str, Any]) -> None:
    """Print what was handed over."""
    print(f"{counted(result['rows'], 'document')}: {visible(result['to'])}")
    if result["is_table"]:
        new, gone = (counted(len(result[name]), "pane") for name in ("appended", "taken_out"))
        print(f"{new} appended, {gone} taken out")
    if result["quarantined"]:
        print(f"{counted(len(result['quarantined']), 'pane')} appended to the quarantine")
    for line in result["changes"]:
        print(f"another version of the sink: {visible(line)}")
    if result["as_json"]:
        print(f"JSON text, since their types differ: {visible(', '.join(result['as_json']))}")
    if result["extra"]:
        print(f"{result['extra']:,} documents have fields that fit no column: see _extra")


@command(
    "evenflow gate card out --name 'Speeches, even' --license cc0-1.0",
    "evenflow gate card s3://bucket/out --name speeches --json",
)
def gate_card(
    directory: options.Output,
    *,
    name: str,
    description: str | None = None,
    license: str | None = None,
    url: str | None = None,
    as_json: bool = False,
) -> None:
    """Write DIR/croissant.json and DIR/README.md from the ledger.

    croissant.json is Croissant 1.1 with its fields of responsible AI: how evenly groups are named,
    with intervals; what was removed, changed and weighted; limitations; the files that count as
    accepted, with SHA-256. README.md has the YAML head of Hugging Face. Both are written anew each
    time. With --json croissant.json is printed, and nothing is written.

    Args:
        name (TEXT): Name of the data set.
        description (TEXT): What the texts are.
        license (ID): Licence of the texts, such as cc0-1.0.
        url (URL): Where the data set is published.
    """
    from evenflow.pipelines.accepted import card as cards

    given = {"name": name, "description": description, "license": license, "url": url}
    own = {key: value for key, value in given.items() if value}
    if "name" not in own:
        raise options.wrong("--name", "a name was expected")
    made, readme = cards.described(directory, own)
    with printing():
        if as_json:
            print(cards.dumps(made), end="")
            return
        for file, text in ((cards.CROISSANT, cards.dumps(made)), (cards.README, readme)):
            directory.write(file, text.encode("utf-8", "backslashreplace"))
            print(visible(directory.address(file)))
