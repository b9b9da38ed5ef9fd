"""How like the corpus written sentences are, in length and words (IntersectionRE, Figure 4c)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import jensenshannon
from scipy.stats import ks_2samp

from evenflow.transforms.lab.generation.support import WORD

DIGITS, BINS = 4, 30  # of figures; of lengths, to the longest


def likeness(corpus: Sequence[str], written: Sequence[str]) -> dict[str, Any] | None:
    """Compare sentences before and after an addition.

    Returns `before`, `after` and `written`: mean, median and deviation of the lengths in words,
    share of different words among all (ttr), and of words that occur once among the different ones
    (hapax). `augmented`: of the lengths before and after, and `alone`: of those before and those
    written, the Jensen-Shannon divergence in bits (jsd) and the test of Kolmogorov and Smirnov (ks,
    p). `lengths`: of each the share of sentences by length, in BINS. None if either has none.
    """
    if not corpus or not written:
        return None
    old, new = ([WORD.findall(each.casefold()) for each in part] for part in (corpus, written))
    texts = {"before": old, "after": [*old, *new], "written": new}
    lengths = {name: np.array(list(map(len, own))) for name, own in texts.items()}
    found: dict[str, dict[str, float]] = {}
    for name, own in texts.items():
        words, size = Counter(word for each in own for word in each), lengths[name]
        once = sum(count == 1 for count in words.values())
        found[name] = {"mean": size.mean(), "median": np.median(size), "deviation": size.std()}
        found[name] |= {
            "ttr": len(words) / max(words.total(), 1),
            "hapax": once / (len(words) or 1),
        }
    for name, other in (("augmented", "after"), ("alone", "written")):
        two: Any = lengths["before"], lengths[other]
        shares = (np.bincount(each, minlength=max(map(max, two)) + 1) for each in two)
        test: Any = ks_2samp(*two)
        found[name] = {"jsd": jensenshannon(*shares, base=2) ** 2}
        found[name] |= {"ks": test.statistic, "p": test.pvalue}
    longest = int(lengths["after"].max())
    drawn = {
        name: (np.histogram(own, BINS, (0, longest + 1))[0] / len(own)).round(DIGITS).tolist()
        for name, own in lengths.items()
    }
    return {
        **{
            name: {key: round(float(each), DIGITS) for key, each in own.items()}
            for name, own in found.items()
        },
        "lengths": {"longest": longest, **drawn},
    }
