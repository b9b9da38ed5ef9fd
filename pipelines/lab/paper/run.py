"""Runs an experiment cell by cell, and compares its arms.

What an output holds:

    paper.settings.json   what was begun; another run must say the same, but for the seeds
    data/                 what gates made of the input, and mined sentences
    cells/ARM/SEED/       what a learner learnt, and what was measured of it
    paper.json            the result

Each cell's folder says when it is finished, so a killed run goes on and ends with the same result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evenflow.gates.ledger.files import canonical
from evenflow.pipelines.lab.paper import comparison
from evenflow.pipelines.lab.paper.cells import Cell
from evenflow.pipelines.lab.paper.settings import Arm, Paper
from evenflow.pipelines.lab.paper.texts import Texts
from evenflow.pipelines.lab.train.errors import refuse_other
from evenflow.transforms.storage.directory import Directory

BEGUN, RESULT = "paper.settings.json", "paper.json"
CELLS, DONE = "cells", "training.json"
DIGITS = 6


def run(
    paper: Paper,
    on_cell: Callable[[int, int, Cell], None] = lambda done, total, cell: None,
    on_step: Callable[[Any], None] = lambda step: None,
    on_expected: Callable[[Sequence[str]], None] = lambda said: None,
) -> dict[str, Any]:
    """Learn and measure every cell that is not finished, and compare."""
    learner, texts = learner_of(paper)
    begin(paper, texts.digest)
    before, own = learner.cells(lambda *cell: cell_of(paper, *cell))
    every = [*before, *own]
    if left := [cell for cell in every if not cell.finished]:
        learner.check(left)
    expected: list[str] = []
    for done, cell in enumerate(every):
        if before and done == len(before):
            on_expected(learner.expected(before))
        if not cell.finished:
            on_cell(done, len(every), cell)
            learner.go(cell, on_step)
    expected = learner.expected(before) if before else []
    table, limits = learner.compared(own if paper.is_vectors else every)
    found = _result(paper, texts, every, expected, table, limits)
    Directory(Path(paper.output)).write(RESULT, canonical(found))
    return found


def learner_of(paper: Paper) -> tuple[Any, Texts]:
    """The learner of an experiment, and its texts; gates make them where they are not made yet."""
    texts = Texts(paper)
    if paper.is_vectors:
        from evenflow.pipelines.lab.paper.vectors import Vectors

        return Vectors(paper, texts), texts
    from evenflow.pipelines.lab.paper.models import Models

    return Models(paper, texts), texts


def cell_of(paper: Paper, arm: str, seed: int, draw: int = 0) -> Cell:
    """A cell with its folder."""
    name = f"{seed}.{draw}" if draw else str(seed)
    return Cell(arm, seed, Path(paper.output) / CELLS / arm / name, draw)


def begin(paper: Paper, texts: str) -> None:
    """Note the settings, but for the seeds: more may follow.

    `texts`: Digest of the corpus.

    Raises TrainInputError where others were noted and a cell was begun with them, OSError.
    """
    storage = Directory(Path(paper.output))
    data = {**paper.model_dump(exclude={"output", "seeds", "keep_models"}), "texts": texts}
    if not (storage.path / CELLS).exists():
        storage.write(BEGUN, canonical(data))
    elif not storage.create(BEGUN, canonical(data)):
        refuse_other(paper.output, storage.read(BEGUN), data)


def _result(
    paper: Paper,
    texts: Texts,
    every: Sequence[Cell],
    expected: list[str],
    table: dict[str, dict[str, Any]],
    limits: Sequence[str],
) -> dict[str, Any]:
    """The result as JSON."""
    titles = {name: arm.title or name for name, arm in paper.arms.items()}
    controls = {name: paper.control(name) for name in paper.arms}
    may, may_not = comparison.conclusions(titles, table, controls)
    how = paper.finetune
    return {
        "model": paper.model,
        "baseline": paper.baseline,
        "seeds": paper.seeds,
        "settings": {} if how is None else how.model_dump(),
        "expected": expected,
        "arms": {
            name: {
                "title": titles[name],
                "control": controls[name],
                **_data(arm, next(cell for cell in every if cell.arm == name), texts),
            }
            for name, arm in paper.arms.items()
        },
        "suites": {
            suite: {
                key: {arm: _plain(own) for arm, own in value.items()}
                if key in ("estimates", "differences")
                else value
                for key, value in each.items()
            }
            for suite, each in table.items()
        },
        "may_be_concluded": may,
        "may_not_be_concluded": [*may_not, *limits],
    }


def _data(arm: Arm, cell: Cell, texts: Texts) -> dict[str, Any]:
    """What is said of an arm's data, by the first seed."""
    found: dict[str, Any] = {}
    if arm.trained and arm.mined is None and arm.select != "telling":  # which is of a half
        found = texts.table(cell.arm, cell.seed)
    if (cell.model / DONE).exists():
        made = json.loads((cell.model / DONE).read_text(encoding="utf-8"))
        found |= {key: made["data"][key] for key in ("documents", "tokens")}
        found["losses"] = made["losses"]
    return found


def _plain(own: comparison.Estimate) -> dict[str, Any]:
    """An estimate as JSON."""
    return {
        key: round(each, DIGITS) if isinstance(each, float) else each
        for key, each in asdict(own).items()
    }
