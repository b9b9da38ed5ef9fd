"""The cascade's curve: how well stereotypes are detected if a better judge is asked about a share
of the sentences.

    python tests/benchmarks/cascade.py human_scores_val.csv [--gold stereotype_gold.jsonl]
    [--stereoset intrasentence.jsonl]

The better judge is SIMULATED: an oracle that knows the data's label and gives it with the stated
accuracy, otherwise the opposite. No language model is asked. So this shows the gain from selecting
questions, for a judge of that quality; it says nothing about the quality of any model. All other
parts are real: the shipped detector, questions, checks of the answers, selection, budget.

Sets of sentences: people's scores of StereoSet sentences (Liu, 2024), a stereotype where the score
is above 0; sentences of the corpus that were labelled one by one, their strata not weighted;
StereoSet's items (Nadeem et al., 2021), stereotype against unrelated. The shipped detector has
learnt from most of the last and from a part of the labelled sentences, which flatters it there. It
has not learnt from the scores' validation part.

For each share, as many sentences are also asked at random. Means over repetitions (the oracle's
errors, the random choice) of macro F1, and an interval of 95 % by a bootstrap over items
(documents, StereoSet's items, or sentences).
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.transforms.llm.budget import SPENT
from evenflow.transforms.llm.cascade import Labels, Select, Unsure
from evenflow.transforms.llm.questions import Answer, Question
from evenflow.transforms.measures.stereotypes.detect import THRESHOLD, UNSURE, shipped
from evenflow.transforms.measures.stereotypes.llm_detector import TieredDetector

SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
RESAMPLES = 500
SEED = 7

Bools = npt.NDArray[np.bool_]


class Row(NamedTuple):
    """A sentence with its truth, its item, and what the embedded detector says."""

    sentence: str
    truth: bool
    item: str
    embedded: float | None


class Given:
    """The embedded detector's probabilities, computed before."""

    def __init__(self, rows: Sequence[Row]):
        self.known = {row.sentence: row.embedded for row in rows}

    def detect(self, sentences: Sequence[str], labels: Sequence[Labels]) -> list[float | None]:
        return [self.known[sentence] for sentence in sentences]


class Oracle:
    """Answers the six questions with the truth, or with its opposite in a share of 1 - accuracy,
    drawn by a hash.

    left: how many it still answers.
    """

    def __init__(self, truth: Mapping[str, bool], accuracy: float, seed: int, left: int):
        self.left = left
        self.truth = truth
        self.accuracy = accuracy
        self.seed = seed

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        granted = min(self.left, len(questions))
        self.left -= granted
        answers = [
            Answer(self._value(question.sentence), "model") for question in questions[:granted]
        ]
        return [*answers, *(Answer(None, "fallback", SPENT) for _ in questions[granted:])]

    def _value(self, sentence: str) -> dict[str, object]:
        said = self.truth[sentence] == (drawn(self.seed, sentence) < self.accuracy)
        return {
            "mentions_group": True,
            "label": sentence,
            "belief": said,
            "said": sentence,
            "trait": True,
            "stereotype": said,
        }


def drawn(seed: int, text: str) -> float:
    """A number in 0..1 that seed and text decide."""
    digest = hashlib.sha256(json.dumps([seed, text]).encode("ascii")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def rows_of(sentences: Iterable[tuple[str, bool, str]]) -> list[Row]:
    """Sentences with truth and item, and what the shipped detector says; one that stands there
    twice counts once.
    """
    once = {sentence: (truth, item) for sentence, truth, item in sentences}
    chances = shipped().detect(list(once), [()] * len(once))
    return [
        Row(sentence, *known, chance)
        for (sentence, known), chance in zip(once.items(), chances, strict=True)
    ]


def of_scores(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return rows_of(
            [(sentence, float(score) > 0, sentence) for sentence, _, score in csv.reader(file)]
        )


def of_gold(path: Path) -> list[Row]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return rows_of([(line["sentence"], line["label"], line["id"]) for line in lines])


def of_stereoset(path: Path) -> list[Row]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    truths = {"stereotype": True, "unrelated": False}  # anti-stereotypes are neither
    return rows_of(
        [
            (line["sentence"], truths[line["label"]], line["id"])
            for line in lines
            if line["label"] in truths
        ]
    )


def called(
    rows: Sequence[Row], accuracy: float, seed: int, select: Select, requests: int
) -> tuple[Bools, int]:
    """Which sentences (n,) are called stereotypes, and how many were asked. What nobody can say of
    is called none.
    """
    oracle = Oracle({row.sentence: row.truth for row in rows}, accuracy, seed, requests)
    detector = TieredDetector(Given(rows), oracle, select)
    chances = detector.detect([row.sentence for row in rows], [()] * len(rows))
    if sum(detector.tally.rejected.values()):
        raise AssertionError(f"the oracle's answers were rejected: {detector.tally.to_json()}")
    return (
        np.array([chance is not None and chance >= THRESHOLD for chance in chances]),
        requests - oracle.left,
    )


def at_random(rows: Sequence[Row], seed: int) -> Select:
    order = sorted(range(len(rows)), key=lambda index: drawn(seed + 1000, rows[index].sentence))
    return lambda scores: order


def macro_f1(truth: Bools, said: Bools, weight: npt.NDArray[np.float64]) -> float:
    """The mean of both classes' F1, each sentence counting by its weight."""
    scores = []
    for wanted, found in ((truth, said), (~truth, ~said)):
        total = weight[wanted].sum() + weight[found].sum()
        scores.append(2 * weight[wanted & found].sum() / total if total else 0.0)
    return float(np.mean(scores))


def interval(rows: Sequence[Row], every: Sequence[Bools]) -> tuple[float, float, float]:
    """Mean macro F1 over repetitions, and its interval of 95 % when items are drawn anew."""
    truth = np.array([row.truth for row in rows])
    items, place = np.unique([row.item for row in rows], return_inverse=True)
    mean = float(np.mean([macro_f1(truth, said, np.ones(len(rows))) for said in every]))
    rng = np.random.default_rng(SEED)
    means = []
    for _ in range(RESAMPLES):
        weight = np.bincount(rng.integers(len(items), size=len(items)), minlength=len(items))[
            place
        ].astype(float)
        means.append(macro_f1(truth, every[int(rng.integers(len(every)))], weight))
    low, high = np.quantile(means, (0.025, 0.975))
    return mean, float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scores", type=Path)
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--stereoset", type=Path)
    parser.add_argument("--accuracy", type=float, nargs="+", default=[0.8, 0.9, 1.0])
    parser.add_argument("--repeats", type=int, default=10)
    args = parser.parse_args()
    print(
        "The judge asked is simulated: it gives the data's label with the stated accuracy. Macro"
        " F1, 95 % interval by items."
    )
    curves("people's scores", of_scores(args.scores), args.accuracy, args.repeats)
    if args.gold is not None:
        curves("sentences labelled one by one", of_gold(args.gold), args.accuracy, args.repeats)
    if args.stereoset is not None:
        curves(
            "StereoSet, which the detector has learnt from",
            of_stereoset(args.stereoset),
            args.accuracy,
            args.repeats,
        )


def curves(name: str, rows: Sequence[Row], accuracies: Sequence[float], repeats: int) -> None:
    """Print a set's curve for each accuracy of the oracle."""
    inside = sum(
        row.embedded is not None and UNSURE[0] <= row.embedded <= UNSURE[1] for row in rows
    )
    items, found = len({row.item for row in rows}), sum(row.truth for row in rows)
    print(f"\n{name}: {len(rows)} sentences of {items} items, {found} stereotypes;")
    print(
        f"{inside / len(rows):.0%} in the band {UNSURE},"
        f" {sum(row.embedded is None for row in rows)} that it cannot say of"
    )
    everything = Unsure(0, 1, THRESHOLD)
    for accuracy in accuracies:
        print(f"\noracle of accuracy {accuracy:g}\nasked   most unsure first     at random")
        for share in SHARES:
            requests = round(share * len(rows))
            unsure = [
                called(rows, accuracy, seed, everything, requests)[0] for seed in range(repeats)
            ]
            chance = [
                called(rows, accuracy, seed, at_random(rows, seed), requests)[0]
                for seed in range(repeats)
            ]
            told = [
                f"{mean:.3f} [{low:.3f}, {high:.3f}]"
                for mean, low, high in (interval(rows, unsure), interval(rows, chance))
            ]
            print(f"{share:>5.0%}   {told[0]}  {told[1]}")
        band = [
            called(rows, accuracy, seed, Unsure(*UNSURE, THRESHOLD), len(rows))
            for seed in range(repeats)
        ]
        mean, low, high = interval(rows, [said for said, _ in band])
        print(
            f"the shipped band: {band[0][1] / len(rows):.0%} asked, {mean:.3f} [{low:.3f},"
            f" {high:.3f}]"
        )


if __name__ == "__main__":
    main()
