"""An experiment: arms of data, seeds, and benchmarks (the main paper's Table 9).

A cell is an arm with a seed. OUTPUT/cells/ARM/SEED/model is what was trained, and …/benchmark what
was measured. Each of its files says when it is finished, so a cell is never run again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenflow.gates.ledger.files import canonical, changed_settings
from evenflow.pipelines.lab.train import comparison
from evenflow.pipelines.lab.train.arms import Cell, Datasets, keep
from evenflow.pipelines.lab.train.benchmark import benchmark, items_of, paired
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.pipelines.lab.train.finetune import finetune
from evenflow.schemas.experiment import Experiment
from evenflow.transforms.lab.benchmarks.data import Data as BenchmarkData
from evenflow.transforms.storage.directory import Directory

if TYPE_CHECKING:
    from evenflow.transforms.lab.benchmarks.asking import Models

BEGUN, RESULT = "experiment.settings.json", "experiment.json"
CELLS = "cells"
MEASURED = "measured.json"  # in a cell's folder: it is finished


def _asked(experiment: Experiment, cell: Cell) -> tuple[Models, str | None]:
    """A cell's model, loaded once for all suites. Raises LanguageModelError."""
    from evenflow.transforms.lab.benchmarks import asking

    arm, model, adapter = experiment.arms[cell.arm], experiment.model, None
    if arm.trained:
        how, made = experiment.finetuning(arm, cell.seed), str(cell.model)
        model, adapter = (model, made) if how.rank and not how.merge else (made, None)
    return asking.Models(model, adapter), adapter


def cells(experiment: Experiment) -> Iterator[Cell]:
    """All cells, seed by seed, so that what an early end leaves can be compared."""
    for seed in experiment.seeds:
        for arm in experiment.arms:
            yield Cell(arm, seed, Path(experiment.output) / CELLS / arm / str(seed))


def run(
    experiment: Experiment,
    on_cell: Callable[[str, Cell], None] = lambda stage, cell: None,
    on_step: Callable[[Any], None] = lambda step: None,
) -> dict[str, Any]:
    """Train and measure every cell that is not finished, and compare."""
    begin(experiment)
    left = [cell for cell in cells(experiment) if not (cell.folder / MEASURED).exists()]
    if left:
        _asked_of(experiment)
        datasets, arms = Datasets(experiment), experiment.arms
        # The data first: what is wrong with them is said before anything is trained
        data = {
            cell: datasets.of(arms[cell.arm], cell.seed) for cell in left if arms[cell.arm].trained
        }
        for cell in left:
            if cell in data:
                on_cell("train", cell)
                arm, model = arms[cell.arm], experiment.model
                how = experiment.finetuning(arm, cell.seed)
                finetune(data[cell], model, cell.model, how, on_step, keep(experiment, arm))
            on_cell("measure", cell)
            measure(experiment, cell, *_asked(experiment, cell))
    found = compared(experiment)
    Directory(Path(experiment.output)).write(RESULT, canonical(found))
    return found


def begin(experiment: Experiment) -> None:
    """Note the settings, but for the seeds: more may follow.

    Raises TrainInputError where others were noted and a cell was begun with them, OSError.
    """
    storage = Directory(Path(experiment.output))
    data = canonical(experiment.model_dump(exclude={"output", "seeds"}))
    if not (storage.path / CELLS).exists():
        storage.write(BEGUN, data)
    elif not storage.create(BEGUN, data):
        noted = json.loads(storage.read(BEGUN))
        if changed := changed_settings(noted, json.loads(data)):
            lines = "\n  ".join(changed[:20])
            raise TrainInputError(f"{experiment.output} was begun with other settings:\n  {lines}")


def _asked_of(experiment: Experiment) -> None:
    """Find what is wrong with the benchmarks, before anything is trained.

    Raises BenchmarkDataError.
    """
    own = experiment.benchmark
    for name, most in own.suites.items():
        items_of(name, BenchmarkData(Path(own.data) if own.data else None), most)


def measure(experiment: Experiment, cell: Cell, asked: Models, adapter: str | None) -> None:
    """Run the benchmarks on a cell's model. Raises as `benchmark`."""
    own = experiment.benchmark
    for suite, most in own.suites.items():
        benchmark(
            asked,
            cell.folder / "benchmark",
            [suite],
            adapter=adapter,
            data=Path(own.data) if own.data else None,
            items=most,
            seed=cell.seed,
            batch=own.batch,
        )
    Directory(cell.folder).write(MEASURED, canonical({}))
    if not experiment.keep_models:
        for path in cell.model.glob("*.safetensors"):
            path.unlink()


def compared(experiment: Experiment) -> dict[str, Any]:
    """Compare the arms from the files of finished cells."""
    every = list(cells(experiment))
    base = {cell.seed: cell for cell in every if cell.arm == experiment.baseline}
    results = {cell: _results(cell) for cell in every}
    table: dict[str, dict[str, Any]] = {}
    for column in columns(experiment):
        suite, _, part = column.partition("/")
        estimates: dict[str, comparison.Estimate] = {}
        differences: dict[str, comparison.Estimate] = {}

        def figure(cell: Cell, suite: str = suite, part: str = part) -> dict[str, Any]:
            own = results[cell][suite]
            return own["parts"].get(part, {**own, "figure": None}) if part else own

        for arm in experiment.arms:
            own = [cell for cell in every if cell.arm == arm]
            estimates[arm] = comparison.over_seeds([figure(cell) for cell in own])
            if arm != experiment.baseline:
                name = f"{suite}.jsonl"
                differences[arm] = comparison.over_seeds(
                    [paired(cell.items / name, base[cell.seed].items / name, part) for cell in own],
                    "difference",
                )
        facts = figure(every[0])
        table[column] = {
            "wanted": facts["better"],
            "n": facts["n"],
            **{key: results[every[0]][suite][key] for key in ("title", "source", "limits")},
            "estimates": estimates,
            "differences": differences,
        }
    titles = {name: arm.title or name for name, arm in experiment.arms.items()}
    may, may_not = comparison.conclusions(titles, table, experiment.baseline)
    return {
        "model": experiment.model,
        "baseline": experiment.baseline,
        "seeds": experiment.seeds,
        "arms": {name: _arm(experiment, name, title) for name, title in titles.items()},
        "settings": experiment.finetune.model_dump(),
        "suites": {suite: _plain(each) for suite, each in table.items()},
        "may_be_concluded": may,
        "may_not_be_concluded": may_not,
    }


def columns(experiment: Experiment) -> list[str]:
    """What is compared: the suites, each followed by its parts that are asked for."""
    parts = experiment.benchmark.parts
    return [
        column
        for suite in experiment.benchmark.suites
        for column in (suite, *(each for each in parts if each.split("/")[0] == suite))
    ]


def _results(cell: Cell) -> dict[str, Any]:
    """The figures of a cell by suite."""
    return json.loads((cell.folder / "benchmark" / "results.json").read_text())["suites"]


def _arm(experiment: Experiment, name: str, title: str) -> dict[str, Any]:
    """What the page says of an arm's data: its size, and the losses of the first seed."""
    if not experiment.arms[name].trained:
        return {"title": title}
    cell = next(each for each in cells(experiment) if each.arm == name)
    made = json.loads((cell.model / "training.json").read_text())
    sizes = {key: made["data"][key] for key in ("documents", "tokens")}
    return {"title": title, **sizes, "losses": made["losses"]}


def _plain(each: Mapping[str, Any]) -> dict[str, Any]:
    """A suite's comparison as JSON."""
    return {
        key: {arm: asdict(found) for arm, found in value.items()}
        if key in ("estimates", "differences")
        else value
        for key, value in each.items()
    }
