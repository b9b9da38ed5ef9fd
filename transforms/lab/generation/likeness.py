"""How like the corpus written sentences are, in length and words (IntersectionRE, Figure 4c)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import jensenshannon
from scipy.stats import ks_2samp

from evenflow.transforms.lab.generation.support import WORD

DIGITS = 4


def likeness(corpus: Sequence[str], written: Sequence[str]) -> dict[str, Any] | None:
    """Compare sentences before and after an addition.

    Returns `before`, `after` and `written`: mean, median and deviation of the lengths in words,
    share of different words among all (ttr), and of words that occur once among the different ones
    (hapax). `augmented`: of the lengths before and after, and `alone`: of those before and those
    written, the Jensen-Shannon divergence in bits (jsd) and the test of Kolmogorov and Smirnov (ks,
    p). None if either has no sentence.
    """
    if not corpus or not written:
        return None
    old, new = ([WORD.findall(each.casefold()) for each in part] for part in (corpus, written))
    return {
        "before": _described(old),
        "after": _described([*old, *new]),
        "written": _described(new),
        "augmented": _distance(_lengths(old), _lengths([*old, *new])),
        "alone": _distance(_lengths(old), _lengths(new)),
    }


def _lengths(sentences: Sequence[Sequence[str]]) -> list[int]:
    return [len(each) for each in sentences]


def _described(sentences: Sequence[Sequence[str]]) -> dict[str, float]:
    lengths = np.array(_lengths(sentences))
    words = Counter(word for each in sentences for word in each)
    found = {
        "mean": lengths.mean(),
        "median": np.median(lengths),
        "deviation": lengths.std(),
        "ttr": len(words) / max(words.total(), 1),
        "hapax": sum(count == 1 for count in words.values()) / max(len(words), 1),
    }
    return {name: round(float(each), DIGITS) for name, each in found.items()}


def _distance(one: Sequence[int], other: Sequence[int]) -> dict[str, float]:
    size = max(*one, *other) + 1
    divergence = jensenshannon(
        *(np.bincount(each, minlength=size) for each in (one, other)), base=2
    )
    test: Any = ks_2samp(one, other)
    found = {"jsd": divergence**2, "ks": test.statistic, "p": test.pvalue}
    return {name: round(float(each), DIGITS) for name, each in found.items()}
