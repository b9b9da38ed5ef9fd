"""`evenflow lab effect`: does weighting, exchange or removal make a less biased model?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, option
from evenflow.pipelines.terminal.endings import Session, logs, show
from evenflow.pipelines.terminal.pace import lines


@command(
    "evenflow lab effect 'corpus/*.jsonl.gz' --output effect",
    "evenflow lab effect corpus/ --output effect --seeds 20 --json",
    "evenflow lab effect corpus/ --output effect --model smollm2-135m-instruct",
)
def effect(
    context: typer.Context,
    inputs: options.InputsArgument,
    *,
    output: Annotated[Path, option("DIR", "Folder of the results.", "--output", "-o")],
    seeds: Annotated[int, option("K", "Draws of documents.", min=10)] = 10,
    model: Annotated[
        str | None,
        option("MODEL", "Let this language model learn (its folder or name), not word vectors."),
    ] = None,
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Learn word vectors, or a language model, from a corpus after each change; compare their bias.

    The changes are the gate's weights and exchanges, blind exchange, and copies and removal of
    documents of a high bias score; beside them stand controls that must show and controls that must
    not. Before the run it says which effects it will be able to show. Writes effect.json. If it was
    killed, run it again: it goes on.
    """
    from evenflow.pipelines.lab.effect import language
    from evenflow.pipelines.lab.effect.effect import run
    from evenflow.pipelines.lab.effect.vectors import VECTORS

    session: Session = context.obj
    logs(session)
    session.resumable = True

    def line(done: tuple[int, int]) -> str:
        return f"{done[0]:,} of {done[1]:,} cells"

    pace = lines(session, quiet, line, lambda done: done[0] == done[1])

    def pilot(expected: Mapping[str, Any]) -> None:
        if not as_json:
            _expected(expected)

    design = language.design(model, language.SampleSizes()) if model else VECTORS
    found = run(inputs, output, seeds, lambda done, total: pace((done, total)), pilot, design)
    show(found, as_json, lambda found: _draw(found, design.figures))


def _expected(expected: Mapping[str, Any]) -> None:
    """Print what the pilot expects."""
    for arm, own in expected["smallest"].items():
        sizes = ", ".join(f"{name} {each['smallest']:.3f}" for name, each in own.items())
        print(f"pilot: beside {arm}, effects from here on will show: {sizes}")
    for dose in expected["doses"].values():
        figures = [name for name in dose if name != "share"]
        sizes = ", ".join(f"{name} {dose[name]['power']:.2f}" for name in figures)
        print(
            f"pilot: {dose['share']:.0%} of the documents exchanged will show with power: {sizes}"
        )


def _draw(found: Mapping[str, Any], figures: Mapping[str, str]) -> None:
    """Print the arms and their differences from their controls."""
    from rich.table import Table

    from evenflow.pipelines.terminal.tables import console

    for figure, title in figures.items():
        table = Table("arm", "figure", "less its control's", "smallest", "control", title=title)
        for arm in found["arms"].values():
            difference = arm["differences"].get(figure)
            cells = (interval(difference), f"{difference['smallest']:.3f}") if difference else ()
            table.add_row(
                arm["title"], interval(arm["figures"][figure]), *(cells or ("", "")), arm["control"]
            )
        console().print(table)
    if "floor" in found:
        print(f"97.5 % of random words have a d below {found['floor']:.2f}")


def interval(own: Mapping[str, float]) -> str:
    """An effect with its interval."""
    return f"{own['value']:.3f} [{own['low']:.3f}, {own['high']:.3f}]"
