"""Fits the heads that ship. Each command writes one: its tensors, and a manifest with digests.

    python tests/benchmarks/stereotype_training.py rows.jsonl.gz [--whole]
    python tests/benchmarks/stereotype_creeds.py creeds.jsonl
    python -m evenflow.pipelines.lab.train.heads stereotypes rows.jsonl.gz creeds.jsonl OUT
    python -m evenflow.pipelines.lab.train.heads sieve rows.jsonl.gz OUT
    python -m evenflow.pipelines.lab.train.heads people OUT
    python -m evenflow.pipelines.lab.train.heads reader build/models/minilm OUT

The first two are heads on the mean states of the shipped encoder, which stays as it is. They take
two minutes on a core, most of them for the states.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import gzip
import json
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import typer

from evenflow.pipelines.lab.train import people, reader
from evenflow.transforms.lab.training.head import write
from evenflow.transforms.lab.training.labelled import is_calibration
from evenflow.transforms.measures.stereotypes import probabilities
from evenflow.transforms.models import files
from evenflow.transforms.models import sieve as sieves
from evenflow.transforms.models import stereotype_head as head
from evenflow.transforms.models.encoder import (
    GRAPH,
    MANIFEST,
    TABLE,
    VOCABULARY,
    Encoder,
)

REPHRASED = "rephrased"  # source of the rephrasings
WRITTEN = frozenset({"written", "pairs", "exam", "not_stereotypes"})
WRITTEN_WEIGHT = 0.5  # invented sentences say less about real ones
HIDDEN, DROPOUT = 64, 0.2
BATCH, EPOCHS, RATE, DECAY = 256, 12, 2e-3, 0.2
EVEN = 0.5  # rephrasings of at least this probability are read together, and the others
TOGETHER, AGREE = 4, 1.0  # statements in a batch, and the weight of their rephrasings' variance
# Inverse of the regularisation: best of 0.03, 0.1, 0.3, 1 on the documents that calibrate
SOFT, STEPS = 0.3, 3000
Row = dict[str, Any]
Floats = npt.NDArray[np.float32]

program = typer.Typer(add_completion=False)
program.command("people")(people.train)
program.command("reader")(reader.train)
program.command("cut")(reader.cut)


@program.command("stereotypes")
def stereotypes(rows: Path, creeds: Path, out: Path, seed: int = 0) -> None:
    """Fit the head that says whether a sentence states a stereotype, and whether of a creed alone.

    A statement's rephrasings are read together too: the variance of their probabilities is a part
    of the loss. Documents in one of eight are held out, and calibrate with the rows of the split
    `tune`.
    """
    read = _rows(rows)
    found = _states(read)
    away = np.array([is_away(row) for row in read])
    labels = np.array([bool(row["label"]) for row in read])
    own = [row for row, held in zip(read, away, strict=True) if not held]
    layers = learn(own, found[~away], labels[~away], seed)
    logits = head.raw(found[away].astype(np.float64), *layers)
    weights = [row["weight"] for row, held in zip(read, away, strict=True) if held]
    platt = _logistic(logits[:, None], labels[away], 1e6, weights=weights)
    slope, shift = float(platt.coef_[0, 0]), float(platt.intercept_[0])
    of_creeds = _rows(creeds)
    fitted = _logistic(_states(of_creeds), [row["label"] for row in of_creeds], SOFT, STEPS)
    told = {"sentences": len(own), "calibrated_on": int(away.sum()), "seed": seed}
    told |= {"creeds": len(of_creeds), "of_creeds_alone": sum(row["label"] for row in of_creeds)}
    about = {"calibration": [slope, shift], "encoder": _encoder(), "trained_on": told}
    tensors: dict[str, Any] = dict(zip(head.LAYERS, layers, strict=True))
    fits: tuple[Any, Any] = fitted.coef_[0], fitted.intercept_[0]
    tensors |= {name: np.float32(each) for name, each in zip(head.CREED, fits, strict=True)}
    write(out / head.MANIFEST, head.FORMAT, head.VERSION, [head.TENSORS], about, tensors)
    print(f"{len(own)} sentences, calibrated on {away.sum()}: {slope:.3f}, {shift:.3f}")


@program.command("sieve")
def sieve(rows: Path, out: Path, seed: int = 0) -> None:
    """Fit the sieve, which says what sentences the encoder need not read.

    It learns to say of each row what the shipped encoder with its head says, whatever the row's
    label is. The rows that calibrate are left out.
    """
    import onnx
    from onnx.utils import Extractor

    every = [row for row in _rows(rows) if not is_away(row)]
    told = Encoder.shipped().stereotypes([row["text"] for row in every])
    chances = np.array([probabilities.held_probability(each) for each in told])
    out.mkdir(parents=True, exist_ok=True)
    for name in (TABLE, VOCABULARY):
        if not (out / name).exists():
            shutil.copyfile(files.SHIPPED / name, out / name)
    # The part of the encoder's graph before its first layer; its table lies beside it
    whole = onnx.load(str(files.SHIPPED / GRAPH), load_external_data=False)
    part = Extractor(whole).extract_model(["ids", "types"], [sieves.STATES])
    onnx.save(part, str(out / sieves.GRAPH))
    means = sieves.PieceMeans(out)
    shown = np.array([means.of(row["text"]) for row in every], np.float32)
    layers = dict(zip(head.LAYERS, learn(every, shown, chances, seed), strict=True))
    about = {
        "calibration": [1.0, 0.0],
        "encoder": _encoder(),
        "head": files.digest_of(files.SHIPPED / head.MANIFEST),
        "trained_on": {"sentences": len(every), "seed": seed},
    }
    names = [f"{sieves.NAME}.npz", sieves.GRAPH, TABLE]
    write(out / f"{sieves.NAME}.json", head.FORMAT, head.VERSION, names, about, layers)
    print(f"{len(every)} sentences")


def is_away(row: Row) -> bool:
    """Whether a row is held out, so that it can calibrate."""
    invented = WRITTEN | {REPHRASED}
    return row["split"] == "tune" or (row["source"] not in invented and is_calibration(row["doc"]))


def _rows(path: Path) -> list[Row]:
    """The rows of a file of JSON lines, perhaps compressed."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _states(rows: Sequence[Mapping[str, Any]]) -> Floats:
    """The mean states of the rows' texts, (n, D)."""
    return np.array(Encoder.shipped().run([row["text"] for row in rows])[1], np.float32)


def _encoder() -> str:
    """The digest of the encoder that a head is of."""
    return files.digest_of(files.SHIPPED / MANIFEST)


def _logistic(rows: Any, labels: Any, soft: float, steps: int = 100, weights: Any = None) -> Any:
    """A logistic regression of labels on rows, (n, D)."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=soft, max_iter=steps).fit(rows, labels, weights)


def learn(
    rows: Sequence[Row], states: Floats, chances: npt.NDArray[Any], seed: int
) -> list[npt.NDArray[np.float32]]:
    """Train the network.

    `states`: Their mean states, (n, D). `chances`: Whether each states a stereotype, or how
    probable that is, (n,).
    """
    import torch
    from torch import nn
    from torch.nn import functional

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    middle, scale = states.mean(0), states.std(0) + 1e-6
    shown = torch.tensor((states - middle) / scale)
    wanted = torch.tensor(chances, dtype=torch.float32)
    weights = torch.tensor([WRITTEN_WEIGHT if row["source"] in WRITTEN else 1.0 for row in rows])
    groups: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        if row["source"] == REPHRASED:
            groups[row["doc"], bool(chances[number] >= EVEN)].append(number)
    together = [torch.tensor(each) for each in groups.values()]
    first, last = nn.Linear(states.shape[1], HIDDEN), nn.Linear(HIDDEN, 1)
    network = nn.Sequential(first, nn.GELU(approximate="tanh"), nn.Dropout(DROPOUT), last)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    steps = len(rows) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=EPOCHS * steps + 1)
    for _ in range(EPOCHS):
        order = torch.randperm(len(rows))
        for step in range(steps):
            at = order[step * BATCH : (step + 1) * BATCH]
            losses = functional.binary_cross_entropy_with_logits(
                network(shown[at])[:, 0], wanted[at], reduction="none"
            )
            loss = (losses * weights[at]).mean()
            if together:
                chosen = torch.randint(len(together), (TOGETHER,)).tolist()
                spread = [torch.sigmoid(network(shown[together[i]])).var() for i in chosen]
                loss = loss + AGREE * torch.stack(spread).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    within = first.weight.detach().numpy().T / scale[:, None]
    return [
        within.astype(np.float32),
        (first.bias.detach().numpy() - middle @ within).astype(np.float32),
        last.weight.detach().numpy()[0],
        last.bias.detach().numpy()[0],
    ]


if __name__ == "__main__":
    program()
