"""The sieve: which sentences the encoder need not read, since it would find no stereotype in them.

It is a head as `stereotype_head.StereotypeHead`, on the mean vector of a sentence's word pieces as
they are before the encoder's layers. It learnt to say what the encoder says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import exp
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evenflow.transforms.models import files
from evenflow.transforms.models.encoder import TABLE, VOCABULARY, WIDTH, read_tokenizer
from evenflow.transforms.models.files import ModelError
from evenflow.transforms.models.stereotype_head import StereotypeHead

NAME = "sieve"

Floats = npt.NDArray[np.floating]


class PieceMeans:
    """The mean vectors of texts' word pieces.

    Args:
        folder: A folder with the encoder's vocabulary and its vectors.

    Raises:
        ModelError: A file is missing or damaged.
    """

    def __init__(self, folder: Path):
        try:
            self._tokenizer = read_tokenizer(folder / VOCABULARY)
            # Mapped: a sentence has some dozens of the rows
            self._table = np.memmap(folder / TABLE, np.uint8, "r").reshape(-1, WIDTH)
        except Exception as error:  # of both libraries, see `encoder.Encoder`
            raise ModelError(
                f"{folder}: the vectors of word pieces cannot be used ({error})"
            ) from (error)

    def of(self, text: str) -> Floats:
        """The mean of a text's pieces, (D,), in the steps of 8 bits."""
        return self._table[self._tokenizer.pieces(text).ids].mean(0)


class Sieve:
    """Gives a first probability that a sentence states a stereotype.

    Args:
        folder: A folder with the sieve, and with the encoder's vocabulary and vectors.

    Raises:
        ModelError: A file is missing, damaged or of another model.
    """

    def __init__(self, folder: Path):
        self._head, self._means = StereotypeHead(folder, NAME), PieceMeans(folder)

    @classmethod
    def shipped(cls) -> Sieve:
        """Load the sieve of this package, once for each process.

        Raises:
            ModelError: A file is missing, damaged or of another model.
        """
        return _shipped()

    def stereotypes(self, inputs: Sequence[str]) -> list[float]:
        """Judge sentences whose group words are masked.

        Args:
            inputs: Sentences as `stereotypes.masking` prepares them.

        Returns:
            The probability that each sentence states a stereotype.
        """
        # One by one, so that a probability does not depend on the others' number by a bit
        logits = [self._head.logit(self._means.of(text)) for text in inputs]
        return [1 / (1 + exp(-each)) for each in logits]


@cache
def _shipped() -> Sieve:
    """The sieve of this package."""
    return Sieve(files.SHIPPED)
