"""`evenflow lab paper`: does the debiased data make a less biased model?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.endings import Session, logs, report_event
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.words import duration
from evenflow.transforms.storage.storage import at

if TYPE_CHECKING:
    from evenflow.pipelines.lab.paper.cells import Cell

PAGE = "paper.html"


def lab_paper(
    config: Path,
    *,
    estimate: bool = False,
    data: options.Output | None = None,
    pane: options.Panes | None = None,
    output: Path | None = None,
    session: Session,
    quiet: bool = False,
) -> options.Shown:
    """Compare what a model learns of raw data and of debiased data.

    All arms are learnt with the same seeds, steps and order, and measured on the same items. Writes
    paper.json and paper.html: the DR of each arm's data, each figure before and after with its
    interval, and what may be concluded. If it was killed, run it again: what is finished is not
    done again. A language model needs the extra `lab`; word vectors need nothing.

    Args:
        config (CONFIG): YAML file, see the docs.
        estimate: Say how long it will take and which memory it needs, and end.
        data (DIR): What this gate accepted, in place of the file's input.
        output (DIR): In place of the file's output.

    Examples:
        evenflow lab paper paper.yaml --estimate
        evenflow lab paper paper.yaml
        evenflow lab paper paper.yaml --data out --output again --json
    """
    from evenflow.pipelines.lab.paper import settings
    from evenflow.pipelines.lab.paper.run import run

    own = settings.load(config, output, None if data is None else _accepted(data, pane))
    logs(session)
    if estimate:
        from evenflow.pipelines.lab.paper.estimate import estimate as estimated

        return options.Shown(estimated(own), lambda found: print("\n".join(found["said"])))
    session.output, session.resumable = at(own.output), True
    began, first = time.monotonic(), list[int]()

    def on_cell(done: int, total: int, cell: Cell) -> None:
        session.go_on()
        first.append(done)
        passed = time.monotonic() - began
        text = f"cell {done + 1:,} of {total:,}: {cell.arm}, seed {cell.seed}"
        if done > first[0]:
            text += f", {duration(passed / (done - first[0]) * (total - done))} left"
        if not quiet and (not own.is_vectors or done % 10 == 0 or done == first[0]):
            report_event("progress", text, 0, session)

    def on_expected(said: Sequence[str]) -> None:
        for each in () if quiet else said:
            session.note(f"power: {each}")

    found = run(own, on_cell, lambda step: session.go_on(), on_expected)
    from evenflow.pipelines.lab.paper.page import page

    at(own.output).write(PAGE, page(found).encode("utf-8"))
    address = at(own.output).address(PAGE)
    return options.Shown(found, lambda found: _print(found, address))


def _accepted(data: Any, panes: slice | None) -> list[str]:
    """The shards of what a gate accepted. Raises TrainInputError."""
    from evenflow.pipelines.lab.train.rows import select

    found = select(data, panes, "skip")
    return [at(data).address(f"{folder}/{each.name}") for folder, each in found.shards]


def _print(found: dict[str, Any], page: str) -> None:
    """Print the tables, what follows, and where the page is."""
    from evenflow.pipelines.lab.paper.comparison import described
    from evenflow.pipelines.terminal import tables
    from evenflow.schemas.words import Table

    for title, columns, rows in described(found):
        tables.draw(Table(title, columns, rows))
    for head, key in (("May be concluded", "may_be_concluded"), ("Not", "may_not_be_concluded")):
        print(f"{head}:")
        for sentence in found[key]:
            print(f"- {visible(sentence)}")
    print(f"page: {visible(page)}")
