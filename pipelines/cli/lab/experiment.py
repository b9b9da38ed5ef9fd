"""`evenflow lab experiment`: does the debiased data make a less biased model?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import Session, logs, report_event, show
from evenflow.pipelines.terminal.lines import visible
from evenflow.transforms.storage.storage import at

if TYPE_CHECKING:
    from evenflow.pipelines.lab.train.experiment import Cell

PAGE = "experiment.html"


@command(
    "evenflow lab experiment experiment.yaml",
    "evenflow lab experiment experiment.yaml --json",
)
def lab_experiment(
    config: Path, *, session: Session, quiet: bool = False, as_json: bool = False
) -> None:
    """Compare models trained on data as it came, and debiased.

    All are trained with the same steps, seeds and order, and measured on the same items. Writes
    experiment.json and experiment.html. If it was killed, run it again: what is finished is not
    done again. It needs the extra `train`.

    Args:
        config (CONFIG): YAML file, see the docs.
    """
    from evenflow.pipelines.lab.train.experiment import run
    from evenflow.pipelines.lab.train.page import page
    from evenflow.schemas.experiment import load

    own = load(config)
    logs(session)
    session.output, session.resumable = at(own.output), True
    began = time.monotonic()

    def on_stage(stage: str, cell: Cell) -> None:
        session.go_on()
        if not quiet:
            text = f"{stage} {cell.arm}, seed {cell.seed} ({time.monotonic() - began:,.0f} s)"
            report_event("progress", text, 0, session)

    found = run(own, on_stage, lambda step: session.go_on())
    at(own.output).write(PAGE, page(found).encode("utf-8"))

    def draw(found: dict[str, Any]) -> None:
        _print(found)
        print(f"page: {visible(at(own.output).address(PAGE))}")

    show(found, as_json, draw)


def _print(found: dict[str, Any]) -> None:
    """Print the table, and what follows."""
    from evenflow.pipelines.lab.train.comparison import Estimate, interval
    from evenflow.pipelines.terminal import tables
    from evenflow.schemas.words import Table

    for suite, each in found["suites"].items():
        rows = [
            (
                found["arms"][arm]["title"],
                interval(Estimate(**own)),
                interval(Estimate(**other)) if (other := each["differences"].get(arm)) else "",
            )
            for arm, own in each["estimates"].items()
        ]
        title = f"{suite} (best: {each['wanted']}, {each['n']} items)"
        tables.draw(Table(title, ("arm", "figure", "difference"), rows))
    for head, key in (("May be concluded", "may_be_concluded"), ("Not", "may_not_be_concluded")):
        print(f"{head}:")
        for sentence in found[key]:
            print(f"- {visible(sentence)}")
