"""The first stage: one vector a word, and heads that are linear in means of vectors, so that a
score is a sum of look-ups.

At load every word of the vocabulary becomes one number for each place that a head looks at
(Minishlab's model2vec has the vectors from an encoder in the same way; the heads here learn from
what the encoder answers as well as from labels).
"""

from __future__ import annotations

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
# What the exchange head looks at: the whole text; and of each change the old words, the new ones,
# the word before, the three before that, the word behind and the three behind that.
PLACES = 7

NONE = 0.0

Floats = npt.NDArray[np.float64]


class FirstStage:
    """A first probability for exchanges and for stereotypes.

    Args:
        folder: With a manifest and the files that it names.

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
            self._said = dict(
                zip(words, (vectors @ heads["stereotype"][:-1]).tolist(), strict=True)
            )
            self._said_shift = float(heads["stereotype"][-1])
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(
                f"{path}: the model cannot be used ({error}); {files.REBUILD}"
            ) from error

    @classmethod
    def shipped(cls) -> FirstStage:
        """The first stage of this package, loaded once a process. Raises ModelError as above."""
        return _shipped()

    def exchanges(self, attribute: str, each: Sequence[Sequence[str]]) -> list[float]:
        """The probability that each exchange is right, the least over its marked windows. See
        `encoder.Encoder.exchanges`.
        """
        return [min([_logistic(self._window(window)) for window in windows]) for windows in each]

    def stereotypes(self, inputs: Sequence[str]) -> list[float]:
        """The probability that each sentence, prepared by the stereotyping room, states a
        stereotype.
        """
        said, shift = self._said, self._said_shift
        return [_logistic(_mean(said, WORD_OR_MARK.findall(text)) + shift) for text in inputs]

    def _window(self, window: str) -> float:
        """The logit of a window."""
        (every, *around), beside = places(window)
        whole, *columns = self._places
        total = sum(
            [_mean(values, words) for values, words in zip(cycle(columns), around, strict=False)]
        )
        changes = max(1, len(around) // (PLACES - 1))
        many, few, shift = self._more
        return total / changes + _mean(whole, every) + many * beside[0] + few * beside[1] + shift


@cache
def _shipped() -> FirstStage:
    return FirstStage(files.SHIPPED)


def _mean(values: dict[str, float], words: Sequence[str]) -> float:
    """The mean value of words; one without a vector counts as none, one in an unknown spelling as
    in small letters.
    """
    found: list[Any] = list(map(values.get, words))
    if None in found:
        found = [
            value
            for word, one in zip(words, found, strict=True)
            if (value := values.get(word.lower()) if one is None else one) is not None
        ]
    return sum(found) / len(found) if found else NONE


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value)) if value > -700 else 0.0


def places(window: str) -> tuple[list[list[str]], list[float]]:
    """The words at each of the PLACES of a marked window, each change of as much weight, and what
    stands beside them.

    Returns: (word lists by change and place, the logarithms of how many changes and how many words
        there are).
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
