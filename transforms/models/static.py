"""The first stage: one vector for each word, and heads that are linear in means of vectors.

So a score is a sum of look-ups: when the model is loaded, every word of the vocabulary becomes one
number for each place that a head reads. The vectors come from the encoder, as in Minishlab's
model2vec. The heads learn from labels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from itertools import cycle
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms.models import files
from evenflow.transforms.models.files import ModelError
from evenflow.transforms.models.pieces import CHANGE
from evenflow.transforms.text.words import WORD_OR_MARK

FORMAT, VERSION = "evenflow-first-stage", 1
MANIFEST, TENSORS, WORDS = "first_stage.json", "first_stage.npz", "first_stage.txt"
# Places that the exchange head reads: the whole text; and of each change the old words, the new
# ones, the word before, the three before that, the word after and the three after that.
PLACES = 7

NONE = 0.0


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
        try:
            words = (folder / WORDS).read_text(encoding="utf-8").split("\n")
            with np.load(folder / TENSORS, allow_pickle=False) as tensors:
                vectors = tensors["vectors"].astype(np.float64) * tensors["scale"]
                heads = {
                    name: tensors[name].astype(np.float64) for name in ("exchange", "stereotype")
                }
            columns = vectors @ heads["exchange"][: PLACES * vectors.shape[1]].reshape(PLACES, -1).T
            self._places = [dict(zip(words, column.tolist(), strict=True)) for column in columns.T]
            self._more = heads["exchange"][PLACES * vectors.shape[1] :].tolist()
            self._stereotype = dict(
                zip(words, (vectors @ heads["stereotype"][:-1]).tolist(), strict=True)
            )
            self._stereotype_shift = float(heads["stereotype"][-1])
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(
                f"{path}: the model cannot be used ({error}); {files.REBUILD}"
            ) from error

    @classmethod
    def shipped(cls) -> FirstStage:
        """Load the first stage of this package, once for each process.

        Raises:
            ModelError: A file is missing, damaged or of another model.
        """
        return _shipped()

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
        values, shift = self._stereotype, self._stereotype_shift
        return [_logistic(_mean(values, WORD_OR_MARK.findall(text)) + shift) for text in inputs]

    def _window(self, window: str) -> float:
        """The logit of a window."""
        (every, *around), beside = find_places(window)
        whole, *columns = self._places
        total = sum(
            [_mean(values, words) for values, words in zip(cycle(columns), around, strict=False)]
        )
        changes = max(1, len(around) // (PLACES - 1))
        many, few, shift = self._more
        return total / changes + _mean(whole, every) + many * beside[0] + few * beside[1] + shift


@cache
def _shipped() -> FirstStage:
    """The first stage of this package."""
    return FirstStage(files.SHIPPED)


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


def _mean(values: dict[str, float], words: Sequence[str]) -> float:
    """The mean value of words that have one, in their spelling or in lower case; else `NONE`."""
    found: list[Any] = list(map(values.get, words))
    if None in found:
        found = [
            value
            for word, one in zip(words, found, strict=True)
            if (value := values.get(word.lower()) if one is None else one) is not None
        ]
    return sum(found) / len(found) if found else NONE


def _logistic(value: float) -> float:
    """The probability of a logit."""
    return 1 / (1 + exp(-value)) if value > -700 else 0.0


def find_places(window: str) -> tuple[list[list[str]], list[float]]:
    """Find the words at each of the `PLACES` of a marked window.

    Returns:
        The words of the whole window and then those of each change, place by place; and the
        logarithms of the number of changes and of words.
    """
    parts = CHANGE.split(window)
    plain = [WORD_OR_MARK.findall(part) for part in parts[::3]]
    every = [word for part in plain for word in part]
    out = [every]
    for number, (old, new) in enumerate(zip(parts[1::3], parts[2::3], strict=True)):
        before, after = plain[number], plain[number + 1]
        out += [
            WORD_OR_MARK.findall(old),
            WORD_OR_MARK.findall(new),
            before[-1:],
            before[-4:-1],
            after[:1],
            after[1:4],
        ]
    return out, [log(max(1, len(parts) // 3)), log(1 + len(every))]
