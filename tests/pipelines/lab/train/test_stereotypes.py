"""Fitting the head of stereotypes and the sieve: they learn from their rows, and rephrasings are
read together.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
from parts import needs_training

needs_training("torch", "sklearn")

from evenflow.pipelines.lab.train import sieve as fitting  # noqa: E402
from evenflow.pipelines.lab.train import stereotypes  # noqa: E402
from evenflow.transforms.models import stereotype_head as head  # noqa: E402
from evenflow.transforms.models.sieve import Sieve  # noqa: E402


def test_a_head_learns_what_tells_its_rows_apart() -> None:
    rng = np.random.default_rng(0)
    states = rng.normal(3, 2, (1024, 16)).astype(np.float32)
    labels = states[:, 0] + states[:, 1] > 6
    sources = ("reddit", "written", stereotypes.REPHRASED)
    rows = [{"source": sources[n % 3], "doc": f"d{n % 5}"} for n in range(1024)]
    layers = stereotypes.learn(rows, states, labels, 0)
    said = head.raw(states.astype(float), *layers) > 0
    assert (said == labels).mean() > 0.75
    again = stereotypes.learn(rows, states, labels, 0)
    assert all(np.array_equal(a, b) for a, b in zip(layers, again, strict=True))


def test_states_are_kept_for_the_next_time(tmp_path: Path) -> None:
    kept = tmp_path / "states.npz"
    first = stereotypes.states_of(["folks sing", "a folk", "folks sing"], kept)
    with np.load(kept) as stored:
        assert sorted(stored["texts"].tolist()) == ["a folk", "folks sing"]
    assert np.array_equal(
        first, stereotypes.states_of(["folks sing", "a folk", "folks sing"], kept)
    )
    assert np.array_equal(first[0], first[2])


def test_the_sieve_learns_what_the_encoder_says_and_not_the_labels(tmp_path: Path) -> None:
    said = {"All folks are lazy and stupid.": 0, "The folk bought a stamp on Monday.": 1}
    about = {"source": "written", "split": "train", "doc": "d"}
    rows = [{**about, "text": text, "label": wrong} for text, wrong in said.items()]
    with gzip.open(tmp_path / "rows.jsonl.gz", "wt", encoding="utf-8") as file:
        for number in range(stereotypes.BATCH):
            file.write(json.dumps(rows[number % 2]) + "\n")
        file.write(json.dumps({**rows[0], "split": "tune"}) + "\n")
    fitting.fit(tmp_path / "rows.jsonl.gz", tmp_path)
    one, other = Sieve(tmp_path).stereotypes(list(said))
    assert one > other
    about = json.loads((tmp_path / "sieve.json").read_text(encoding="utf-8"))
    assert about["trained_on"]["sentences"] == stereotypes.BATCH
