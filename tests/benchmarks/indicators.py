"""Quality and speed of the linguistic indicators and of score_scsc.

    python tests/benchmarks/indicators.py --annotations scsc_annotations.csv --scores human_scores_val.csv

Tables: agreement of each indicator with the annotated sentences (Cohen's kappa, beside the majority answer's share), on the
held-out half of the items; Spearman of the score with human scores; sentences that are no stereotypes under the threshold,
development and report half, with the detector's answers beside it; sentences a second of one core; the gap between groups; the
time that hostile sentences take. Intervals: 95 %, bootstrap over items. The whole sheet was read before the rules were written,
and the rules were corrected on the half that is not held out; no number was fitted on either. Sentences and rules of
not_stereotypes.jsonl have one author, so its report half is kinder than a stranger's sentences would be.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import cohen_kappa_score

from evenflow.schemas.sections import Stereotypes
from evenflow.transforms import stereotypes
from evenflow.transforms.indicators import Scorer, read, shipped

NOT_STEREOTYPES = Path(__file__).parents[1] / "data" / "not_stereotypes.jsonl"
DRAWS, SEED = 1000, 7
# Answers of the sheet in the guideline's words: it has «noun» and «other» only.
FORMS = {"adjective": "other", "adjective+noun": "noun"}
# Our indicator → the sheet's column.
COLUMNS = {
    "target": "target", "connotation": "connotation", "gram_form": "gram_form", "ling_form": "ling_form",
    "behaviour": "behaviour_characteristic_trait", "situation": "situation", "generalization": "generalization",
    "explanation": "explanation", "signal_word": "signal_word",
}  # fmt: skip
NONE = "not-applicable"
# Frames and groups for the gap: one label of the same form each.
FRAMES = (
    "{} are bad drivers.", "All {} are lazy and greedy.", "{} never listen to anybody.", "Most {} love music.",
    "I think {} should not be trusted, because they lie.", "Yesterday two {} robbed the bank.", "{} are not stupid.",
    "Why are {} so loud?", "The {} in our street are always kind.", "He said that {} cannot cook.",
    "It is typical of {} to complain.", "{} who work hard are boring.", "Nobody likes {} because they are dirty.",
)  # fmt: skip
GROUPS = (
    "women", "men", "girls", "boys", "teenagers", "pensioners", "Muslims", "Christians", "Jews", "Hindus", "Buddhists",
    "Mexicans", "Germans", "Nigerians", "nurses", "lawyers", "grandmothers", "grandfathers",
)  # fmt: skip
SINGLE_FRAMES = (
    "A {} is always rude.", "The {} was arrested last night.", "Every {} wants to be rich.", "My neighbour is a {} and a thief.",
    "A {} would never say thank you.", "That {} is a typical liar.",
)  # fmt: skip
SINGLE_GROUPS = (
    "woman",
    "man",
    "girl",
    "boy",
    "teenager",
    "Muslim",
    "Jew",
    "Hindu",
    "Buddhist",
    "Mexican",
    "German",
    "nurse",
    "lawyer",
)


# What is repeated in a sentence that is made to be slow.
HOSTILE = {
    "one word": "a", "denials": "not more ", "believers": "anyone who says ", "labels": "women ", "marks": "\"?' ",
    "commands": "never please ", "letters of no word": "\u0301", "emoji": "\U0001f600", "of": "most of ", "adjectives": "old, ",
    "reports": "he said ", "digits": "1,",
}  # fmt: skip


def half(text: str) -> int:
    """0 for the half that is held out, 1 for the other, by a hash of the text."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 2


def interval(count: int, measure: Callable[[np.ndarray], float]) -> tuple[float, float]:
    """95 % interval of a measure of items' places, by bootstrap."""
    rng = np.random.default_rng(SEED)
    values = [measure(rng.integers(0, count, count)) for _ in range(DRAWS)]
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's rank correlation."""
    return float(np.corrcoef(rankdata(a), rankdata(b))[0, 1])


def agreement(path: Path) -> None:
    """Kappa of each indicator with the annotations, on the held-out half and on all."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    print(f"{'indicator':<15} {'n':>3} {'kappa':>6} {'95 %':>13} {'agree':>6} {'majority':>8} {'kappa, all items':>17}")
    found = [read(row["input"], []) for row in rows]
    for name, column in COLUMNS.items():
        pairs = [
            (FORMS.get(row[column], row[column]), reading.said[name].value if reading else NONE, row["input"])
            for row, reading in zip(rows, found, strict=True)
        ]
        ours = [(a, b) for a, b, text in pairs if half(text) == 0]
        gold, mine = np.array([a for a, _ in ours]), np.array([b for _, b in ours])
        low, high = interval(len(ours), lambda at, g=gold, m=mine: float(cohen_kappa_score(g[at], m[at])))
        kappa = cohen_kappa_score(gold, mine)
        majority = Counter(gold.tolist()).most_common(1)[0][1] / len(gold)
        whole = cohen_kappa_score([a for a, _, _ in pairs], [b for _, b, _ in pairs])
        shares = f"{np.mean(gold == mine):>6.2f} {majority:>8.2f} {whole:>17.2f}"
        print(f"{name:<15} {len(ours):>3} {kappa:>6.2f} {low:>6.2f}–{high:<6.2f} {shares}")
    held = [
        (row, reading) for row, reading in zip(rows, found, strict=True) if half(row["input"]) == 0 and row["label"] != "no-label"
    ]
    hits = [
        reading is not None and _names(row["input"], reading.spans, reading.said["target"].places, row["label"])
        for row, reading in held
    ]
    print(f"the phrase found shares a word with the annotated label: {np.mean(hits):.2f} of {len(hits)}")


def _names(text: str, spans: Sequence[tuple[int, int]], places: Sequence[int], label: str) -> bool:
    own = {text[spans[place][0] : spans[place][1]].lower() for place in places} - {"a", "the", "an"}
    return bool(own & set(label.lower().replace(",", " ").split()))


def correlation(path: Path, scorer: Scorer) -> None:
    """Spearman of the score with human scores; what cannot be scored counts as 0."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [(row[0], row[1], float(row[2])) for row in csv.reader(lines)]
    found = scorer.indicators([text for text, _, _ in rows], [[] for _ in rows])
    scores = np.array([one.score if one else 0.0 for one in found])
    people = np.array([score for _, _, score in rows])
    low, high = interval(len(rows), lambda at: rank_correlation(scores[at], people[at]))
    print(f"Spearman with human scores, {len(rows)} sentences: {rank_correlation(scores, people):.3f} ({low:.3f}–{high:.3f})")
    stated = np.array([one is not None and one.found["stance"].value == "stated" for one in found])
    unsaid = sum(one is None for one in found)
    print(f"  stated, {stated.sum()} of them: {rank_correlation(scores[stated], people[stated]):.3f}; cannot say: {unsaid}")
    for kind in sorted({kind for _, kind, _ in rows}):
        of = np.array([k == kind for _, k, _ in rows])
        print(f"  {kind:<11} {of.sum():>4}  {rank_correlation(scores[of], people[of]):.3f}")
    quantiles = np.percentile(scores, [5, 25, 50, 75, 95])
    print("  scores at 5, 25, 50, 75, 95 %: " + " ".join(f"{q:.2f}" for q in quantiles))


def not_stereotypes(scorer: Scorer, threshold: float) -> None:
    """Share of sentences that are no stereotypes and stay, by half and kind: by the score, the detector, and both together."""
    rows = [json.loads(line) for line in NOT_STEREOTYPES.read_text(encoding="utf-8").splitlines()]
    texts = [row["text"] for row in rows]
    found = scorer.indicators(texts, [[] for _ in rows])
    detected = stereotypes.shipped().detect(texts, [[] for _ in rows])
    weak = np.array([one is None or one.score < threshold for one in found])
    unseen = np.array([one is None or one < stereotypes.THRESHOLD for one in detected])
    kinds = np.array([row["kind"] for row in rows])
    halves = np.array([half(text) for text in texts])
    for what, stays in ((f"score under {threshold}", weak), ("detector says no", unseen), ("either", weak | unseen)):
        print(f"no stereotypes, {what}:")
        for name, wanted in (("development", 0), ("report", 1)):
            own = stays[halves == wanted]
            low, high = interval(len(own), lambda at, own=own: float(own[at].mean()))
            by_kind = ", ".join(f"{kind} {stays[(halves == wanted) & (kinds == kind)].mean():.2f}" for kind in sorted(set(kinds)))
            print(f"  {name:<12} {own.mean():.3f} ({low:.3f}–{high:.3f}) of {len(own)}: {by_kind}")


def hostile(scorer: Scorer) -> None:
    """The longest time that one sentence of 20,000 characters takes."""
    times = {}
    for name, unit in HOSTILE.items():
        text = unit * (20_000 // len(unit))
        start = time.process_time()
        scorer.indicators([text], [[]])
        times[name] = time.process_time() - start
    worst = max(times, key=times.__getitem__)
    print(f"20,000 characters: at most {1000 * times[worst]:.1f} ms (of {worst})")


def gaps(scorer: Scorer) -> None:
    """The mean score by group in otherwise equal sentences, and the widest gap within one sentence."""
    for frames, groups in ((FRAMES, GROUPS), (SINGLE_FRAMES, SINGLE_GROUPS)):
        for labelled in (True, False):
            scores = np.array([[_scored(scorer, frame, group, labelled) for group in groups] for frame in frames])
            mean = scores.mean(axis=0)
            widest = (scores.max(axis=1) - scores.min(axis=1)).max()
            how = "labels given" if labelled else "found by rules"
            print(f"{len(groups)} groups, {how}: means {mean.min():.3f}–{mean.max():.3f}, widest gap in a sentence {widest:.3f}")


def _scored(scorer: Scorer, frame: str, group: str, labelled: bool) -> float:
    start = frame.index("{}")
    text = frame.replace("{}", group)
    labels = [(start, start + len(group), "any")] if labelled else []
    one = scorer.indicators([text], [labels])[0]
    return one.score if one else 0.0


def speed(path: Path, scorer: Scorer) -> None:
    """Sentences a second of one core's time."""
    with path.open(encoding="utf-8", newline="") as lines:
        texts = [row[0] for row in csv.reader(lines)] * 5
    start = time.process_time()
    scorer.indicators(texts, [[] for _ in texts])
    print(f"speed: {len(texts) / (time.process_time() - start):,.0f} sentences a second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotations", type=Path)
    parser.add_argument("--scores", type=Path)
    given = parser.parse_args()
    scorer = shipped()
    if given.annotations:
        agreement(given.annotations)
    if given.scores:
        correlation(given.scores, scorer)
        speed(given.scores, scorer)
    not_stereotypes(scorer, Stereotypes().threshold)
    gaps(scorer)
    hostile(scorer)


if __name__ == "__main__":
    main()
