"""How long an experiment will take and which memory it needs, from a small trial of each part."""

from __future__ import annotations

import math
import resource
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

from evenflow.pipelines.lab.paper.run import cell_of, learner_of
from evenflow.pipelines.lab.paper.settings import Paper
from evenflow.pipelines.lab.paper.texts import OPEN
from evenflow.pipelines.lab.train.memory import GIB, available
from evenflow.pipelines.lab.train.rows import Listed, Row
from evenflow.schemas.config import load
from evenflow.schemas.words import duration

TRIED = 200  # documents that a trial trains on
STEPS = 3  # of a trial; the first one pays for what is set up once
ITEMS = 4  # of each suite


def estimate(paper: Paper) -> dict[str, Any]:
    """Try each part on little, and say what the whole will need.

    Returns seconds, memory in bytes, cells that are left, and the same in words.
    """
    return _vectors(paper) if paper.is_vectors else _models(paper)


def _vectors(paper: Paper) -> dict[str, Any]:
    """Learn one cell, with what gates make of the whole input."""
    learner, _ = learner_of(paper)
    before, own = learner.cells(lambda *cell: cell_of(paper, *cell))
    left = [cell for cell in (*before, *own) if not cell.finished]
    each = 0.0
    if left:
        learner.measured(left[0])  # of this half of the documents nothing is known yet
        began = time.perf_counter()
        learner.measured(left[0])
        each = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return _said(each * len(left), peak, len(left), [f"a cell takes {each:.1f} s"])


def _models(paper: Paper) -> dict[str, Any]:
    """Train a few small steps, and ask a few items of each suite."""
    from evenflow.pipelines.lab.paper.models import suites_of
    from evenflow.pipelines.lab.train.benchmark import SuiteProgress, benchmark
    from evenflow.pipelines.lab.train.finetune import finetune
    from evenflow.pipelines.lab.train.mining_inputs import source
    from evenflow.pipelines.lab.train.trainer import Progress
    from evenflow.transforms.lab.benchmarks import asking

    assert paper.finetune is not None and paper.benchmark is not None
    every = [
        (arm, cell_of(paper, name, seed))
        for name, arm in paper.arms.items()
        for seed in paper.seeds
    ]
    left = [(arm, cell) for arm, cell in every if not cell.finished]
    trained = [arm for arm, _ in left if arm.trained]
    times: list[float] = []
    lines: list[str] = []
    seconds, memory = 0.0, 0

    def stamp(step: Progress | SuiteProgress) -> None:
        times.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        if trained:
            how = paper.finetuning(trained[0], 0)
            small = {"batch": how.micro_batch, "steps": STEPS, "checkpoint_steps": 1 << 30}
            config = load(None, dict(OPEN), paper.attributes)
            given = islice(source(paper.input, config).documents, TRIED)
            rows = [Row(each.id, each.text, spans=((0, len(each.text)),)) for each in given]
            data, out = Listed("the input", rows), Path(folder) / "model"
            made = finetune(data, paper.model, out, how.model_copy(update=small), stamp)
            memory = made["memory"]
            step = (times[-1] - times[0]) / (STEPS - 1) * math.ceil(how.batch / how.micro_batch)
            steps = sum(paper.finetuning(arm, 0).steps or 0 for arm in trained)
            seconds += step * steps
            lines.append(
                f"{steps:,} steps of training, {step:.1f} s each: {duration(step * steps)}"
            )
        asked, own = asking.Models(paper.model), paper.benchmark
        for name, (_, items) in suites_of(own).items():
            times.clear()
            place = Path(folder) / "benchmark"
            given = {"data": own.folder, "items": ITEMS, "batch": 1}
            benchmark(asked, place, [name], on_batch=stamp, **given)
            each = (times[-1] - times[0]) / max(len(times) - 1, 1)
            seconds += each * len(items) * len(left)
            lines.append(
                f"{name}: {len(items):,} items in {len(left)} cells, {each:.2f} s each, one by one:"
                f" {duration(each * len(items) * len(left))}"
            )
    return _said(seconds, memory, len(left), lines)


def _said(seconds: float, memory: int, left: int, lines: list[str]) -> dict[str, Any]:
    """What is needed, also in words."""
    room = available()
    free = "" if room is None else f", of {room / GIB:.1f} GiB that are free"
    said = [
        *lines,
        f"{left} cells are left: about {duration(seconds)}, {seconds / 3600:.2f} hours",
        f"memory: about {memory / GIB:.1f} GiB{free}",
    ]
    return {"seconds": round(seconds, 1), "memory": memory, "cells": left, "said": said}
