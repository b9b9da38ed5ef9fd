"""The experiment: word vectors learnt from each arm, over seeds, and how biased they are.

A seed draws half of the documents. Vectors of each arm are learnt from it. Vectors of the other
half, as it came, say how much each neutral word leans to a group there. Two figures are taken:

- `kept`: the part of these leanings that the arm's vectors have too, over all frequent neutral
  words; 1 as the original, 0 none, below 0 reversed.
- `career`: WEAT's d of career and family (Caliskan et al. 2017), signed; 0 is best. Beside it
  stands the floor: d of as many random words.

Before the run a pilot with other seeds draws every random arm twice. The two should differ by
chance alone; so their spread says which effect the run will be able to show.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.gates.ledger.files import canonical
from evenflow.pipelines.lab.effect import power
from evenflow.pipelines.lab.effect.arms import ARMS, DOSES, HIGH, SLIGHT, Documents
from evenflow.pipelines.lab.effect.texts import Texts, read
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.transforms.lab.bias_score.corpus_vectors import Pairs, vectors
from evenflow.transforms.lab.bias_score.seat import effect_size
from evenflow.transforms.storage.directory import Directory

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CELLS, RESULT = "cells.jsonl", "effect.json"
PILOT = range(10_000, 10_005)  # seeds of the pilot
DIGITS = 5
FLOOR = 1_000  # random sets of words
CAREER = (
    *("executive", "management", "professional", "corporation"),
    *("salary", "office", "business", "career"),
)
FAMILY = (
    *("home", "parents", "children", "family"),
    *("cousins", "marriage", "wedding", "relatives"),
)
FIGURES = {
    "kept": "part of the other half's leanings that is kept",
    "career": "WEAT d of career and family",
}


class Cell(NamedTuple):
    """An arm with a seed; random arms are drawn twice in the pilot."""

    seed: int
    arm: str
    draw: int = 0


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
    """Learn and measure the vectors of all cells that are not finished, and compare the arms.

    Args:
        inputs: Paths, folders or globs of the corpus.
        output: Folder of the results; a killed run goes on from its finished cells.
        seeds: Seeds of the run.
        on_cell: Called after each cell with the number of finished ones and of all.
        on_pilot: Called before the run with what it is expected to be able to show.

    Returns:
        What effect.json holds.

    Raises:
        TrainInputError: There is too little text, or the folder has cells of another corpus.
        InputError: The input names no file.
        RunError: The folder has outputs of another input.
        OSError: A file cannot be read or written.
    """
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


def _finished(path: Path, digest: str) -> list[Any]:
    """The finished cells; the first line of the file names the corpus. Raises TrainInputError."""
    if not path.exists():
        path.write_text(json.dumps(digest) + "\n")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):  # a kill left half of it
        lines.pop()
        path.write_text("".join(lines), encoding="utf-8")
    first, *rest = map(json.loads, lines or [json.dumps(digest)])
    if first != digest:
        raise TrainInputError(f"{path}: cells of another corpus; give another --output")
    return rest


class Half:
    """A seed's half of the corpus, whose arms are measured by the other half.

    Args:
        texts: The corpus.
        seed: The seed.
    """

    def __init__(self, texts: Texts, seed: int):
        self.seed, self._texts = seed, texts
        order = np.random.default_rng(seed).permutation(len(texts.weights))
        own, other = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
        self._pairs = cache(lambda name: self._of(name, own))
        self._held = self._leanings(
            vectors(self._of("original", other).counts(np.ones(len(other))))
        )
        neutral = np.zeros(len(texts.places))
        neutral[texts.neutral] = self._held[texts.neutral] - self._held[texts.neutral].mean()
        scores = texts.scores[own]
        self._documents = Documents(
            texts.weights[own],
            (scores > np.quantile(scores, HIGH)).astype(float),
            self._pairs("original").evidence(texts.signs, neutral),
        )

    def _of(self, name: str, documents: Ints) -> Pairs:
        """The pairs of words of some documents after a change."""
        every = self._texts.numbers[name]
        return Pairs([every[at] for at in documents], len(self._texts.places))

    def figures(self, cell: Cell) -> dict[str, float]:
        """Learn and measure the vectors of an arm."""
        random = np.random.default_rng([self.seed, list(ARMS).index(cell.arm), cell.draw])
        taken = ARMS[cell.arm].read(self._documents, random)
        found = self._leanings(
            vectors(*(self._pairs(name).counts(own) for name, own in taken.items()))
        )
        places, neutral = self._texts.places, self._texts.neutral
        kept = float(np.cov(found[neutral], self._held[neutral])[0, 1])
        sets = [found[[places[word] for word in own if word in places]] for own in (CAREER, FAMILY)]
        measured = {"kept": kept, "career": effect_size(*sets)}
        if cell.arm == "original":
            sizes = np.cumsum([len(own) for own in sets])
            drawn = [random.choice(found[neutral], sizes[-1], replace=False) for _ in range(FLOOR)]
            measured["floor"] = np.quantile(
                [effect_size(each[: sizes[0]], each[sizes[0] :]) for each in drawn], 0.975
            )
        return {name: round(float(value), DIGITS + 2) for name, value in measured.items()}

    def _leanings(self, made: Floats) -> Floats:
        """How much more each word goes with the second group, (V,): a difference of cosines."""
        signs = self._texts.signs
        return made @ (made[signs > 0].mean(axis=0) - made[signs < 0].mean(axis=0))


def _series(
    figures: Mapping[Cell, Mapping[str, float]], arm: str, seeds: Sequence[int], draw: int = 0
) -> dict[str, Floats]:
    """An arm's figures over seeds; what is kept is a part of what the original keeps."""
    found = {
        name: np.array([figures[Cell(seed, arm, draw)][name] for seed in seeds]) for name in FIGURES
    }
    base = np.array([figures[Cell(seed, "original")]["kept"] for seed in seeds])
    return {**found, "kept": found["kept"] / base}


def expected(figures: Mapping[Cell, Mapping[str, float]], seeds: int) -> dict[str, Any]:
    """What a pilot says of the run: which effect it will show, and which dose.

    Args:
        figures: The figures of the pilot's cells.
        seeds: The number of the run's seeds.

    Returns:
        By random arm and figure the difference of its two draws, with the smallest effect that is
        shown with power 0.8; by dose of exchange its effect and the power.
    """
    own = PILOT
    smallest: dict[str, Any] = {}
    for arm in dict.fromkeys(cell.arm for cell in cells(seeds) if cell.draw):
        one, other = (_series(figures, arm, own, draw) for draw in (0, 1))
        smallest[arm] = {name: _plain(one[name] - other[name], seeds) for name in FIGURES}
    original = _series(figures, "original", own)
    doses: dict[str, Any] = {}
    for arm, share in DOSES.items():
        found = _series(figures, arm, own)
        doses[arm] = {"share": share} | {
            name: _seen(found[name] - original[name], seeds) for name in FIGURES
        }
    return {"smallest": smallest, "doses": doses}


def _seen(values: Floats, seeds: int) -> dict[str, float]:
    """An effect, and how often such a run shows it."""
    size, error = float(values.mean()), float(values.std(ddof=1))
    return {"effect": round(size, DIGITS), "power": round(power.power(size, error, seeds), 3)}


def compared(figures: Mapping[Cell, Mapping[str, float]], seeds: int) -> dict[str, Any]:
    """Compare each arm with its control.

    Args:
        figures: The figures of all cells.
        seeds: The number of seeds.

    Returns:
        The seeds, what the pilot expected, the random floor of d, and by arm its title, question,
        control, figures and differences from the control.
    """
    own = range(seeds)
    floor = float(np.mean([figures[Cell(seed, "original")]["floor"] for seed in own]))
    return {
        "seeds": seeds,
        "expected": expected(figures, seeds),
        "floor": round(floor, DIGITS),
        "arms": {name: _arm(figures, name, own) for name in ARMS},
    }


def _arm(
    figures: Mapping[Cell, Mapping[str, float]], name: str, seeds: Sequence[int]
) -> dict[str, Any]:
    """The figures of an arm, and their differences from its control."""
    arm = ARMS[name]
    found, control = _series(figures, name, seeds), _series(figures, arm.control, seeds)
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
        found = replace(found, smallest=power.smallest(float(values.std(ddof=1)), seeds))
    return {name: round(each, DIGITS) for name, each in asdict(found).items()}


def _corpus(texts: Texts) -> dict[str, int]:
    """How large the corpus is."""
    return {
        "documents": len(texts.weights),
        "words": sum(texts.counts.values()),
        "labels": int(np.abs(texts.signs).sum()),
        "neutral": len(texts.neutral),
    }
