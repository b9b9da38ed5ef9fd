"""`evenflow init`: a configuration to begin with, from a look at the input."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import argument, command, flag, option
from evenflow.pipelines.cli.keys import Keys

if TYPE_CHECKING:
    from evenflow.pipelines.engine.files.look import Look


@dataclass(frozen=True, kw_only=True)
class Lists(Keys):
    """The user's word lists, without a configuration.

    Attributes:
        wordlist: Their paths; None for none.
    """

    wordlist: options.WordlistOption = None


@command(
    "evenflow init corpus/",
    "evenflow init 'corpus/*.jsonl.gz' --output corpus.yaml",
    "evenflow run --input corpus/ --output out --config evenflow.yaml",
    options=("fields.text",),
)
def init(
    inputs: Annotated[
        list[str] | None, argument("[INPUT]...", "Paths, folders or globs; none: the defaults.")
    ] = None,
    output: Annotated[Path, option("FILE", "The file that is written.", "--output", "-o")] = Path(
        "evenflow.yaml"
    ),
    sample: Annotated[int, option("N", "About how many documents are looked at.", min=1)] = 2000,
    *,
    lists: Lists,
    force: Annotated[bool, flag("Replace the file.")] = False,
) -> None:
    """Write a configuration with comments, from a look at the input.

    It names the fields of the text and the id, the size of a pane, and the attributes that the
    documents name. The thresholds are such that an input that stays as it is raises hardly a false
    alarm: 1 pane of 100 warns and 1 of 1,000 is blocked, in a simulation with your documents.

    Exit status: 0 done, 2 wrong usage, or the file is there already, 1 failure.
    """
    if output.exists() and not force:
        raise typer.BadParameter(
            f"{output} is there already; --force replaces it", param_hint="'--output'"
        )
    from evenflow.pipelines.engine.files.first_config import lines

    config = lists.configuration()
    seen: Look | None = None
    if inputs:
        from evenflow.pipelines.engine.files.look import NoTextError, look

        found = options.sizes_of(inputs)
        try:
            seen = look(found, config, sample)
        except NoTextError as error:
            raise typer.BadParameter(str(error), param_hint="'INPUT'") from error
    text = "\n".join(lines(seen, config, inputs or [], output.parent)) + "\n"
    output.write_text(text, encoding="utf-8")
    source = shlex.join(inputs) if inputs else "INPUT"
    print(f"{output}: read it, then")
    print(f"  evenflow run --input {source} --output out --config {shlex.quote(str(output))}")
