"""Classifiers on frozen vectors of sentences, as SentEval has them (Conneau and Kiela 2018).

The strength of the penalty is chosen on a tenth of the training part, of SentEval's six; SentEval
has a second cross-validation for that, which takes ten times as long. Draws have a fixed seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evenflow.transforms.benchmarks.suite import Floats

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

FOLDS = 10
STRENGTHS = tuple(2.0**power for power in range(-2, 4))  # C of scikit-learn
STEPS = 300  # of the solver; the likelihood hardly changes after that
HELD_OUT = 0.1  # of the training part, where C is chosen
Labels = npt.NDArray[np.str_]


def by_folds(vectors: Floats, labels: Labels) -> Labels:
    """Predict each label from the other folds.

    Args:
        vectors: Vectors (n, D).
        labels: Labels (n,), each at least FOLDS times.

    Returns:
        The predicted labels (n,).
    """
    from sklearn.model_selection import StratifiedKFold

    found = labels.copy()
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for rest, held in folds.split(vectors, labels):
        found[held] = predicted(vectors[rest], labels[rest], vectors[held])
    return found


def predicted(vectors: Floats, labels: Labels, tried: Floats) -> Labels:
    """Predict the labels of vectors that were not learnt from.

    Args:
        vectors: Vectors to learn from (n, D).
        labels: Their labels (n,), each at least twice.
        tried: The others (m, D).

    Returns:
        The predicted labels (m,).
    """
    return np.asarray(_fit(vectors, labels).predict(tried))


def similarity(vectors: Floats, scores: Floats, tried: Floats) -> Floats:
    """Predict scores by the distribution over whole scores (Tai et al. 2015, section 4.2).

    A score between two whole ones is learnt as both, with weights that give it as their mean.

    Args:
        vectors: Vectors to learn from (n, D).
        scores: Their scores (n,), 0 to 5.
        tried: The others (m, D).

    Returns:
        The predicted scores (m,).
    """
    below = np.floor(scores)
    part = scores - below
    twice = np.concatenate([below, below + 1]).astype(int).astype(str)
    weights = np.concatenate([1 - part, part])
    kept = weights > 0
    model = _fit(np.concatenate([vectors, vectors])[kept], twice[kept], weights[kept])
    return model.predict_proba(tried) @ model.classes_.astype(float)


def _fit(vectors: Floats, labels: Labels, weights: Floats | None = None) -> LogisticRegression:
    """A logistic regression with the best of STRENGTHS; the first of equals."""
    from sklearn.model_selection import train_test_split

    own = np.ones(len(labels)) if weights is None else weights
    size = max(HELD_OUT, len(set(labels)) / len(labels))
    rest, held = train_test_split(np.arange(len(labels)), test_size=size, random_state=0)
    best = 1.0
    if len(set(labels[rest])) > 1:
        scores = [
            _learnt(vectors[rest], labels[rest], own[rest], strength).score(
                vectors[held], labels[held], own[held]
            )
            for strength in STRENGTHS
        ]
        best = STRENGTHS[int(np.argmax(scores))]
    return _learnt(vectors, labels, own, best)


def _learnt(
    vectors: Floats, labels: Labels, weights: Floats, strength: float
) -> LogisticRegression:
    """A model with a penalty."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LogisticRegression(C=strength, max_iter=STEPS).fit(vectors, labels, weights)
