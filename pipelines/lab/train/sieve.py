"""Fits the sieve, which says what sentences the encoder need not read.

    python tests/benchmarks/stereotype_training.py rows.jsonl.gz --whole
    python -m evenflow.pipelines.lab.train.sieve rows.jsonl.gz OUT

It learns to say of each row what the shipped encoder with its head says, whatever the row's label
is. The rows that calibrate are left out. It takes two minutes on a core, most of them for that.
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import typer

from evenflow.pipelines.lab.train.stereotypes import is_away, learn
from evenflow.transforms.lab.training.head import write
from evenflow.transforms.measures.stereotypes import probabilities
from evenflow.transforms.models import files, sieve
from evenflow.transforms.models import stereotype_head as head
from evenflow.transforms.models.encoder import GRAPH, MANIFEST, TABLE, VOCABULARY, Encoder


def fit(rows: Path, out: Path, seed: int = 0) -> None:
    """Fit the sieve and write it."""
    with gzip.open(rows, "rt", encoding="utf-8") as lines:
        every = [row for row in map(json.loads, lines) if not is_away(row)]
    told = Encoder.shipped().stereotypes([row["text"] for row in every])
    chances = np.array([probabilities.held_probability(each) for each in told])
    out.mkdir(parents=True, exist_ok=True)
    for name in (TABLE, VOCABULARY):
        if not (out / name).exists():
            shutil.copyfile(files.SHIPPED / name, out / name)
    cut_graph(out / sieve.GRAPH)
    means = sieve.PieceMeans(out)
    shown = np.array([means.of(row["text"]) for row in every], np.float32)
    layers = dict(zip(head.LAYERS, learn(every, shown, chances, seed), strict=True))
    about = {
        "calibration": [1.0, 0.0],
        "encoder": files.digest_of(files.SHIPPED / MANIFEST),
        "head": files.digest_of(files.SHIPPED / head.MANIFEST),
        "trained_on": {"sentences": len(every), "seed": seed},
    }
    names = [f"{sieve.NAME}.npz", sieve.GRAPH, TABLE]
    write(out / f"{sieve.NAME}.json", head.FORMAT, head.VERSION, names, about, layers)
    print(f"{len(every)} sentences")


def cut_graph(path: Path) -> None:
    """Write the part of the encoder's graph before its first layer; its table lies beside it."""
    import onnx
    from onnx.utils import Extractor

    whole = onnx.load(str(files.SHIPPED / GRAPH), load_external_data=False)
    part = Extractor(whole).extract_model(["ids", "types"], [sieve.STATES])
    onnx.save(part, str(path))


if __name__ == "__main__":
    typer.run(fit)
