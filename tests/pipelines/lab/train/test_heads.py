"""Fitting the head of stereotypes and the sieve: they learn from their rows, and rephrasings are
read together.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
from parts import needs_training

needs_training("torch", "sklearn", "onnx", "typer")

from evenflow.pipelines.lab.train import heads  # noqa: E402
from evenflow.transforms.models import stereotype_head as head  # noqa: E402
from evenflow.transforms.models.sieve import Sieve  # noqa: E402


def test_a_head_learns_what_tells_its_rows_apart() -> None:
    rng = np.random.default_rng(0)
    states = rng.normal(3, 2, (1024, 16)).astype(np.float32)
    labels = states[:, 0] + states[:, 1] > 6
    sources = ("reddit", "written", heads.REPHRASED)
    rows = [{"source": sources[n % 3], "doc": f"d{n % 5}"} for n in range(1024)]
    layers = heads.learn(rows, states, labels, 0)
    said = head.raw(states.astype(float), *layers) > 0
    assert (said == labels).mean() > 0.75
    again = heads.learn(rows, states, labels, 0)
    assert all(np.array_equal(a, b) for a, b in zip(layers, again, strict=True))


def test_the_sieve_learns_what_the_encoder_says_and_not_the_labels(tmp_path: Path) -> None:
    said = {"All folks are lazy and stupid.": 0, "The folk bought a stamp on Monday.": 1}
    about = {"source": "written", "split": "train", "doc": "d"}
    rows = [{**about, "text": text, "label": wrong} for text, wrong in said.items()]
    with gzip.open(tmp_path / "rows.jsonl.gz", "wt", encoding="utf-8") as file:
        for number in range(heads.BATCH):
            file.write(json.dumps(rows[number % 2]) + "\n")
        file.write(json.dumps({**rows[0], "split": "tune"}) + "\n")
    heads.sieve(tmp_path / "rows.jsonl.gz", tmp_path)
    one, other = Sieve(tmp_path).stereotypes(list(said))
    assert one > other
    about = json.loads((tmp_path / "sieve.json").read_text(encoding="utf-8"))
    assert about["trained_on"]["sentences"] == heads.BATCH
