"""Language models that are fine-tuned on each arm, and benchmarks before and after.

A cell's folder has what was trained in model/, and what was measured in benchmark/. Each of its
files says when it is finished, so a cell is never done again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

from evenflow.gates.ledger.files import canonical
from evenflow.pipelines.lab.paper import comparison
from evenflow.pipelines.lab.paper.cells import MEASURED, Cell
from evenflow.pipelines.lab.paper.settings import Paper, Suites
from evenflow.pipelines.lab.paper.texts import Texts
from evenflow.pipelines.lab.train import mining
from evenflow.pipelines.lab.train.benchmark import benchmark, items_of, paired
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.pipelines.lab.train.finetune import finetune
from evenflow.pipelines.lab.train.mining_inputs import scorer_of
from evenflow.pipelines.lab.train.rows import Listed
from evenflow.transforms.lab.benchmarks.data import Data as BenchmarkData
from evenflow.transforms.lab.masking.scoring import Remembering, Scorer
from evenflow.transforms.storage.directory import Directory
from evenflow.wordlists.loader import WordList

LIMITS = (
    "A difference from the pretrained model alone says nothing about debiasing: fine-tuning on"
    " any text changes these figures. Only differences from the data as it came count.",
    "Nothing follows for other models, texts, attributes, languages, or longer training.",
    "A benchmark measures what its items ask and no more; its page names its limits.",
)


class Models:
    """Trains and measures the language model of each cell."""

    def __init__(self, paper: Paper, texts: Texts):
        assert paper.benchmark is not None
        self._paper, self._texts, self._suites = paper, texts, paper.benchmark
        self._scorer: tuple[Scorer, str] | None = None

    def cells(self, at: Callable[..., Cell]) -> tuple[list[Cell], list[Cell]]:
        """The cells of models as they are, then the others, seed by seed."""
        arms = self._paper.arms
        every = [at(name, seed) for seed in self._paper.seeds for name in arms]
        before = [cell for cell in every if not arms[cell.arm].trained]
        return before, [cell for cell in every if arms[cell.arm].trained]

    def check(self, cells: Sequence[Cell]) -> None:
        """Find what is wrong with benchmarks and data, before anything is trained.

        Raises BenchmarkDataError, TrainInputError.
        """
        from evenflow.transforms.lab.benchmarks import asking

        asked = asking.Models(self._paper.model)
        for suite, _ in suites_of(self._suites).values():
            asked.kind(suite)
        for cell in cells:
            if self._paper.arms[cell.arm].trained:
                self._data(cell)

    def _data(self, cell: Cell) -> Listed:
        """What a cell is trained on. Raises TrainInputError."""
        mined = self._paper.arms[cell.arm].mined
        if mined is None:
            return self._texts.read(cell.arm, cell.seed)
        if mined.random:
            mined = mined.model_copy(update={"seed": mined.seed + cell.seed})
        folder = self._texts.place(mined.model_dump())
        config = self._texts.configuration({})
        if not (folder / mining.SETTINGS).exists():
            given, name = self._paper.input, self._paper.model
            lines, _ = mining.mine(given, config, mined, self._scored, name, folder)
            if not lines:
                raise TrainInputError(f"{', '.join(given)}: no sentence that could be mined")
        return self._texts.mined(folder / mining.RECORDS)

    def _scored(self, words: WordList) -> tuple[Scorer, str]:
        """What scores sentences, loaded once. Raises LanguageModelError."""
        if self._scorer is None:
            scorer, digest = scorer_of(self._paper.model, words)
            self._scorer = Remembering(scorer), digest
        return self._scorer

    def go(self, cell: Cell, on_step: Callable[[Any], None] = lambda step: None) -> None:
        """Train and measure a cell. Raises as `finetune` and `benchmark`."""
        from evenflow.transforms.lab.benchmarks import asking

        arm, model, adapter = self._paper.arms[cell.arm], self._paper.model, None
        if arm.trained:
            how, made = self._paper.finetuning(arm, cell.seed), str(cell.model)
            finetune(self._data(cell), model, cell.model, how, on_step)
            model, adapter = (model, made) if how.rank and not how.merge else (made, None)
        asked, own = asking.Models(model, adapter), self._suites
        how = {"data": own.folder, "seed": cell.seed, "batch": own.batch, "on_batch": on_step}
        for suite, most in own.suites.items():
            benchmark(asked, cell.folder / "benchmark", [suite], adapter=adapter, items=most, **how)
        Directory(cell.folder).write(MEASURED, canonical({}))
        if not self._paper.keep_models:
            for path in cell.model.glob("*.safetensors"):
                path.unlink()

    def expected(self, cells: Sequence[Cell]) -> list[str]:
        """Say which differences will show, from the items that the first model answered."""
        said: list[str] = []
        for suite in self._suites.suites:
            own = _results(cells[0])[suite]
            if own["low"] is not None:
                half = (own["high"] - own["low"]) / 2 / comparison.NORMAL
                least = comparison.POWER * math.sqrt(2) * half
                said.append(
                    f"{suite}, {own['n']} items: a difference of {least:.3f} will show, and less"
                    " where models answer alike; the spread of seeds comes on top"
                )
        return said

    def compared(self, cells: Sequence[Cell]) -> tuple[dict[str, dict[str, Any]], tuple[str, ...]]:
        """Compare each arm with its control; and what may not be concluded."""
        results = {cell: _results(cell) for cell in cells}
        of = {(cell.arm, cell.seed): cell for cell in cells}
        table: dict[str, dict[str, Any]] = {}
        for column in columns(self._suites):
            suite, _, part = column.partition("/")
            estimates: dict[str, comparison.Estimate] = {}
            differences: dict[str, comparison.Estimate] = {}

            def figure(cell: Cell, suite: str = suite, part: str = part) -> dict[str, Any]:
                own = results[cell][suite]
                return own["parts"].get(part, {**own, "figure": None}) if part else own

            for arm in self._paper.arms:
                own = [cell for cell in cells if cell.arm == arm]
                estimates[arm] = comparison.over_seeds([figure(cell) for cell in own])
                if (control := self._paper.control(arm)) != arm:
                    name = f"{suite}.jsonl"
                    pairs = [(cell, of[control, cell.seed]) for cell in own]
                    differences[arm] = comparison.over_seeds(
                        [paired(one.items / name, two.items / name, part) for one, two in pairs],
                        "difference",
                    )
            facts = figure(cells[0])
            table[column] = {
                "wanted": facts["better"],
                "n": facts["n"],
                **{key: results[cells[0]][suite][key] for key in ("title", "source", "limits")},
                "estimates": estimates,
                "differences": differences,
            }
        return table, LIMITS


def columns(own: Suites) -> list[str]:
    """What is compared: the suites, each followed by its parts that are asked for."""
    return [
        column
        for suite in own.suites
        for column in (suite, *(each for each in own.parts if each.split("/")[0] == suite))
    ]


def suites_of(own: Suites) -> dict[str, Any]:
    """The benchmarks with their items. Raises BenchmarkDataError, TrainInputError."""
    data = BenchmarkData(own.folder)
    return {name: items_of(name, data, most) for name, most in own.suites.items()}


def _results(cell: Cell) -> dict[str, Any]:
    """The figures of a cell by suite."""
    return json.loads((cell.folder / "benchmark" / "results.json").read_text())["suites"]
