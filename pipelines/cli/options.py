"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _no_encoder(given: str | None) -> None:
    """Says what became of an option of earlier versions."""
    if given is not None:
        raise typer.BadParameter(
            "there is no encoder to choose any more: the shipped one always looks; leave this"
            " option out"
        )


ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", metavar="FILE", help="YAML file, see `evenflow config show`."),
]
AttributeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute", "-a", metavar="NAME", help="Measure this attribute only; may be repeated."
    ),
]
WordlistOption = Annotated[
    list[str] | None,
    typer.Option(
        "--wordlist",
        "-w",
        metavar="PATH",
        help="A word list of your own, measured too; may be repeated.",
    ),
]
TextFieldOption = Annotated[
    str | None,
    typer.Option("--text-field", metavar="NAME", help="Field of the text.  [default: text]"),
]
EncoderOption = Annotated[
    str | None,
    typer.Option(hidden=True, callback=_no_encoder, help="There is none to choose any more."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DirArgument = Annotated[Path, typer.Argument(metavar="DIR", help="Output directory of a run.")]


def given(**options: object) -> dict[str, object]:
    """Overrides for the configuration from options that were given: section__key=value is the
    dotted key section.key.
    """
    return {name.replace("__", "."): value for name, value in options.items() if value is not None}


def examples(*lines: str) -> str:
    """A command's last words in its help, kept line by line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
