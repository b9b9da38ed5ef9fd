"""`evenflow words list`, `show` and `check`: what is measured."""

from __future__ import annotations

from typing import Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import argument, command, option
from evenflow.pipelines.cli.keys import Keys
from evenflow.pipelines.terminal.endings import show
from evenflow.schemas.errors import USAGE

NameArgument = Annotated[str, argument("NAME|PATH", "A shipped list's name, or a list's path.")]
NamesArgument = Annotated[
    list[str], argument("NAME|PATH", "Shipped lists' names, or lists' paths.")
]


@command("evenflow words list")
def wordlists_list(as_json: options.JsonOption = False) -> None:
    """List the shipped word lists, with their groups and numbers of labels.

    Those that are measured by default have an asterisk.
    """
    from evenflow.pipelines.terminal import tables
    from evenflow.transforms.lab.word_lists import report
    from evenflow.wordlists import loader

    rows = [
        {"name": name, "default": name in loader.SHIPPED} | report.sizes(loader.load(name))
        for name in loader.NAMED
    ]
    show(rows, as_json, tables.lists)


@command("evenflow words show gender", "evenflow words show mine.yaml --json")
def wordlists_show(name: NameArgument, as_json: options.JsonOption = False) -> None:
    """Show the labels of a word list, by group."""
    from evenflow.pipelines.terminal import list_tables
    from evenflow.transforms.lab.word_lists import report
    from evenflow.wordlists import loader

    show(report.shown(loader.load(name)), as_json, list_tables.labels)


@command(
    "evenflow words check gender mine.yaml",
    "evenflow words check age --corpus 'texts/*.jsonl.gz'",
    options=("fields.text",),
)
def wordlists_check(
    names: NamesArgument,
    corpus: Annotated[
        list[str] | None, option("PATH", "Texts: a path, folder or glob; repeatable.", "--corpus")
    ] = None,
    *,
    fields: Keys,
    passages: Annotated[
        int, option("N", "Most mentions of a label that are read.", min=1, max=1000)
    ] = 12,
    as_json: options.JsonOption = False,
) -> None:
    """Check word lists and their role maps; with --corpus also what their labels name.

    Every defect is named with file, line and label. With --corpus: how often each label names a
    person of its group, with its interval of 95 % and examples, and what that does to DR.

    Exit status: 0 all are sound, 2 there is a defect.
    """
    from evenflow.pipelines.terminal import list_tables
    from evenflow.transforms.annotation import label_people
    from evenflow.transforms.lab.word_lists import report
    from evenflow.wordlists import loader

    checked = report.checked(names)
    for row in checked if corpus else ():
        if row["sound"]:
            config = fields.configuration()
            row["corpus"] = label_people.in_files(row["list"], corpus or [], config, passages)
    show(checked, as_json, list_tables.checked)
    defects = [defect for row in checked for defect in row["defects"]]
    if defects and not as_json:
        raise loader.WordListError("\n".join(defects))
    raise typer.Exit(USAGE if defects else 0)
