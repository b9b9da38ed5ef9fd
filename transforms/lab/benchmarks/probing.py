"""Classifiers on frozen vectors of sentences, as SentEval has them (Conneau and Kiela 2018).

A logistic regression whose penalty is one of STRENGTHS, SentEval's six. It is chosen by ten folds
of the training part (SentEval's KFold and InnerKFold classifiers), or on the development part where
a task has one (its Split classifier). Draws have a fixed seed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evenflow.transforms.lab.benchmarks.suite import Floats

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

FOLDS = 10
STRENGTHS = tuple(2.0**power for power in range(-2, 4))  # C of scikit-learn
STEPS = 300  # of the solver; the likelihood hardly changes after that
Labels = npt.NDArray[np.str_]


def by_folds(vectors: Floats, labels: Labels) -> Labels:
    """Predict each label from the other folds; for each fold C is chosen within the others.

    Args:
        vectors: Vectors (n, D).
        labels: Labels (n,), each at least FOLDS times.

    Returns:
        The predicted labels (n,).
    """
    found = labels.copy()
    for rest, held in _folds().split(vectors, labels):
        found[held] = predicted(vectors[rest], labels[rest], vectors[held])
    return found


def predicted(
    vectors: Floats, labels: Labels, tried: Floats, held: tuple[Floats, Labels] | None = None
) -> Labels:
    """Predict the labels of vectors that were not learnt from.

    Args:
        vectors: Vectors to learn from (n, D).
        labels: Their labels (n,), of two or more kinds.
        tried: The others (m, D).
        held: Vectors and labels on which C is chosen; None: by folds of those that are learnt from.

    Returns:
        The predicted labels (m,).
    """
    if held is None:
        model = _learnt(vectors, labels, _by_inner_folds(vectors, labels))
    else:
        model = _best(
            lambda strength: _learnt(vectors, labels, strength), lambda each: each.score(*held)
        )
    return np.asarray(model.predict(tried))


def similarity(
    vectors: Floats, scores: Floats, tried: Floats, held: tuple[Floats, Floats]
) -> Floats:
    """Predict scores by the distribution over whole scores (Tai et al. 2015, section 4.2).

    A score between two whole ones is learnt as both, with weights that give it as their mean.

    Args:
        vectors: Vectors to learn from (n, D).
        scores: Their scores (n,), 0 to 5.
        tried: The others (m, D).
        held: Vectors and scores on which C is chosen, by Pearson's correlation.

    Returns:
        The predicted scores (m,).
    """
    below = np.floor(scores)
    part = scores - below
    twice = np.concatenate([below, below + 1]).astype(int).astype(str)
    weights = np.concatenate([1 - part, part])
    kept = weights > 0
    given = np.concatenate([vectors, vectors])[kept], twice[kept]

    def said(model: LogisticRegression, of: Floats) -> Floats:
        return model.predict_proba(of) @ model.classes_.astype(float)

    def correlation(model: LogisticRegression) -> float:
        found = said(model, held[0])
        return float(np.corrcoef(found, held[1])[0, 1]) if np.ptp(found) and np.ptp(held[1]) else 0

    model = _best(lambda strength: _learnt(*given, strength, weights[kept]), correlation)
    return said(model, tried)


def _best(
    learn: Callable[[float], LogisticRegression], score: Callable[[LogisticRegression], float]
) -> LogisticRegression:
    """The model with the best of STRENGTHS; the first of equals."""
    return max(map(learn, STRENGTHS), key=score)


def _folds() -> StratifiedKFold:
    """How texts are held out in turn."""
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(FOLDS, shuffle=True, random_state=0)


def _by_inner_folds(vectors: Floats, labels: Labels) -> float:
    """The C that predicts held out folds best; the first of equals, 1 if a label is too rare."""
    from sklearn.linear_model import LogisticRegressionCV

    if np.unique(labels, return_counts=True)[1].min() < FOLDS:
        return 1.0
    with _unfinished():
        # Each fit of a fold begins with what the C before it gave
        found = LogisticRegressionCV(
            Cs=STRENGTHS,  # type: ignore[arg-type]
            cv=_folds(),
            scoring="accuracy",
            max_iter=STEPS,
            refit=False,
        ).fit(vectors, labels)
    # By label or not, as the version of scikit-learn has it; the scores are the same for each
    scores = found.scores_
    scores = next(iter(scores.values())) if isinstance(scores, dict) else scores
    return STRENGTHS[int(np.argmax(scores.mean(axis=0)))]


def _learnt(
    vectors: Floats, labels: Labels, strength: float, weights: Floats | None = None
) -> LogisticRegression:
    """A model with a penalty."""
    from sklearn.linear_model import LogisticRegression

    with _unfinished():
        return LogisticRegression(C=strength, max_iter=STEPS).fit(vectors, labels, weights)


@contextmanager
def _unfinished() -> Iterator[None]:
    """Ignore that a fit ended by its steps, and what scikit-learn will change."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        yield
