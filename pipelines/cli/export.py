"""`evenflow gate export` and `card`: accepted documents, handed over and described."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.endings import printing
from evenflow.pipelines.terminal.lines import counted, visible

if TYPE_CHECKING:
    from evenflow.transforms.storage.storage import Storage


def gate_export(
    directory: options.Output,
    *,
    to: str | None = None,
    pane: options.Panes | None = None,
    list_: Literal["accepted", "quarantine", "dead-letter", "sentences"] | None = None,
    ledger: Path | None = None,
    as_json: bool = False,
) -> options.Shown | None:
    """Write what the gate has accepted as one data set with one schema.

    A folder gets data/*.parquet and a README.md: pandas, polars, duckdb and
    datasets.load_dataset read it. What a person accepted after review is part of it.

    A table (Apache Iceberg, a plug-in's) gets a commit a pane; again, only what is new.
    CATALOG is a catalog of pyiceberg's configuration, or a folder, which gets one in SQLite. Panes
    that are not accepted go to the branch quarantine of a table of Iceberg.

    --list writes nothing. A line has address, rows, bytes, SHA-256 and pane of a file, with tabs
    between them. A file that is not listed is not part of the output: a run that was killed left
    it. A pane that a person accepted is listed as accepted, and its files are where they were.

    Args:
        to (PATH): A new folder (Parquet), a file .jsonl, .jsonl.gz or .jsonl.zst, or a table:
            iceberg:CATALOG/NAMESPACE.TABLE, or NAME:PLACE of a plug-in.
        list_ (FOLDER): List the files of accepted, quarantine, dead-letter or sentences that the
            ledger names, and so count; with --json an object a line.
        ledger: Write the ledger to a new Parquet file: for each pane and attribute verdict,
            reason, counts, target, DR with its interval, and decisions of people.

    Examples:
        evenflow gate export out --to accepted
        evenflow gate export out --to accepted.jsonl.zst --pane 0..99
        evenflow gate export out --to iceberg:warehouse/curated.documents
        evenflow gate export out --list quarantine --pane 100..199 --json
        evenflow gate export out --ledger ledger.parquet
    """
    if sum(each is not None for each in (to, list_, ledger)) != 1:
        raise options.wrong("--to", "give one of --to, --list and --ledger")
    if list_ is not None:
        return _list(directory, list_, pane or slice(None), as_json)
    if ledger is not None:
        return _ledger(directory, ledger)
    assert to is not None
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
    return options.Shown(result, _draw)


def _list(directory: Storage, folder: str, panes: slice, as_json: bool) -> None:
    """Print the files of a folder that the ledger names."""
    from evenflow.gates.ledger.history import History
    from evenflow.pipelines.cli.gate import no_pane

    history = History(directory)
    # A reader that follows the ledger asks for panes from the next one on, which is not there yet
    if panes.start is not None and panes.stop is not None and panes.start >= len(history):
        raise options.wrong("--pane", no_pane(panes.start, len(history)))
    with printing():
        for entry in history.some(range(len(history))[panes]):
            for counts_as, place, file in history.files(entry):
                if counts_as == folder:
                    address = directory.address(f"{place}/{file.name}")
                    found = {"address": address, **file.model_dump(), "pane": entry.pane}
                    del found["name"]
                    line = "\t".join(visible(str(each)) for each in found.values())
                    print(json.dumps(found) if as_json else line)


def _ledger(directory: Storage, to: Path) -> options.Shown:
    """Write the ledger as a table."""
    from evenflow.gates.ledger import table
    from evenflow.gates.ledger.history import History

    if to.exists():
        raise options.wrong("--ledger", f"{to} exists; give a new file")
    history = History(directory)
    panes, rows = len(history), table.write(history, to)
    result = {"panes": panes, "rows": rows, "file": str(to)}
    line = f"{counted(panes, 'pane')}, {counted(rows, 'row')}: {visible(str(to))}"
    return options.Shown(result, lambda _: print(line))


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

    Examples:
        evenflow gate card out --name 'Speeches, even' --license cc0-1.0
        evenflow gate card s3://bucket/out --name speeches --json
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
