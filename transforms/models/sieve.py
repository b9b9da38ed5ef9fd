"""The sieve: which sentences the encoder need not read, since it would find no stereotype in them.

It is a head as `stereotype_head.StereotypeHead`, on the mean state of a sentence's word pieces
before the encoder's first layer: what they are, where they stand, and whether they have a capital.
It learnt to say what the encoder says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import exp
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evenflow.transforms.models import files
from evenflow.transforms.models.encoder import VOCABULARY, open_session, read_tokenizer
from evenflow.transforms.models.stereotype_head import StereotypeHead

NAME = "sieve"
GRAPH, STATES = "sieve.onnx", "layer_norm"

Floats = npt.NDArray[np.floating]


class PieceMeans:
    """The mean states of texts' word pieces before the encoder's layers.

    Args:
        folder: A folder with that part of the encoder's graph, its vocabulary and its vectors.

    Raises:
        ModelError: A file is missing or damaged.
    """

    def __init__(self, folder: Path):
        with files.usable(folder / GRAPH):
            self._tokenizer = read_tokenizer(folder / VOCABULARY)
            self._session = open_session(folder / GRAPH)

    def of(self, text: str) -> Floats:
        """The mean of a text's pieces, (D,)."""
        pieces = self._tokenizer.pieces(text)
        given = {name: np.array([getattr(pieces, name)], np.int64) for name in ("ids", "types")}
        return self._session.run([STATES], given)[0][0].astype(np.float64).mean(0)


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
    @cache
    def shipped(cls) -> Sieve:
        """Load the sieve of this package, once for each process.

        Raises:
            ModelError: A file is missing, damaged or of another model.
        """
        return cls(files.SHIPPED)

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
