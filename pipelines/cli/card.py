"""`evenflow gate card`: describes what a gate accepted, for those who use it."""

from __future__ import annotations

from typing import Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, option
from evenflow.pipelines.cli.gate import check
from evenflow.pipelines.terminal.endings import printing
from evenflow.pipelines.terminal.lines import visible


@command(
    "evenflow gate card out --name 'Speeches, even' --license cc0-1.0",
    "evenflow gate card s3://bucket/out --name speeches --json",
)
def card(
    directory: options.DirArgument,
    name: Annotated[str, option("TEXT", "Name of the data set.")],
    description: Annotated[str | None, option("TEXT", "What the texts are.")] = None,
    license: Annotated[str | None, option("ID", "Licence of the texts, such as cc0-1.0.")] = None,
    url: Annotated[str | None, option("URL", "Where the data set is published.")] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Write DIR/croissant.json and DIR/README.md from the ledger.

    croissant.json is Croissant 1.1 with its fields of responsible AI: how evenly groups are named,
    with intervals; what was removed, changed and weighted; limitations; the files that count as
    accepted, with SHA-256. README.md has the YAML head of Hugging Face. Both are written anew each
    time. With --json croissant.json is printed, and nothing is written.
    """
    from evenflow.pipelines.accepted import card as cards

    check(directory)
    given = {"name": name, "description": description, "license": license, "url": url}
    own = {key: value for key, value in given.items() if value}
    if "name" not in own:
        raise typer.BadParameter("a name was expected", param_hint="'--name'")
    made, readme = cards.described(directory, own)
    with printing():
        if as_json:
            print(cards.dumps(made), end="")
            return
        for file, text in ((cards.CROISSANT, cards.dumps(made)), (cards.README, readme)):
            directory.write(file, text.encode("utf-8", "backslashreplace"))
            print(visible(directory.address(file)))
