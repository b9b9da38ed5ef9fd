"""How surely each neutral word leans to a group: log odds with an informative prior.

The odds that a sentence of a group has the word are compared with the odds in sentences of the
other groups (Monroe, Colaresi and Quinn 2008, equation 16). The prior is PRIOR sentences in which
the word is as frequent as in all. Its variance (equation 20) is raised by a design effect whose
clusters are documents, and by that of the groups' shares of all sentences. Its tails are Student's
on the word's effective documents (Kish) less 1.

Of all words and groups looked at, those count as leaning that Benjamini and Hochberg (1995) choose
at a false discovery rate of 5 %. Intervals are at the level at which 95 % of those of chosen words
hold (Benjamini and Yekutieli 2005): 1 - 0.05 · chosen / looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from evenflow.transforms.measures.associations.counting import SENTENCES
from evenflow.transforms.measures.shift.strata import symmetric

Floats = npt.NDArray[np.float64]

PRIOR = 500.0  # sentences: a word of 50 sentences is hardly shrunk, one of 5 is
DOCUMENTS = 10  # documents of a word that is looked at
FEW = 100  # sentences of a group below which its words are not looked at
DISCOVERY = 0.05  # share of the words that are said to lean and do not
DIGITS = 3


class Leanings(NamedTuple):
    """How W words lean to M groups.

    `documents`: Documents of each word, (W,). `sentences`: Its sentences by group, (W, M). `odds`,
    `low`, `high`: The logarithm of the odds ratio with its interval, (W, M). `leans`: Whether it is
    chosen, (W, M). `totals`: Sentences of each group, M of them. `few`: Groups with too few of
    them, of which nothing is said.
    """

    words: list[str]
    documents: Floats
    sentences: Floats
    odds: Floats
    low: Floats
    high: Floats
    leans: npt.NDArray[np.bool_]
    totals: list[int]
    few: list[int]


def leanings(rows: Mapping[str, npt.NDArray[np.int64]], groups: int) -> Leanings:
    """Compute how words lean.

    `rows`: Their sums, see `counting.AssociationCounter`.
    """
    width = 1 + groups + groups * (groups + 1) // 2
    words = sorted(word for word, row in rows.items() if word and row[0] >= DOCUMENTS)
    none = np.zeros(width, np.int64)
    table = np.array([rows.get(word, none) for word in (SENTENCES, *words)], float)
    products = symmetric(table[:, 1 + groups :], groups)
    every = table[:, 1 : 1 + groups].sum(axis=1, keepdims=True)
    effective = every**2 / np.maximum(products.sum(axis=(1, 2))[:, None], 1)
    whole, own = table[0, 1 : 1 + groups], table[1:, 1 : 1 + groups]
    others, rest = every[1:] - own, every[0] - whole
    prior = PRIOR * (every[1:] + 0.5) / (every[0] + 1)
    a, b = own + prior, others + prior
    without, also_without = whole + PRIOR - a, rest + PRIOR - b
    odds = np.log(a / without) - np.log(b / also_without)
    alone = np.maximum(own / a**2 + others / b**2, 1e-12)
    design = np.maximum(_clustered(products[1:], a, b) / alone, 1)
    # What the sentences of all words say may come from few documents too
    of_all = _clustered(products[:1], np.maximum(whole, 1), np.maximum(rest, 1))
    error = np.sqrt((1 / a + 1 / b) * design + of_all + 1 / without + 1 / also_without)
    freedom = np.maximum(np.minimum(effective[1:], effective[0]) - 1, 1)
    few = [at for at, count in enumerate(whole.tolist()) if count < FEW]
    if groups - len(few) < 2:
        few = list(range(groups))
    tails = 2 * stdtr(freedom, -np.abs(odds) / error)
    tails[:, few] = 1.0
    looked = len(words) * (groups - len(few))
    level = DISCOVERY / max(looked, 1)
    ordered = np.sort(tails, axis=None)
    passed = np.flatnonzero(ordered[:looked] <= level * np.arange(1, looked + 1))
    level *= passed[-1] + 1 if len(passed) else 1
    half = stdtrit(freedom, 1 - level / 2) * error
    leans = (tails <= level) & (tails < 1)
    bounds = (odds - half, odds + half)
    counts = [int(count) for count in whole]
    return Leanings(words, table[1:, 0], own, odds, *bounds, leans, counts, few)


def _clustered(products: Floats, a: Floats, b: Floats) -> Floats:
    """The variance of own / a - others / b over documents, (W, M), from products (W, M, M)."""
    own = np.einsum("wgg->wg", products)
    crossed = products.sum(axis=2) - own
    others = products.sum(axis=(1, 2))[:, None] - own - 2 * crossed
    return own / a**2 - 2 * crossed / (a * b) + others / b**2


def described(found: Leanings, groups: Sequence[str], missed: int) -> dict[str, Any]:
    """What `evenflow measure --associations --json` prints of an attribute.

    Returns sentences by group (those that name no other); few, groups with too few of them;
    looked_at, the number of words; least, what a word and a group need; missed, see
    `counting.Sums`; and by group its words, the surest first: documents, sentences, those of
    others, odds (a ratio) with low and high, and whether it leans.
    """
    out: dict[str, Any] = {
        "sentences": dict(zip(groups, found.totals, strict=True)),
        "few": [groups[at] for at in found.few],
        "looked_at": len(found.words),
        "least": {"documents": DOCUMENTS, "sentences": FEW},
        "missed": missed,
        "words": {},
    }
    for at, group in enumerate(groups):
        toward = np.flatnonzero(found.odds[:, at] > 0) if at not in found.few else []
        every = found.sentences.sum(axis=1)
        out["words"][group] = [
            {
                "word": found.words[n],
                "documents": int(found.documents[n]),
                "sentences": int(found.sentences[n, at]),
                "others": int(every[n] - found.sentences[n, at]),
                **{
                    name: round(float(np.exp(values[n, at])), DIGITS)
                    for name, values in zip(("odds", "low", "high"), found[3:6], strict=True)
                },
                "leans": bool(found.leans[n, at]),
            }
            for n in sorted(toward, key=lambda n: (-found.low[n, at], found.words[n]))
        ]
    return out
