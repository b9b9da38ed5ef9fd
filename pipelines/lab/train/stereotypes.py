"""Fits the head that says whether a sentence states a stereotype.

    python tests/benchmarks/stereotype_training.py rows.jsonl.gz
    python -m evenflow.pipelines.lab.train.stereotypes rows.jsonl.gz OUT

It learns from the mean states of the shipped encoder, which stays as it is. A statement's
rephrasings are read together too: the variance of their probabilities is a part of the loss.
Documents in one of eight are held out, and calibrate with the rows of the split `tune`. It takes
two minutes on a core, most of them for the states.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import typer

from evenflow.transforms.lab.training.head import write
from evenflow.transforms.models import files
from evenflow.transforms.models import stereotype_head as head
from evenflow.transforms.models.encoder import MANIFEST, PieceStates

REPHRASED = "rephrased"  # source of the rephrasings
WRITTEN = frozenset({"written", "pairs", "exam", "not_stereotypes"})
WRITTEN_WEIGHT = 0.5  # invented sentences say less about real ones
HIDDEN, DROPOUT = 64, 0.2
BATCH, EPOCHS, RATE, DECAY = 256, 12, 2e-3, 0.2
EVEN = 0.5  # rephrasings of at least this probability are read together, and the others
TOGETHER, AGREE = 4, 1.0  # statements in a batch, and the weight of their rephrasings' variance
Row = dict[str, Any]
Floats = npt.NDArray[np.float32]


def fit(rows: Path, out: Path, states: Path | None = None, seed: int = 0) -> None:
    """Fit the head, calibrate it and write it.

    `states`: A file of states that are known; None: there is none.
    """
    from sklearn.linear_model import LogisticRegression

    with gzip.open(rows, "rt", encoding="utf-8") as lines:
        read: list[Row] = [json.loads(line) for line in lines]
    found = states_of([row["text"] for row in read], states)
    away = np.array([is_away(row) for row in read])
    labels = np.array([bool(row["label"]) for row in read])
    own = [row for row, held in zip(read, away, strict=True) if not held]
    layers = learn(own, found[~away], labels[~away], seed)
    logits = head.raw(found[away].astype(np.float64), *layers)
    weights = [row["weight"] for row, held in zip(read, away, strict=True) if held]
    platt: Any = LogisticRegression(C=1e6).fit(logits[:, None], labels[away], weights)
    slope, shift = float(platt.coef_[0, 0]), float(platt.intercept_[0])
    tensors = dict(zip(head.LAYERS, layers, strict=True))
    about = {
        "calibration": [slope, shift],
        "encoder": files.digest_of(files.SHIPPED / MANIFEST),
        "trained_on": {"sentences": len(own), "calibrated_on": int(away.sum()), "seed": seed},
    }
    write(out / head.MANIFEST, head.FORMAT, head.VERSION, [head.TENSORS], about, tensors)
    print(f"{len(own)} sentences, calibrated on {away.sum()}: {slope:.3f}, {shift:.3f}")


def is_away(row: Row) -> bool:
    """Whether a row is held out, so that it can calibrate."""
    from evenflow.transforms.lab.training.labelled import is_calibration

    invented = WRITTEN | {REPHRASED}
    return row["split"] == "tune" or (row["source"] not in invented and is_calibration(row["doc"]))


def states_of(texts: Sequence[str], kept: Path | None) -> Floats:
    """The mean states of texts.

    Returns the mean states, (n, D).
    """
    known: dict[str, Floats] = {}
    if kept is not None and kept.exists():
        with np.load(kept, allow_pickle=False) as stored:
            known = dict(zip(stored["texts"].tolist(), stored["states"], strict=True))
    reader = PieceStates()
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    for text in missing:
        known[text] = reader.of(text)[0].mean(0).astype(np.float32)
    if kept is not None and missing:
        np.savez(kept, texts=np.array(list(known)), states=np.array(list(known.values())))
    return np.array([known[text] for text in texts])


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
    typer.run(fit)
