"""The bias score: its direction, people's scores, analogies, speed and memory.

python tests/benchmarks/bias_score.py [--vectors PATH|encoder] [--memory] [--words 400000]

Prints, for the shipped vectors or those of PATH: how well the direction explains the pairs; the
correlation of professions' leanings with people's scores (words that name a group are left out, as
they have no score; interval by bootstrap over professions); SemBias (share of questions in which
the pair that is most like he - she is the one by definition, by stereotype, or neither); sentences
of the paper's tables 2 and 3; and speed beside a plain loop that looks up a vector for each word.
PATH may be the folder of an encoder. Professions then stand in the carrier sentences that the
direction is found in, SemBias is left out, and speed is in sentences a second.
--memory instead makes a binary file of random vectors of 300 numbers and prints the peak memory of
a process that scores with it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import pearsonr, spearmanr

from evenflow.schemas.config import load
from evenflow.transforms import wilson
from evenflow.transforms.measures.bias_score import direction, importance, signal, vectors, words
from evenflow.transforms.measures.bias_score.direction import Direction, Space
from evenflow.transforms.measures.bias_score.lookup import LookupScorer
from evenflow.transforms.measures.bias_score.score import BiasScorer
from evenflow.transforms.measures.bias_score.vectors import Vectors
from evenflow.transforms.text import sentences
from evenflow.transforms.text.words import split_runs
from evenflow.wordlists import loader

DATA = Path(__file__).parents[1] / "data"
GENDER = loader.load("gender")
FEMALE, MALE = GENDER.groups.index("female"), GENDER.groups.index("male")
DRAWS = 2000  # of the bootstrap
SIZE = 300  # numbers of a random vector
PLAIN_MB = 1  # text of the plain loop, in MB
SENTENCES = 512  # that an encoder scores
# Of tables 2 and 3 (Dolci et al. 2023), with the sign of the score that is printed there
PRINTED = (
    ("She likes the new pink dress", "female"),
    ("Beauty pageant wearing black clothing", "female"),
    ("Middle-aged blonde hula hooping", "female"),
    ("A blonde child is wearing a pink bikini", "female"),
    ("A showgirl is applying makeup", "female"),
    ("The bikini is pink", "female"),
    ("Football players scoring touchdowns", "male"),
    ("Football players playing defense", "male"),
    ("A defensive player almost intercepted the football from the quarterback", "male"),
    ("Baseball players", "male"),
    ("Dodgers player playing baseball", "male"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--words", type=int, default=400_000)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return child(Path(given.vectors))
    if given.memory:
        return memory(given.words)
    settings = {"bias_score.mode": "measure", "bias_score.vectors": given.vectors}
    own = signal.BiasSignal(load(None, settings, ["gender"]))
    space, found, scorer = own.vectors, own.direction, own.scorer
    print(f"{space.name}: vectors of {space.size} numbers")
    directions(space, found)
    professions(space, found)
    if isinstance(space, Vectors):
        analogies(space, found)
    print("\n| sentence of tables 2 and 3 | printed | female | male |\n|---|---|---|---|")
    right = 0
    for text, printed in PRINTED:
        score = dict(zip(GENDER.groups, scorer.score(text, [0]).groups[0], strict=True))
        right += max(score, key=lambda group: score[group]) == printed
        print(f"| {text} | {printed} | {score['female']:.4f} | {score['male']:.4f} |")
    print(f"{right} of {len(PRINTED)} lean to the printed side")
    if isinstance(space, Vectors):
        speed(space, found, scorer)
    else:
        sentences_a_second(scorer)


def directions(space: Space, found: Direction) -> None:
    longer = direction.find(space, GENDER, direction.list_pairs(GENDER))
    print("\n| pairs | used | variance explained |\n|---|---|---|")
    print(f"| the paper's | {found.used} of {found.given} | {found.explained:.2f} |")
    print(f"| the word list's | {longer.used} of {longer.given} | {longer.explained:.2f} |")
    print(f"cosine between the two: {found.agreement(longer):.2f}")


def professions(space: Space, found: Direction) -> None:
    rows = json.loads((DATA / "professions.json").read_text(encoding="utf-8"))
    named = words.named(GENDER)
    for title, kept in (("not in L", [row for row in rows if row[0] not in named]), ("all", rows)):
        have = space.known(row[0] for row in kept)
        known = [row for row in kept if row[0] in have]
        leans = space.unit([row[0] for row in known]) @ found.axes[MALE]
        people = np.array([row[2] for row in known])
        draws = np.random.default_rng(0).integers(0, len(known), (DRAWS, len(known)))
        low, high = np.quantile([pearsonr(leans[i], people[i])[0] for i in draws], (0.025, 0.975))
        print(
            f"\nprofessions, {title}: n {len(known)} of {len(kept)}, Pearson"
            f" {pearsonr(leans, people)[0]:.2f} [{low:.2f}, {high:.2f}], Spearman"
            f" {spearmanr(leans, people)[0]:.2f}"
        )


def analogies(space: Vectors, found: Direction) -> None:
    """SemBias; the interval is Wilson's."""
    lines = (DATA / "sembias.tsv").read_text(encoding="utf-8").splitlines()
    answers: Counter[str] = Counter()
    for line in lines:
        pairs = [tuple(pair.split(":")) for pair in line.split("\t")]
        if not all(word in space.words for pair in pairs for word in pair):
            continue
        rows = space.unit([word for pair in pairs for word in pair])
        apart = rows[::2] - rows[1::2]
        like = apart @ found.axes[MALE] / np.maximum(np.linalg.norm(apart, axis=1), 1e-9)
        answers[KINDS[int(np.argmax(like))]] += 1
    total = answers.total()
    for kind in ("definition", "stereotype", "neither"):
        low, high = wilson.interval(answers[kind] / total, total)
        print(
            f"SemBias, {kind}: {answers[kind] / total:.3f} [{low:.3f}, {high:.3f}] of {total} of"
            f" {len(lines)} questions; GloVe {PUBLISHED[kind]} (Zhao et al. 2018)"
        )


KINDS = ("definition", "neither", "neither", "stereotype")  # by column of sembias.tsv
PUBLISHED = {"definition": 0.802, "stereotype": 0.109, "neither": 0.089}


def speeches() -> list[str]:
    lines = gzip.decompress((DATA / "speeches.jsonl.gz").read_bytes()).splitlines()
    return [json.loads(line)["text"] for line in lines]


def sentences_a_second(scorer: BiasScorer) -> None:
    """Of an encoder, on the first sentences of the speeches."""
    text = " ".join(speeches()[:4])
    starts = sentences.bounds(text).tolist()[: SENTENCES + 1]
    text = text[: starts.pop()]
    size = len(split_runs(text)) / len(starts)
    began = time.process_time()
    scorer.score(text, starts)
    rate = len(starts) / (time.process_time() - began)
    megabytes = rate * len(text.encode()) / len(starts) / 1e6
    print(
        f"\n{len(starts)} sentences of {size:.0f} words, one core: {rate:.1f} sentences/s,"
        f" {megabytes:.4f} MB/s"
    )


def speed(space: Vectors, found: Direction, scorer: BiasScorer) -> None:
    texts = speeches()
    bounds = [sentences.bounds(text).tolist() for text in texts]
    size = sum(len(text.encode()) for text in texts) / 1e6
    count = sum(map(len, bounds))
    print(
        f"\n{size:.1f} MB of speeches, {count:,} sentences, one core\n\n| what | MB/s |\n|---|---|"
    )
    began = time.process_time()
    for text, starts in zip(texts, bounds, strict=True):
        scorer.score(text, starts)
    print(f"| scores, sentence bounds known | {size / (time.process_time() - began):.1f} |")
    began = time.process_time()
    for text in texts:
        scorer.score(text, sentences.bounds(text).tolist())
    print(f"| scores and sentence bounds | {size / (time.process_time() - began):.1f} |")
    rows = dict(zip(space.words, np.concatenate(list(space.blocks())), strict=True))
    axis, named = found.axes[FEMALE], words.named(GENDER)
    weights, other = importance.shipped_weights()
    began, read = time.process_time(), 0
    for text, starts in zip(texts, bounds, strict=True):
        if read > PLAIN_MB * 1e6:
            break
        read += len(text.encode())
        plain(text, starts, rows, axis, named, weights, other)
    print(f"| plain loop, a vector a word | {read / 1e6 / (time.process_time() - began):.1f} |")


def plain(
    text: str,
    starts: Sequence[int],
    rows: dict[str, np.ndarray],
    axis: np.ndarray,
    named: frozenset[str],
    weights: dict[str, int],
    other: int,
) -> list[float]:
    out = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        total = score = 0.0
        for word in split_runs(text[start:end]):
            weight = weights.get(word.lower(), other)
            total += weight
            if word.lower() not in named and word in rows:
                score += abs(float(np.dot(rows[word], axis))) * weight
        out.append(score / total if total else 0.0)
    return out


def memory(count: int) -> None:
    """The peak of a process that scores with a file of random vectors."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.bin"
        random = np.random.default_rng(0)
        pairs = [word for pair in direction.PAPER_PAIRS for word in pair]
        every = [*pairs, *(f"word{number}" for number in range(count - len(pairs)))]
        with path.open("wb") as file:
            file.write(f"{count} {SIZE}\n".encode())
            for word in every:
                file.write(f"{word} ".encode() + random.standard_normal(SIZE, np.float32).tobytes())
        print(
            f"{count:,} words of {SIZE} numbers, {path.stat().st_size / 2**20:.0f} MiB", flush=True
        )
        command = [sys.executable, __file__, "--child", "--vectors", str(path)]
        subprocess.run(command, check=True)


def child(path: Path) -> None:
    import resource

    began = time.perf_counter()
    space = vectors.load(path)
    scorer = LookupScorer(space, direction.find(space, GENDER))
    loaded = time.perf_counter() - began
    for text in speeches()[:20]:
        scorer.score(text, sentences.bounds(text).tolist())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"ready after {loaded:.1f} s; peak memory {peak:.0f} MiB")


if __name__ == "__main__":
    main()
