"""Finds sentence bounds by a logistic regression over hashed features, vectorised with numpy.

A candidate is every gap that could end a sentence: after punctuation, before a word that is not in
lower case, or inside “end.Next”. Its features come from two tokens on either side, at most 8
characters of each. So a decision depends on nothing further away than `REACH` characters, and never
on text beyond a blank line.

The approach is that of Gillick (2009), “Sentence Boundary Detection and the Problem with the U.S.”,
with more candidates. The weights are trained on UD English EWT (CC BY-SA 4.0) by
`tests/benchmarks/train_sentences.py`. That treebank has only some of the abbreviations that never
end a sentence before a name or a number; `abbreviations` lists this closed class.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenflow.transforms.text import abbreviations, boundaries
from evenflow.transforms.text.boundaries import REACH, Index
from evenflow.transforms.text.shipped import data

MODEL_PATH = Path(__file__).with_name("sentence_model.json")
# Characters a step: so many that numpy's overhead for some 200 calls is small, so few that the
# arrays take 20 MB.
STEP = 1 << 19


class BoundaryModel(NamedTuple):
    """The trained regression.

    `weights`: One weight a bucket, (2**bits,) int8, in 1 / scale nats.
    """

    weights: NDArray[np.int8]
    bits: int
    threshold: int


@cache
def _model() -> BoundaryModel:
    """The model of `sentence_model.json`."""
    stored = json.loads(data(MODEL_PATH))
    weights = np.zeros(1 << stored["bits"], dtype=np.int8)
    weights[np.cumsum(stored["bucket_steps"])] = stored["weights"]
    return BoundaryModel(weights, stored["bits"], stored["threshold"])


def _step(text: str) -> Index:
    """The sentence starts within one step of text, as indices into it."""
    codes = boundaries.fold(text)
    gaps = boundaries.find_gaps(codes)
    sure = boundaries.find_certain(gaps)
    # The windows of a certain gap may reach outside. Their content does not matter, but they must
    # be readable.
    gaps = gaps._replace(last=np.where(sure, gaps.start - 1, gaps.last))
    model = _model()
    total = np.zeros(len(gaps.start), dtype=np.int32)
    for number, keys in enumerate(boundaries.compute_features(codes, gaps)):
        total += model.weights[boundaries.hash_keys(keys, number, model.bits)]
    chosen = np.flatnonzero(~sure & (total >= model.threshold))
    ends = sure.copy()
    last = gaps.last[chosen]
    ends[chosen] = ~abbreviations.continues_sentence(
        codes, boundaries.tokens_before(codes, last), last, gaps.start[chosen]
    )
    return gaps.start[ends] - REACH


def bounds(text: str) -> Index:
    """Find the sentences of a text.

    Sentence i is text[b[i]:b[i + 1]], and the last one ends at len(text), so together they are the
    text. Whitespace between two sentences belongs to the earlier one, and whitespace at the text's
    start to the first.

    A blank line (two line breaks with nothing but whitespace between) always ends a sentence, and
    no decision looks beyond it. So texts joined by blank lines have the bounds that each has alone,
    with each 0 moved to the text's first non-space character.

    Args:
        text: Any text; lone surrogates and NULs are allowed.

    Returns:
        The start offsets in characters, (n,) int64, ascending, the first 0; (0,) for an empty text.
    """
    if not text:
        return np.zeros(0, dtype=np.int64)
    parts = [np.zeros(1, dtype=np.int64)]
    for begin in range(0, len(text), STEP):
        origin = max(0, begin - REACH)
        starts = _step(text[origin : begin + STEP + REACH]) + origin
        parts.append(starts[(starts >= begin) & (starts < begin + STEP)])
    found = np.concatenate(parts)
    first = len(text) - len(text.lstrip()) if text[0].isspace() else 0
    return np.concatenate([parts[0], found[found > first]])


def sentences(text: str) -> list[tuple[int, int]]:
    """Find the sentences of a text without the whitespace around them.

    Returns:
        Start and end of each sentence in characters. Whitespace alone is no sentence.
    """
    return trimmed(text, bounds(text).tolist())


def trimmed(text: str, starts: Sequence[int]) -> list[tuple[int, int]]:
    """Trim the whitespace around the sentences that begin at given offsets.

    Args:
        starts: The offsets, ascending, as `bounds` gives them.

    Returns:
        Start and end of each sentence in characters. Whitespace alone is no sentence.
    """
    out: list[tuple[int, int]] = []
    for start, stop in pairwise([*starts, len(text)]):
        inner = text[start:stop].lstrip()
        if inner:
            begin = stop - len(inner)
            out.append((begin, begin + len(inner.rstrip())))
    return out
