"""What exchange and weights make of a corpus, and what they cost:
python tests/benchmarks/even.py [FILE …] [--most N] [--model FOLDER]

Each corpus goes through the gate four times: as it came, with exchange, with weights, with both.
The table has DR of each attribute, the effective sample, and what moves with it: the share of the
source that moves most (points), the mean length in bytes, and the words (Jensen-Shannon divergence
of their shares from those of the corpus as it came, bits). Corpora: labelled documents of the
repository, all of them and their largest sources; speeches; and extremes, short texts from
templates that each name one group, as BBQ does. A FILE (JSON lines with id, source, text) is
another corpus, and so is each of its sources.

With a model, it is fine-tuned by LoRA on the first corpus, less some documents that are held out
before anything else: as it came, weighted, and with both, on as many tokens, with some seeds. The
table has the mean loss on what is held out, and the difference from the corpus as it came with an
interval of 95 % over documents, paired. The model without training is the first line.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa

import evenflow
from evenflow.pipelines.lab.train.finetune import finetune
from evenflow.pipelines.lab.train.rows import select
from evenflow.schemas.config import Config
from evenflow.schemas.config.finetune import FinetuneSettings
from evenflow.schemas.documents import mentions
from evenflow.transforms.measures.representation.dr import demographic_representation
from evenflow.transforms.models import loading
from evenflow.wordlists import loader

DATA = Path(__file__).parents[1] / "data"
ARMS = {
    "as it came": "measure",
    "exchange": "substitute",
    "weights": "weight",
    "both": "substitute,weight",
}
TRAINED = ("as it came", "weights", "both")
WORD = re.compile(r"\w+")
HELD_OUT = 60  # documents
SCORED = 256  # tokens of a document that is held out
LARGEST = 2  # sources that are a corpus of their own
PEOPLE = {  # BBQ-like extremes: each text names one group, the first far more often
    "gender": (("grandfather", 9), ("grandmother", 2)),
    "age": (("elderly man", 6), ("teenager", 1)),
    "religion": (("Muslim", 7), ("Christian", 2), ("Jew", 1)),
}
PLACES = ("at the bank", "on the bus", "in the office", "near the school", "at the market")
ENDS = (
    "The {} had forgotten the keys.",
    "It was the {} who could not use the phone.",
    "Nobody knew what the {} had done.",
)

Row = Mapping[str, str]
TARGETS = {  # of each attribute: the target's shares, by the column of the mentions
    words.attribute: {
        mentions(words.attribute, group): share
        for group, share in zip(
            words.groups,
            Config().target(words) or [1 / len(words.groups)] * len(words.groups),
            strict=True,
        )
    }
    for words in map(loader.load, PEOPLE)
}


def read(path: Path) -> list[Row]:
    """The documents of a file that have a text; one that comes twice has another id."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row.get("text")]
    return [
        {"id": f"{n}-{row['id']}", "source": row["source"], "text": row["text"]}
        for n, row in enumerate(rows)
    ]


def extremes() -> list[Row]:
    """Short texts, each with one person."""
    made = []
    for source, people in PEOPLE.items():
        for (person, often), place, end in product(people, PLACES, ENDS):
            for n in range(often):
                article = "an" if person[0] in "aeiou" else "a"
                text = f"I saw {article} {person} {place} on day {n}. {end.format(person)}"
                made.append({"id": f"{len(made)}", "source": source, "text": text})
    return made


def corpora(files: Sequence[Path], most: int | None) -> Iterator[tuple[str, list[Row]]]:
    """Corpora with their names; of one with more than `most` documents those of least hash."""
    documents = read(DATA / "documents.jsonl.gz")
    named = {"documents": documents}
    for source, _ in Counter(row["source"] for row in documents).most_common(LARGEST):
        named[source] = [row for row in documents if row["source"] == source]
    named |= {"speeches": read(DATA / "speeches.jsonl.gz"), "extremes": extremes()}
    for path in files:
        named[path.name] = rows = read(path)
        for source in sorted({row["source"] for row in rows}):
            named[f"{path.name}: {source}"] = [row for row in rows if row["source"] == source]
    for name, rows in named.items():
        yield name, sorted(rows, key=_hash)[:most]


def _hash(row: Row) -> str:
    return hashlib.sha256(row["id"].encode()).hexdigest()


def gate(rows: Sequence[Row], mode: str, output: Path) -> pa.Table:
    """The accepted documents, all of them in one pane."""
    config = {"repair.mode": mode, "gate.warn": 0.98, "gate.block": 0.99, "pane.mib": 4096}
    result = evenflow.Gate(config).run(rows, output)
    assert result["accepted"] == len(rows), result["reason"]
    return evenflow.accepted(output).to_table()


def shares(texts: Sequence[str], weights: np.ndarray, words: dict[str, int]) -> np.ndarray:
    """Shares of words, weighted; new words are added to `words`."""
    found = [[words.setdefault(w, len(words)) for w in WORD.findall(t.lower())] for t in texts]
    times = np.repeat(weights, [len(each) for each in found])
    counts = np.bincount(np.concatenate([np.array(each, int) for each in found]), times)
    return counts / counts.sum()


def divergence(p: np.ndarray, q: np.ndarray) -> float:
    """Jensen-Shannon divergence in bits."""
    p, q = (np.pad(each, (0, max(len(p), len(q)) - len(each))) for each in (p, q))
    middle = (p + q) / 2
    parts = [(each[each > 0] * np.log2(each[each > 0] / middle[each > 0])).sum() for each in (p, q)]
    return float(sum(parts) / 2)


def measure(name: str, rows: Sequence[Row], folder: Path) -> None:
    """Print a corpus' part of the table."""
    words: dict[str, int] = {}
    first: dict = {}
    for arm, mode in ARMS.items():
        table = gate(rows, mode, folder / f"{name}-{mode}".replace(":", "").replace(" ", "-"))
        weight = np.array(table["weight"]) if "weight" in table.column_names else np.ones(len(rows))
        texts = table["text"].to_pylist()
        sources = np.array(table["source"].to_pylist())
        mix = {s: weight[sources == s].sum() / weight.sum() for s in set(sources.tolist())}
        size = np.array([len(text.encode()) for text in texts])
        now = {
            "words": shares(texts, weight, words),
            "mix": mix,
            "length": weight @ size / weight.sum(),
        }
        first = first or now
        scores = []
        for target in TARGETS.values():
            counts = [float(weight @ np.array(table[each])) for each in target]
            dr = demographic_representation(counts, list(target.values()))
            scores.append("    -" if dr is None else f"{dr:.3f}")
        moved = max(abs(mix[s] - first["mix"][s]) for s in mix)
        print(
            f"{name[:28]:28} {arm:10} {len(rows):6,} {'  '.join(scores)}"
            f" {weight.sum() ** 2 / len(weight) / (weight**2).sum():10.2f} {100 * moved:7.1f}"
            f" {100 * (now['length'] / first['length'] - 1):+7.1f} %"
            f" {divergence(first['words'], now['words']):8.4f}",
            flush=True,
        )


def losses(model: str, adapter: str | None, texts: Sequence[str]) -> np.ndarray:
    """Mean loss of each text's tokens, nats."""
    import torch

    loaded = loading.load(model, adapter, "causal")
    found = []
    for text in texts:
        tokens = loaded.tokenizer(text, add_special_tokens=False)["input_ids"][:SCORED]
        given = torch.tensor([tokens], device=loaded.model.device)
        with torch.no_grad():
            found.append(float(loaded.model(input_ids=given, labels=given).loss))
    return np.array(found)


def train(
    rows: Sequence[Row], model: str, steps: int, seeds: int, threads: int, folder: Path
) -> None:
    """Print the table of held-out losses."""
    held, rest = rows[:HELD_OUT], rows[HELD_OUT:]
    texts = [row["text"] for row in held if len(row["text"]) > 40]
    untrained = losses(model, None, texts)
    print(f"\n{len(texts)} held out of {len(rows):,}; {steps} steps of 4 x 256 tokens")
    print(
        f"{'untrained':12} loss {untrained.mean():.4f}, perplexity {np.exp(untrained.mean()):.2f}"
    )
    found: dict[str, list[np.ndarray]] = {}
    for arm in TRAINED:
        gate(rest, ARMS[arm], folder / f"train-{arm}")
        for seed in range(seeds):
            to = folder / f"adapter-{arm}-{seed}"
            own = FinetuneSettings(
                steps=steps, batch=4, micro_batch=4, context=256, seed=seed, threads=threads
            )
            finetune(select(folder / f"train-{arm}"), model, to, own)
            found.setdefault(arm, []).append(losses(model, str(to), texts))
        mean = np.mean(found[arm], axis=0)
        differs = mean - np.mean(found["as it came"], axis=0)
        error = 1.96 * differs.std(ddof=1) / len(differs) ** 0.5
        by_seed = [
            float((mine - theirs).mean())
            for mine, theirs in zip(found[arm], found["as it came"], strict=True)
        ]
        print(
            f"{arm:12} loss {mean.mean():.4f}, perplexity {np.exp(mean.mean()):.2f}; difference"
            f" {differs.mean():+.4f} ± {error:.4f}, by seed"
            f" {', '.join(f'{each:+.4f}' for each in by_seed)}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--most", type=int, help="documents of a corpus")
    parser.add_argument("--only", nargs="*", help="names of corpora")
    parser.add_argument("--model", help="a folder of a causal model, or a name")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    print(
        f"{'corpus':28} {'arm':10} {'docs':>6} gender   age  religion effective  source"
        f"   length  words"
    )
    with tempfile.TemporaryDirectory() as name:
        chosen = [
            each
            for each in corpora(given.files, given.most)
            if not given.only or each[0] in given.only
        ]
        for corpus, rows in chosen:
            measure(corpus, rows, Path(name))
        if given.model:
            train(chosen[0][1], given.model, given.steps, given.seeds, given.threads, Path(name))


if __name__ == "__main__":
    main()
