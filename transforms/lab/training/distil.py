"""The first stage: vectors from the trained encoder, and linear heads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.linear_model import LogisticRegression

from evenflow.transforms.lab.training.network import Network, batch
from evenflow.transforms.models import files, static
from evenflow.transforms.models.pieces import Tokenizer
from evenflow.transforms.text.words import WORD_OR_MARK

SIZE = 64  # numbers of a vector
OFTEN = 3  # occurrences in the training texts from which a word that is no piece gets a vector
HELD = 0.003  # the heads' regularisation: inverse strength, chosen on sources left out
STEPS = 127  # steps of 8 bits on either side of zero

Floats = npt.NDArray[np.floating[Any]]


def vocabulary(pieces: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Choose the words that get a vector.

    Args:
        pieces: Word pieces of the encoder.
        texts: The training texts.

    Returns:
        Whole word pieces, in lower case and with a capital, and frequent words of the texts,
        sorted.
    """
    words = {piece for piece in pieces if WORD_OR_MARK.fullmatch(piece)}
    words |= {word.capitalize() for word in words if word.isalpha()}
    counts = Counter(word for text in texts for word in WORD_OR_MARK.findall(text))
    return sorted(words | {word for word, count in counts.items() if count >= OFTEN})


def vectors(
    network: Network, tokenizer: Tokenizer, words: Sequence[str]
) -> tuple[npt.NDArray[np.int8], float]:
    """Compute the words' vectors.

    They are the principal components of what the encoder makes of each word alone.

    Args:
        network: The trained encoder.
        tokenizer: Cuts texts into word pieces.
        words: n words.

    Returns:
        The vectors (n, `SIZE`) in 8 bits, and their scale.
    """
    out = np.zeros((len(words), network.body.places.embedding_dim), np.float32)
    pieces = [tokenizer.pieces(word) for word in words]
    order = sorted(range(len(words)), key=lambda i: len(pieces[i].ids))
    network.eval()
    with torch.inference_mode():
        for first in range(0, len(order), 256):
            chosen = order[first : first + 256]
            found = network.embedded(*batch([pieces[i] for i in chosen]))
            out[chosen] = found[:, : out.shape[1]].numpy()
    centred = out - out.mean(0)
    values, axes = np.linalg.eigh(np.cov(centred.T))
    best = values.argsort()[::-1][:SIZE]
    short = centred @ (axes[:, best] / np.sqrt(values[best]) ** 0.5)
    scale = float(np.quantile(np.abs(short), 0.9995)) / STEPS
    return np.clip(np.rint(short / scale), -STEPS, STEPS).astype(np.int8), scale


class Design:
    """Makes the rows for the linear heads.

    Args:
        words: n words with a vector.
        vectors: Their vectors, (n, `SIZE`).
    """

    def __init__(self, words: Sequence[str], vectors: Floats):
        self._at = {word: number for number, word in enumerate(words)}
        self._vectors = vectors

    def exchange(self, window: str) -> Floats:
        """Make the row of a marked window.

        Args:
            window: The window.

        Returns:
            The mean vectors at its places and the numbers beside them, (`PLACES` * `SIZE` + 2,).
        """
        each, more = static.find_places(window)
        changes = max(1, (len(each) - 1) // (static.PLACES - 1))
        means = [self.mean(words) for words in each]
        rest = [
            np.sum(means[place :: static.PLACES - 1], axis=0) / changes
            if len(means) > place
            else self.mean([])
            for place in range(1, static.PLACES)
        ]
        return np.concatenate([means[0], *rest, more])

    def mean(self, words: Sequence[str]) -> Floats:
        """Average the vectors of words.

        Args:
            words: Any words.

        Returns:
            The mean of those that have a vector, (`SIZE`,); zeros where none has one.
        """
        at = [
            found
            for word in words
            if (found := self._at.get(word, self._at.get(word.lower()))) is not None
        ]
        return self._vectors[at].mean(0) if at else np.zeros(self._vectors.shape[1])


def head(rows: Floats, targets: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Floats:
    """Train a linear head.

    Args:
        rows: n rows, (n, k).
        targets: Their probabilities, (n,).
        weights: The rows' weights, (n,); None: all 1.

    Returns:
        k weights and a constant, (k + 1,).
    """
    chances = np.asarray(targets, float)
    share = np.ones(len(chances)) if weights is None else np.asarray(weights, float)
    scale = rows.std(0) + 1e-6
    model: Any = LogisticRegression(C=HELD, max_iter=300)
    # Each row once as right and once as wrong, weighted by its probability
    double = np.concatenate([rows, rows]) / scale
    true = np.repeat([True, False], len(rows))
    model.fit(double, true, sample_weight=np.concatenate([chances * share, (1 - chances) * share]))
    return np.concatenate([model.coef_[0] / scale, model.intercept_])


def write(
    words: Sequence[str],
    vectors: npt.NDArray[np.int8],
    scale: float,
    heads: Mapping[str, Floats],
    out: Path,
    about: Mapping[str, Any],
) -> None:
    """Write the files that `static.FirstStage` reads.

    Args:
        words: n words.
        vectors: Their vectors, (n, `SIZE`).
        scale: What a unit of the vectors stands for.
        heads: Weights and constant by head.
        out: The folder.
        about: What else the manifest says.
    """
    out.mkdir(parents=True, exist_ok=True)
    (out / static.WORDS).write_text("\n".join(words), encoding="utf-8")
    rounded = {name: each.astype(np.float32) for name, each in heads.items()}
    np.savez_compressed(out / static.TENSORS, vectors=vectors, scale=np.float32(scale), **rounded)  # pyright: ignore[reportArgumentType]
    names = [static.WORDS, static.TENSORS]
    files.write_manifest(out / static.MANIFEST, static.FORMAT, static.VERSION, names, dict(about))
