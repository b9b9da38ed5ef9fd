"""The experiment: word vectors learn each arm, over seeds, and how biased they are.

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
from evenflow.pipelines.lab.effect.texts import Texts, read
from evenflow.pipelines.lab.effect.vectors import FIGURES, Cell, Half
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.transforms.storage.directory import Directory

CELLS, RESULT = "cells.jsonl", "effect.json"
DIGITS = 5
PILOT = range(10_000, 10_005)  # seeds


def cells(seeds: int) -> list[Cell]:
    """The cells of the pilot, then those of the run, seed by seed."""
    controls = {arm.control for arm in ARMS.values()}
    twice = [name for name in (*controls, SLIGHT) if ARMS[name].drawn]
    return [
        *(
            Cell(seed, name, draw)
            for seed in PILOT
            for name in ARMS
            if name in controls or name in DOSES
            for draw in range(1 + (name in twice))
        ),
        *(Cell(seed, name) for seed in range(seeds) for name in ARMS),
    ]


def run(
    inputs: Sequence[str],
    output: Path,
    seeds: int,
    on_cell: Callable[[int, int], None] = lambda done, total: None,
    on_pilot: Callable[[Mapping[str, Any]], None] = lambda expected: None,
) -> dict[str, Any]:
    """Learn and measure all cells that are not finished, and compare the arms."""
    texts = read(inputs, output / "gates")
    path, every = output / CELLS, cells(seeds)
    found = _finished(path, texts.digest)
    figures = {Cell(*key): own for *key, own in found}
    told = False
    half: Half | None = None
    with path.open("a", encoding="utf-8") as file:
        for done, cell in enumerate(every):
            if cell.seed not in PILOT and not told:
                told = True
                on_pilot(expected(figures, seeds))
            if cell in figures:
                continue
            if half is None or half.seed != cell.seed:
                half = Half(texts, cell.seed)
            figures[cell] = half.figures(cell)
            file.write(json.dumps([*cell, figures[cell]]) + "\n")
            file.flush()
            on_cell(done + 1, len(every))
    result = {"corpus": _corpus(texts), **compared(figures, seeds)}
    Directory(output).write(RESULT, canonical(result))
    return result


def _finished(path: Path, of: str) -> list[Any]:
    """The finished cells; the first line of the file says of what. Raises TrainInputError."""
    if not path.exists():
        path.write_text(json.dumps(of) + "\n")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):  # a kill left half of it
        lines.pop()
        path.write_text("".join(lines), encoding="utf-8")
    first, *rest = map(json.loads, lines or [json.dumps(of)])
    if first != of:
        raise TrainInputError(f"{path}: cells of another corpus; give another --output")
    return rest


Cells = Mapping[Cell, Mapping[str, float]]


def _series(figures: Cells, arm: str, seeds: Sequence[int], draw: int = 0) -> dict[str, Floats]:
    """An arm's figures over seeds; what is kept is a part of what the original keeps."""
    found = {
        name: np.array([figures[Cell(seed, arm, draw)][name] for seed in seeds]) for name in FIGURES
    }
    base = np.array([figures[Cell(seed, "original")]["kept"] for seed in seeds])
    return {**found, "kept": found["kept"] / base}


def expected(figures: Cells, seeds: int) -> dict[str, Any]:
    """What a pilot says of the run: which effect it will show, and which dose."""
    smallest: dict[str, Any] = {}
    for arm in dict.fromkeys(cell.arm for cell in cells(seeds) if cell.draw):
        one, other = (_series(figures, arm, PILOT, draw) for draw in (0, 1))
        smallest[arm] = {name: _plain(one[name] - other[name], seeds) for name in FIGURES}
    original = _series(figures, "original", PILOT)
    doses: dict[str, Any] = {}
    for arm, share in DOSES.items():
        found = _series(figures, arm, PILOT)
        doses[arm] = {"share": share} | {
            name: _seen(found[name] - original[name], seeds) for name in FIGURES
        }
    return {"smallest": smallest, "doses": doses}


def _seen(values: Floats, seeds: int) -> dict[str, float]:
    """An effect, and how often such a run shows it."""
    size, error = float(values.mean()), power.error(values)
    return {"effect": round(size, DIGITS), "power": round(power.power(size, error, seeds), 3)}


def compared(figures: Cells, seeds: int) -> dict[str, Any]:
    """Compare each arm with its control."""
    own = range(seeds)
    floors = [figures[Cell(seed, "original")]["floor"] for seed in own]
    return {
        "seeds": seeds,
        "expected": expected(figures, seeds),
        "floor": round(float(np.mean(floors)), DIGITS),
        "arms": {name: _arm(figures, name, own) for name in ARMS},
    }


def _arm(figures: Cells, name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The figures of an arm, and their differences from its control."""
    arm = ARMS[name]
    found, control = (_series(figures, each, seeds) for each in (name, arm.control))
    differences = {
        figure: _plain(found[figure] - control[figure]) for figure in FIGURES if name != "original"
    }
    return {
        "title": arm.title,
        "question": arm.question,
        "control": arm.control,
        "figures": {figure: _plain(found[figure]) for figure in FIGURES},
        "differences": differences,
    }


def _plain(values: Floats, seeds: int | None = None) -> dict[str, float]:
    """An effect as JSON; the smallest one is of a run of k seeds, if they are others."""
    found = power.effect(values)
    if seeds is not None:
        found = replace(found, smallest=power.smallest(power.error(values), seeds))
    return {name: round(each, DIGITS) for name, each in asdict(found).items()}


def _corpus(texts: Texts) -> dict[str, int]:
    """How large the corpus is."""
    return {
        "documents": len(texts.weights),
        "words": sum(texts.counts.values()),
        "labels": int(np.abs(texts.signs).sum()),
        "neutral": len(texts.neutral),
    }
