"""The first stage: one vector for each word, and heads that are linear in means of vectors.

So a score is a sum of look-ups: when the model is loaded, every word of the vocabulary becomes one
number for each place that a head reads. The vectors come from the encoder, as in Minishlab's
model2vec. The heads learn from labels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import cycle
from math import exp, log
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from evenflow.transforms.models import files
from evenflow.transforms.models.pieces import CHANGE
from evenflow.transforms.text.words import WORD_OR_MARK

FORMAT, VERSION = "evenflow-first-stage", 1
MANIFEST, TENSORS, WORDS = "first_stage.json", "first_stage.npz", "first_stage.txt"
# Places that the exchange head reads: the whole text; and of each change the old words, the new
# ones, the word before, the three before that, the word after and the three after that.
PLACES = 7

NONE = 0.0
# Stretches of texts that are kept read: the targets of a set differ in the new words alone
RECENT = 1 << 8
Word = TypeVar("Word")


class FirstStage:
    """Gives a first probability for exchanges and for stereotypes.

    Args:
        folder: A folder with a manifest and the files that it names.

    Raises:
        ModelError: A file is missing, damaged or of another model.
    """

    def __init__(self, folder: Path):
        path = folder / MANIFEST
        self.about = files.manifest(path, FORMAT, VERSION)
        with files.usable(path):
            words = (folder / WORDS).read_text(encoding="utf-8").split("\n")
            with np.load(folder / TENSORS, allow_pickle=False) as tensors:
                vectors = tensors["vectors"].astype(np.float64) * tensors["scale"]
                heads = {
                    name: tensors[name].astype(np.float64) for name in ("exchange", "stereotype")
                }
            columns = vectors @ heads["exchange"][: PLACES * vectors.shape[1]].reshape(PLACES, -1).T
            self._more = heads["exchange"][PLACES * vectors.shape[1] :].tolist()
            *stereotype, self._stereotype_shift = heads["stereotype"].tolist()
            columns = np.column_stack((columns, vectors @ stereotype))
            self._values = dict(zip(words, map(tuple, columns.tolist()), strict=True))
            self._read = lru_cache(RECENT)(self._look_up)

    @classmethod
    @cache
    def shipped(cls) -> FirstStage:
        """Load the first stage of this package, once for each process.

        Raises:
            ModelError: A file is missing, damaged or of another model.
        """
        return cls(files.SHIPPED)

    def exchanges(self, attribute: str, each: Sequence[Sequence[str]]) -> list[float]:
        """Judge exchanges.

        Args:
            attribute: Not used: all attributes share one head.
            each: The marked windows of each exchange, at least one.

        Returns:
            The probability that each exchange is right, the least over its windows.
        """
        return [min([_logistic(self._window(window)) for window in windows]) for windows in each]

    def stereotypes(self, inputs: Sequence[str]) -> list[float]:
        """Judge sentences whose group words are masked.

        Args:
            inputs: Sentences as `stereotypes.masking` prepares them.

        Returns:
            The probability that each sentence states a stereotype.
        """
        shift = self._stereotype_shift
        return [_logistic(_mean(self._look_up(text), PLACES) + shift) for text in inputs]

    def _look_up(self, text: str) -> list[Any]:
        """The values of each word at the `PLACES` and of stereotypes, None of an unknown one.

        A word counts in its spelling, or else in lower case.
        """
        values = self._values
        return [values.get(word) or values.get(word.lower()) for word in WORD_OR_MARK.findall(text)]

    def _window(self, window: str) -> float:
        """The logit of a window."""
        (every, *around), beside = find_places(window, self._read)
        places = cycle(range(1, PLACES))
        total = sum([_mean(rows, place) for place, rows in zip(places, around, strict=False)])
        changes = max(1, len(around) // (PLACES - 1))
        many, few, shift = self._more
        return total / changes + _mean(every, 0) + many * beside[0] + few * beside[1] + shift


def word_vectors() -> tuple[list[str], npt.NDArray[np.float32], str]:
    """Load the vectors that the first stage was made of.

    Returns:
        V words; their vectors, (V, D); and a digest of both.

    Raises:
        ModelError: A file is missing, damaged or of another model.
    """
    about = files.manifest(files.SHIPPED / MANIFEST, FORMAT, VERSION)
    words = (files.SHIPPED / WORDS).read_text(encoding="utf-8").split("\n")
    with np.load(files.SHIPPED / TENSORS, allow_pickle=False) as tensors:
        rows = tensors["vectors"].astype(np.float32) * tensors["scale"]
    return words, rows, hashlib.sha256(repr(sorted(about["files"].items())).encode()).hexdigest()


def _mean(rows: Sequence[Any], place: int) -> float:
    """The mean value at a place of words that have one; else `NONE`."""
    found = [row[place] for row in rows if row]
    return sum(found) / len(found) if found else NONE


def _logistic(value: float) -> float:
    """The probability of a logit."""
    return 1 / (1 + exp(-value)) if value > -700 else 0.0


def find_places(
    window: str, read: Callable[[str], list[Word]] = WORD_OR_MARK.findall
) -> tuple[list[list[Word]], list[float]]:
    """Find the words at each of the `PLACES` of a marked window.

    `read`: Splits a text into words.

    Returns:
        The words of the whole window and then those of each change, place by place; and the
        logarithms of the number of changes and of words.
    """
    parts = CHANGE.split(window)
    plain = [read(part) for part in parts[::3]]
    every = [word for part in plain for word in part]
    out = [every]
    for number, (old, new) in enumerate(zip(parts[1::3], parts[2::3], strict=True)):
        before, after = plain[number], plain[number + 1]
        out += [read(old), read(new), before[-1:], before[-4:-1], after[:1], after[1:4]]
    return out, [log(max(1, len(parts) // 3)), log(1 + len(every))]
