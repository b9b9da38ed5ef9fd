"""Fits the head that says whether a stereotype is of a creed alone, or of people.

    python tests/benchmarks/stereotype_creeds.py rows.jsonl
    python -m evenflow.pipelines.lab.train.creeds rows.jsonl OUT

A logistic regression on the mean states of the shipped encoder, which stays as it is. It takes
seconds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import typer

from evenflow.pipelines.lab.train.stereotypes import states_of
from evenflow.transforms.lab.training.head import write
from evenflow.transforms.models import files
from evenflow.transforms.models import stereotype_head as head
from evenflow.transforms.models.encoder import MANIFEST

# Inverse of the regularisation: best of 0.03, 0.1, 0.3, 1 on the documents that calibrate
SOFT, STEPS = 0.3, 3000


def fit(rows: Path, out: Path) -> None:
    """Fit the head and write it."""
    from sklearn.linear_model import LogisticRegression

    read = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    states = states_of([row["text"] for row in read], None)
    fitted: Any = LogisticRegression(C=SOFT, max_iter=STEPS).fit(
        states, [row["label"] for row in read]
    )
    fits: tuple[Any, Any] = fitted.coef_[0], fitted.intercept_[0]
    tensors = {name: np.float32(each) for name, each in zip(head.CREED_LAYERS, fits, strict=True)}
    about = {
        "encoder": files.digest_of(files.SHIPPED / MANIFEST),
        "trained_on": {
            "sentences": len(read),
            "of_creeds_alone": sum(row["label"] for row in read),
        },
    }
    names = [head.CREED_TENSORS]
    write(out / head.CREED_MANIFEST, head.CREED_FORMAT, head.CREED_VERSION, names, about, tensors)
    print(f"{len(read)} sentences, {about['trained_on']['of_creeds_alone']} of creeds alone")


if __name__ == "__main__":
    typer.run(fit)
