"""The experiment: a small model learns each arm, over seeds, and how biased it is.

A design says what learns, and which figures are taken (`vectors`, `language`). One of them is
`kept`: the part of the leanings to a group that the arm's model has too; 1 as the original, 0 none,
below 0 reversed.

Before the run a pilot with other seeds draws every random arm twice. The two should differ by
chance alone; so their spread says which effect the run will be able to show.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenflow.gates.ledger.files import canonical
from evenflow.pipelines.lab.effect import power
from evenflow.pipelines.lab.effect.arms import ARMS, DOSES, SLIGHT, Floats
from evenflow.pipelines.lab.effect.design import Cell, EffectDesign, SeedSample
from evenflow.pipelines.lab.effect.texts import Texts, read
from evenflow.pipelines.lab.effect.vectors import VECTORS
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.transforms.storage.directory import Directory

CELLS, RESULT = "cells.jsonl", "effect.json"
DIGITS = 5


def cells(seeds: int, design: EffectDesign) -> list[Cell]:
    """The cells of the pilot, then those of the run, seed by seed."""
    arms = design.arms
    controls = {ARMS[name].control for name in arms}
    twice = [name for name in (*controls, SLIGHT) if ARMS[name].drawn]
    return [
        *(
            Cell(seed, name, draw)
            for seed in design.pilot
            for name in arms
            if name in controls or name in DOSES
            for draw in range(1 + (name in twice))
        ),
        *(Cell(seed, name) for seed in range(seeds) for name in arms),
    ]


def run(
    inputs: Sequence[str],
    output: Path,
    seeds: int,
    on_cell: Callable[[int, int], None] = lambda done, total: None,
    on_pilot: Callable[[Mapping[str, Any]], None] = lambda expected: None,
    design: EffectDesign = VECTORS,
) -> dict[str, Any]:
    """Learn and measure all cells that are not finished, and compare the arms.

    Args:
        inputs: Paths, folders or globs of the corpus.
        output: Folder of the results; a killed run goes on from its finished cells.
        seeds: Seeds of the run.
        on_cell: Called after each cell with the number of finished ones and of all.
        on_pilot: Called before the run with what it is expected to be able to show.
        design: Who learns, and what is measured.

    Returns:
        What effect.json holds.

    Raises:
        TrainInputError: There is too little text, or the folder has cells of another corpus or
            design.
        InputError: The input names no file.
        RunError: The folder has outputs of another input.
        OSError: A file cannot be read or written.
    """
    texts = read(inputs, output / "gates")
    path, every = output / CELLS, cells(seeds, design)
    found = _finished(path, [texts.digest, design.about] if design.about else texts.digest)
    figures = {Cell(*key): own for *key, own in found}
    told = False
    sample: SeedSample | None = None
    with path.open("a", encoding="utf-8") as file:
        for done, cell in enumerate(every):
            if cell.seed not in design.pilot and not told:
                told = True
                on_pilot(expected(figures, seeds, design))
            if cell in figures:
                continue
            if sample is None or sample.seed != cell.seed:
                sample = design.sample(texts, cell.seed)
            figures[cell] = sample.figures(cell)
            file.write(json.dumps([*cell, figures[cell]]) + "\n")
            file.flush()
            on_cell(done + 1, len(every))
    result = {
        "corpus": _corpus(texts),
        **design.about,
        **compared(figures, seeds, design),
    }
    Directory(output).write(RESULT, canonical(result))
    return result


def _finished(path: Path, of: Any) -> list[Any]:
    """The finished cells; the first line of the file says of what. Raises TrainInputError."""
    if not path.exists():
        path.write_text(json.dumps(of) + "\n")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):  # a kill left half of it
        lines.pop()
        path.write_text("".join(lines), encoding="utf-8")
    first, *rest = map(json.loads, lines or [json.dumps(of)])
    if first != of:
        raise TrainInputError(f"{path}: cells of another corpus or model; give another --output")
    return rest


Cells = Mapping[Cell, Mapping[str, float]]


def _series(
    figures: Cells, design: EffectDesign, arm: str, seeds: Sequence[int], draw: int = 0
) -> dict[str, Floats]:
    """An arm's figures over seeds; what is kept is a part of what the original keeps."""
    found = {
        name: np.array([figures[Cell(seed, arm, draw)][name] for seed in seeds])
        for name in design.figures
    }
    base = np.array([figures[Cell(seed, "original")]["kept"] for seed in seeds])
    return {**found, "kept": found["kept"] / base}


def expected(figures: Cells, seeds: int, design: EffectDesign) -> dict[str, Any]:
    """What a pilot says of the run: which effect it will show, and which dose.

    Args:
        figures: The figures of the pilot's cells.
        seeds: The number of the run's seeds.
        design: Who learns.

    Returns:
        By random arm and figure the difference of its two draws, with the smallest effect that is
        shown with power 0.8; by dose of exchange its effect and the power.
    """
    smallest: dict[str, Any] = {}
    for arm in dict.fromkeys(cell.arm for cell in cells(seeds, design) if cell.draw):
        one, other = (_series(figures, design, arm, design.pilot, draw) for draw in (0, 1))
        smallest[arm] = {
            name: _plain(one[name] - other[name], design, seeds) for name in design.figures
        }
    original = _series(figures, design, "original", design.pilot)
    doses: dict[str, Any] = {}
    for arm, share in DOSES.items():
        if arm not in design.arms:
            continue
        found = _series(figures, design, arm, design.pilot)
        doses[arm] = {"share": share} | {
            name: _seen(found[name] - original[name], design, seeds) for name in design.figures
        }
    return {"smallest": smallest, "doses": doses}


def _seen(values: Floats, design: EffectDesign, seeds: int) -> dict[str, float]:
    """An effect, and how often such a run shows it."""
    size, error = float(values.mean()), power.error(values, design.halves, seeds)
    return {"effect": round(size, DIGITS), "power": round(power.power(size, error, seeds), 3)}


def compared(figures: Cells, seeds: int, design: EffectDesign) -> dict[str, Any]:
    """Compare each arm with its control.

    Args:
        figures: The figures of all cells.
        seeds: The number of seeds.
        design: Who has learnt.

    Returns:
        The seeds, what the pilot expected, the random floor of d where there is one, and by arm its
        title, question, control, figures and differences from the control.
    """
    own = range(seeds)
    originals = [figures[Cell(seed, "original")] for seed in own]
    floors = [each["floor"] for each in originals if "floor" in each]
    return {
        "seeds": seeds,
        "expected": expected(figures, seeds, design),
        **({"floor": round(float(np.mean(floors)), DIGITS)} if floors else {}),
        "arms": {name: _arm(figures, design, name, own) for name in design.arms},
    }


def _arm(figures: Cells, design: EffectDesign, name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The figures of an arm, and their differences from its control."""
    arm = ARMS[name]
    found, control = (_series(figures, design, each, seeds) for each in (name, arm.control))
    differences = {
        figure: _plain(found[figure] - control[figure], design)
        for figure in design.figures
        if name != "original"
    }
    return {
        "title": arm.title,
        "question": arm.question,
        "control": arm.control,
        "figures": {figure: _plain(found[figure], design) for figure in design.figures},
        "differences": differences,
    }


def _plain(values: Floats, design: EffectDesign, seeds: int | None = None) -> dict[str, float]:
    """An effect as JSON; the smallest one is of a run of k seeds, if they are others."""
    found = power.effect(values, design.halves)
    if seeds is not None:
        error = power.error(values, design.halves, seeds)
        found = replace(found, smallest=power.smallest(error, seeds))
    return {name: round(each, DIGITS) for name, each in asdict(found).items()}


def _corpus(texts: Texts) -> dict[str, int]:
    """How large the corpus is."""
    return {
        "documents": len(texts.weights),
        "words": sum(texts.counts.values()),
        "labels": int(np.abs(texts.signs).sum()),
        "neutral": len(texts.neutral),
    }
