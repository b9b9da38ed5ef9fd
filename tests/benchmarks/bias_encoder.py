"""An encoder on pairs of sentences, trained on data without, or with swapped copies of, the pairs
of a high bias score (Dolci et al. 2023, sections 4 and 5).

    python tests/benchmarks/bias_encoder.py DIR [--vectors FILE] [--pairs FILE] [--seeds 3]
        [--epochs 1] [--output FOLDER]

DIR is the folder of --benchmark-data: seat/, and senteval/ with MRPC and STS-B. The encoder
is a BiLSTM with the maximum over words (Conneau et al. 2017) of 2 x 32 numbers on frozen word
vectors. It learns MRPC and the scores of STS-B (train and dev parts); --pairs instead names JSON
lines with premise, hypothesis and label, such as SNLI. Arms: the full data, Sub90 to Sub97 and
Aug90 to Aug97 (by the gate itself, repair method base, names too), and vectors without their part
along the gender direction (hard). Prints SEAT's mean |d| over the gender tests and the mean of
SentEval's MRPC and STS-B (test parts), with differences from the full data; intervals are over
items and seeds. A cell that is done is not run again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
import torch
from torch import nn

from evenflow.gates.ledger.history import History
from evenflow.pipelines.files.driver import Run
from evenflow.pipelines.train.benchmark import benchmark, paired
from evenflow.pipelines.train.comparison import Estimate, over_seeds
from evenflow.schemas.config import load
from evenflow.schemas.ledger import BiasSums
from evenflow.transforms.benchmarks import seat, senteval
from evenflow.transforms.benchmarks.data import Data
from evenflow.transforms.benchmarks.suite import Suite
from evenflow.transforms.bias_score import direction, reference, signal, summary, vectors, words
from evenflow.transforms.bias_score.score import Scores
from evenflow.transforms.text.words import split_runs
from evenflow.wordlists import loader

HALF = 32  # numbers of the encoder in each direction
BATCH = 64
RATE = 2e-3  # of Adam
LONGEST = 60  # words that are read of a sentence
SUITES = ("seat", "senteval:mrpc", "senteval:stsb")
FIELDS = ["premise", "hypothesis"]
SCORE = "bias_score_gender"
GENDER = loader.load("gender")


class Pair(NamedTuple):
    """Two sentences, the task that they are of, and its label (a number for STS-B)."""

    premise: str
    hypothesis: str
    task: str
    label: str


class Table:
    """Frozen word vectors: row 0 is padding, row 1 any other word."""

    def __init__(self, space: vectors.Vectors, texts: Iterable[str]):
        seen = {word for text in texts for word in split_runs(text)}
        known = sorted({each for word in seen for each in (word, word.lower())} & set(space.words))
        self.space, self.words = space, known
        self.rows = {word: at for at, word in enumerate(known, 2)}
        self.plain = np.concatenate([np.zeros((2, space.size)), space.unit(known)])

    def hard(self) -> np.ndarray:
        """The vectors without gender, but for words that name it (Bolukbasi et al. 2016)."""
        axis = direction.find(self.space, GENDER).basis[0]
        named = words.named(GENDER) | words.given_names(GENDER)
        neutral = np.array([False] * 2 + [word.lower() not in named for word in self.words])
        found = self.plain - np.outer(self.plain @ axis * neutral, axis)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)

    def ids(self, text: str) -> list[int]:
        own = split_runs(text)[:LONGEST]
        return [self.rows.get(word, self.rows.get(word.lower(), 1)) for word in own] or [1]


class Encoder(nn.Module):
    """A BiLSTM, and the maximum of its states."""

    def __init__(self, table: Table, rows: np.ndarray):
        super().__init__()
        self.table = table
        self.words = nn.Embedding.from_pretrained(torch.tensor(rows, dtype=torch.float32))
        self.lstm = nn.LSTM(rows.shape[1], HALF, batch_first=True, bidirectional=True)

    def forward(self, texts: Sequence[str]) -> torch.Tensor:
        own = [torch.tensor(self.table.ids(text)) for text in texts]
        sizes = torch.tensor([len(each) for each in own])
        given = nn.utils.rnn.pad_sequence(own, batch_first=True)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.words(given), sizes, batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        padding = torch.arange(states.shape[1])[None] >= sizes[:, None]
        return states.masked_fill(padding[..., None], -torch.inf).max(dim=1).values


class Asked:
    """A trained encoder as benchmarks ask it."""

    name = "bilstm-max"

    def __init__(self, encoder: Encoder):
        self._encoder = encoder.eval()
        self._known: dict[str, np.ndarray] = {}

    def kind(self, suite: Suite) -> str:
        return "encoder"

    def digest(self) -> str:
        whole = hashlib.sha256()
        for each in self._encoder.state_dict().values():
            whole.update(each.numpy().tobytes())
        return whole.hexdigest()

    def ready(self, suite: Suite) -> Asked:
        return self

    def vectors(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        with torch.inference_mode():
            for start in range(0, len(new), 256):
                some = new[start : start + 256]
                self._known.update(zip(some, self._encoder(some).double().numpy(), strict=True))
        return self._known


def trained(pairs: Sequence[Pair], table: Table, rows: np.ndarray, seed: int, epochs: int) -> Asked:
    """Train an encoder: each task has a linear head on (u, v, |u - v|, u · v)."""
    torch.manual_seed(seed)
    encoder = Encoder(table, rows)
    classes = {task: _classes([p for p in pairs if p.task == task]) for task in _tasks(pairs)}
    heads = nn.ModuleDict({task: nn.Linear(8 * HALF, len(own)) for task, own in classes.items()})
    optimizer = torch.optim.Adam([*encoder.lstm.parameters(), *heads.parameters()], RATE)
    draw = random.Random(seed)
    for _ in range(epochs):
        order = list(pairs)
        draw.shuffle(order)
        # Pairs of a task, of like length, make a batch
        order.sort(key=lambda each: (each.task, len(each.premise) // 40))
        batches = [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
        draw.shuffle(batches)
        for batch in batches:
            loss = torch.zeros(())
            for task in _tasks(batch):
                own = [each for each in batch if each.task == task]
                both = encoder([*(p.premise for p in own), *(p.hypothesis for p in own)])
                u, v = both.chunk(2)
                said = heads[task](torch.cat([u, v, (u - v).abs(), u * v], 1))
                wanted = torch.stack([_wanted(each.label, classes[task]) for each in own])
                loss = loss + nn.functional.cross_entropy(said, wanted, reduction="sum")
            optimizer.zero_grad()
            (loss / len(batch)).backward()
            optimizer.step()
    return Asked(encoder)


def _tasks(pairs: Iterable[Pair]) -> list[str]:
    return sorted({each.task for each in pairs})


def _classes(pairs: Sequence[Pair]) -> list[str]:
    """The labels of a task; of scores, the whole ones."""
    if pairs[0].task == "stsb":
        return [str(float(score)) for score in range(6)]
    return sorted({each.label for each in pairs})


def _wanted(label: str, classes: Sequence[str]) -> torch.Tensor:
    """The distribution over classes: one, or the two whole scores beside a score."""
    if label in classes:
        return torch.tensor([float(each == label) for each in classes])
    score = float(label)
    return torch.tensor([max(0.0, 1 - abs(score - float(each))) for each in classes])


def data_of(folder: Path, given: Sequence[Pair], path: Path | None) -> dict[str, list[Pair]]:
    """The pairs of each arm, made by the gate."""
    source = folder / "pairs.jsonl"
    rows = ({"id": f"p{n}", **each._asdict()} for n, each in enumerate(given))
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = {
        "fields.text": "premise",
        "attributes": {"gender": {"warn": 1.0, "block": 1.0}},
        "bias_score.fields": FIELDS,
        "bias_score.vectors": None if path is None else str(path),
        "bias_score.warn": 1.0,
        "bias_score.block": 1.0,
        "repair.method": "base",
    }

    def run(name: str, **more: Any) -> list[dict[str, Any]]:
        out = folder / "gate" / name
        config = load(None, settings | {f"bias_score.{key}": each for key, each in more.items()})
        Run([str(source)], out, config).go()
        shards = [
            out / entry.folder / shard.name for entry in History(out) for shard in entry.shards
        ]
        return [row for shard in shards for row in pq.read_table(shard).to_pylist()]

    full = run("full", mode="measure")
    scores = np.array([row[SCORE] for row in full if row[SCORE] is not None])
    made = Scores(np.column_stack([scores, scores]), scores, np.ones(len(scores), bool))
    sums = BiasSums(**summary.sums(made, np.arange(len(scores)), GENDER.groups, None))
    own = signal.of(load(None, settings | {"bias_score.mode": "measure"}))
    percentiles = folder / "reference.json"
    percentiles.write_text(json.dumps(reference.content("gender", own.made_with, sums)))
    arms = {"full": full}
    for mode, name in (("subtract", "Sub"), ("augment", "Aug")):
        for percent in summary.PERCENTILES:
            more = {"mode": mode, "reference": str(percentiles), "percentile": percent}
            arms[f"{name}{percent}"] = run(f"{mode}{percent}", names=mode == "augment", **more)
    return {
        name: [Pair(*(row[each] for each in Pair._fields)) for row in rows]
        for name, rows in arms.items()
    }


def pairs_of(data: Data, path: Path | None) -> list[Pair]:
    """The pairs to learn from."""
    if path is not None:
        lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
        return [Pair(*(row[each] for each in FIELDS), "pairs", str(row["label"])) for row in lines]
    return [
        Pair(*item.content["texts"], item.kind, item.content["label"])
        for item in senteval.read(data)
        if item.kind in ("mrpc", "stsb") and not item.content["tested"]
    ]


def shown(estimate: Estimate, digits: int = 3) -> str:
    low, high = estimate.low, estimate.high
    if estimate.value is None:
        return "–"
    bounds = "" if low is None or high is None else f" [{low:.{digits}f}, {high:.{digits}f}]"
    return f"{estimate.value:.{digits}f}{bounds}"


def mean(figures: Sequence[Mapping[str, Any]], key: str) -> dict[str, Any]:
    """The mean of several tasks' figures; their intervals are independent."""
    value = float(np.mean([each[key] for each in figures]))
    off = [
        float(np.sqrt(np.sum([(each[key] - each[bound]) ** 2 for each in figures]))) / len(figures)
        for bound in ("low", "high")
    ]
    return {key: value, "low": value - off[0], "high": value + off[1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("build/bias_encoder"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    args.output.mkdir(parents=True, exist_ok=True)
    began, data = time.monotonic(), Data(args.data)
    given = pairs_of(data, args.pairs)
    arms = data_of(args.output, given, args.vectors)
    asked = [text for item in senteval.read(data) for text in item.content["texts"]]
    for item in seat.read(data):
        sets = item.content["attributes"]
        asked += [item.content["sentence"], *(text for own in sets for text in own)]
    learnt = (text for own in arms.values() for each in own for text in each[:2])
    table = Table(vectors.load(args.vectors), [*asked, *learnt])
    arms["hard"] = arms["full"]
    rows = dict.fromkeys(arms, table.plain) | {"hard": table.hard()}
    print(f"{len(given):,} pairs; data of all arms after {time.monotonic() - began:.0f} s")
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in arms}
    for seed in range(args.seeds):
        for name, pairs in arms.items():
            out = args.output / "cells" / name / str(seed)
            if not (out / "done").exists():
                model = trained(pairs, table, rows[name], seed, args.epochs)
                benchmark(model, out, SUITES, data=args.data, seed=seed, batch=512)
                (out / "done").touch()
                print(f"{name}, seed {seed}: {time.monotonic() - began:.0f} s", flush=True)
            found[name].append(json.loads((out / "results.json").read_text())["suites"])
    report(args.output, arms, found, args.seeds)


def report(
    output: Path,
    arms: Mapping[str, Sequence[Pair]],
    found: Mapping[str, Sequence[Mapping[str, Any]]],
    seeds: int,
) -> None:
    """Print the table."""
    print("\n| arm | pairs | SEAT | less full | SentEval | less full | C1 | C2 |")
    print("| --- " * 8 + "|")
    for name, own in found.items():
        cells = [name, f"{len(arms[name]):,}", shown(over_seeds([each["seat"] for each in own]))]
        tasks = [mean([each[suite] for suite in SUITES[1:]], "figure") for each in own]
        apart = [
            {
                suite: paired(*(_items(output, arm, seed, suite) for arm in (name, "full")))
                for suite in SUITES
            }
            for seed in range(seeds)
        ]
        less = [over_seeds([each["seat"] for each in apart], "difference")]
        means = [mean([each[suite] for suite in SUITES[1:]], "difference") for each in apart]
        less.append(over_seeds(means, "difference"))
        own_less = ["", ""] if name == "full" else [shown(each) for each in less]
        cells += [own_less[0], shown(over_seeds(tasks)), own_less[1]]
        cells += [shown(over_seeds([each["seat"]["parts"][t] for each in own])) for t in "12"]
        print("| " + " | ".join(cells) + " |")
    print("\n| arm | " + " | ".join((*SUITES[1:], *seat.GENDER)) + " |")
    for name, own in found.items():
        parts = [[one[suite] for one in own] for suite in SUITES[1:]]
        parts += [[one["seat"]["parts"][test] for one in own] for test in seat.GENDER]
        print(f"| {name} | " + " | ".join(shown(over_seeds(part)) for part in parts) + " |")


def _items(output: Path, arm: str, seed: int, suite: str) -> Path:
    return output / "cells" / arm / str(seed) / "items" / f"{suite}.jsonl"


if __name__ == "__main__":
    main()
