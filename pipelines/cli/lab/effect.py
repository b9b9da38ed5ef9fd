"""`evenflow lab effect`: does weighting, exchange or removal make a less biased model?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import click

from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import Session, logs, show
from evenflow.pipelines.terminal.pace import lines


@command(
    "evenflow lab effect 'corpus/*.jsonl.gz' --output effect",
    "evenflow lab effect corpus/ --output effect --seeds 20 --json",
)
def lab_effect(
    inputs: list[str],
    *,
    output: Path,
    seeds: Annotated[int, click.IntRange(10)] = 10,
    session: Session,
    as_json: bool = False,
) -> None:
    """Compare the bias of word vectors after each change of a corpus.

    The changes are the gate's weights and exchanges, blind exchange, and copies and removal of
    documents of a high bias score; beside them stand controls that must show and controls that must
    not. Before the run it says which effects it will be able to show. Writes effect.json. If it was
    killed, run it again: it goes on.

    Args:
        output (DIR): Folder of the results.
        seeds: Draws of documents.
    """
    from evenflow.pipelines.lab.effect.effect import run

    logs(session)
    session.resumable = True

    def line(done: tuple[int, int]) -> str:
        return f"{done[0]:,} of {done[1]:,} cells"

    pace = lines(session, False, line, lambda done: done[0] == done[1])

    def pilot(expected: Mapping[str, Any]) -> None:
        if not as_json:
            _expected(expected)

    found = run(inputs, output, seeds, lambda done, total: pace((done, total)), pilot)
    show(found, as_json, _draw)


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


def _draw(found: Mapping[str, Any]) -> None:
    """Print the arms and their differences from their controls."""
    from evenflow.pipelines.lab.effect.vectors import FIGURES
    from evenflow.pipelines.terminal import tables
    from evenflow.schemas.words import Table

    columns = ("arm", "figure", "less its control's", "smallest", "control")
    for figure, title in FIGURES.items():
        rows: list[Sequence[str]] = []
        for arm in found["arms"].values():
            less = arm["differences"].get(figure)
            cells = (interval(less), f"{less['smallest']:.3f}") if less else ("", "")
            rows.append((arm["title"], interval(arm["figures"][figure]), *cells, arm["control"]))
        tables.draw(Table(title, columns, rows))
    print(f"97.5 % of random words have a d below {found['floor']:.2f}")


def interval(own: Mapping[str, float]) -> str:
    """An effect with its interval."""
    return f"{own['value']:.3f} [{own['low']:.3f}, {own['high']:.3f}]"
