"""What is left of gender in word vectors after hard-debias, INLP and SentenceDebias.

    python tests/benchmarks/posthoc.py [--vectors PATH]

- hard-debias: without the direction of the pairs (Bolukbasi et al. 2016, neutralise).
- INLP: without the directions by which a linear classifier tells words of either side, ROUNDS times
  (Ravfogel et al. 2020).
- SentenceDebias: without the first principal component of how sentences, as means of their words,
  differ from their exchanged form (Liang et al. 2020).

INLP is fitted on half of the words. Of the other half is printed how well a classifier with an RBF
kernel, and a linear one, tell the sides of the words that leaned most before (0.5 is best; Gonen
and Goldberg 2019), by 5-fold cross-validation; and of professions the correlation of their leanings
with people's scores (0 is best).
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import pearsonr
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC, LinearSVC

from evenflow.transforms import wilson
from evenflow.transforms.lab.masking.interventions import COUNTERFACTUAL, Intervention
from evenflow.transforms.lab.masking.sentences import SentenceFinder
from evenflow.transforms.measures.bias_score import direction, vectors, words
from evenflow.transforms.measures.bias_score.vectors import Vectors, unit_rows
from evenflow.transforms.text.words import split_runs
from evenflow.wordlists import loader

Floats = npt.NDArray[np.float64]

DATA = Path(__file__).parents[1] / "data"
GENDER = loader.load("gender")
WORDS, ROUNDS, FREQUENT = 500, 20, 20_000
SENTENCES = 1_000  # of the speeches


def without(rows: Floats) -> Floats:
    """The projection (D, D) that removes the directions of some rows."""
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    basis = basis[sizes > 1e-9 * sizes[0]]
    return np.eye(rows.shape[1]) - basis.T @ basis


def inlp(rows: Floats, sides: npt.NDArray[np.bool_]) -> Floats:
    """The projection of INLP, from words of two sides."""
    found: list[Floats] = []
    made = np.eye(rows.shape[1])
    for number in range(ROUNDS):
        found.append(LinearSVC(random_state=number).fit(rows @ made, sides).coef_ @ made)
        made = without(np.concatenate(found))
    return made


def differences(space: Vectors) -> Floats:
    """How sentences of the speeches differ from their exchanged form, as means of their words."""
    finder, change = SentenceFinder(GENDER), Intervention(COUNTERFACTUAL, GENDER)
    found: list[Floats] = []
    for line in gzip.decompress((DATA / "speeches.jsonl.gz").read_bytes()).splitlines():
        for each in finder.find(json.loads(line)["text"]):
            first, second = (split_runs(t.lower()) for t in (each.text, change(each).text))
            one, other = (
                space.unit([word for word in own if word in space.words]) for own in (first, second)
            )
            if first != second and len(one) and len(other):
                found.append(one.mean(axis=0) - other.mean(axis=0))
            if len(found) == SENTENCES:
                return np.array(found)
    return np.array(found)


def professions(space: Vectors, axis: Floats, project: Floats) -> str:
    """The correlation with people's scores, of professions that name no group."""
    rows = json.loads((DATA / "professions.json").read_text(encoding="utf-8"))
    known = [row for row in rows if row[0] in space.words and row[0] not in words.named(GENDER)]
    leans = unit_rows(space.unit([row[0] for row in known]) @ project) @ axis
    found = pearsonr(leans, [row[2] for row in known])
    low, high = found.confidence_interval()
    return f"{found[0]:.2f} [{low:.2f}, {high:.2f}], n {len(known)}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--vectors", type=Path)
    space = vectors.load(parser.parse_args().vectors)
    naming = words.named(GENDER) | words.given_names(GENDER)
    own = [word for word in space.words if word.isalpha() and word not in naming]
    own = [str(w) for w in np.random.default_rng(0).permutation(own[:FREQUENT])]
    rows = space.unit(own)
    found = direction.find(space, GENDER)
    leans = rows @ found.axes[GENDER.groups.index("male")]
    half = len(own) // 2
    fitted, held = (
        np.concatenate([order[:WORDS], order[-WORDS:]])
        for order in (np.argsort(leans[:half]), half + np.argsort(leans[half:]))
    )
    sides = np.arange(2 * WORDS) >= WORDS
    principal = np.linalg.svd(differences(space), full_matrices=False)[2][:1]
    methods = {
        "as they are": np.eye(space.size),
        "hard-debias": without(found.basis),
        f"INLP, {ROUNDS} rounds": inlp(rows[fitted], sides),
        "SentenceDebias": without(principal),
    }
    pairs = [pair for pair in direction.PAPER_PAIRS if space.known(pair) == {*pair}]
    women, men = (space.unit([pair[group] for pair in pairs]) for group in (0, 1))
    print("| vectors | professions, Pearson | RBF | linear |\n| --- | --- | --- | --- |")
    for name, project in methods.items():
        # By its own pairs: the direction that was removed says nothing any more
        axis = unit_rows(men @ project).mean(axis=0) - unit_rows(women @ project).mean(axis=0)
        cells = [professions(space, axis, project)]
        for kind in (SVC(), LinearSVC()):
            made = unit_rows(rows[held] @ project)
            share = float(cross_val_score(kind, made, sides, cv=5).mean())
            low, high = wilson.interval(share, len(sides))
            cells.append(f"{share:.2f} [{low:.2f}, {high:.2f}]")
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
