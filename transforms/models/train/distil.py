"""The first stage's vectors, from the trained encoder, and its heads."""

# pyright: reportMissingImports=false
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.linear_model import LogisticRegression

from evenflow.transforms.models import files, static
from evenflow.transforms.models.pieces import Tokenizer
from evenflow.transforms.models.train.network import Network, batch
from evenflow.transforms.text.words import WORD_OR_MARK

SIZE = 64  # numbers of a vector
OFTEN = 3  # times a word that is no piece of its own must be in the training texts
HELD = 0.003  # the heads' regularisation: inverse strength, chosen on sources left out
STEPS = 127  # that 8 bits have on either side of nothing

Floats = npt.NDArray[np.floating[Any]]


def vocabulary(pieces: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Words with a vector: whole word pieces, small and with a capital, and what is often in the
    texts.
    """
    words = {piece for piece in pieces if WORD_OR_MARK.fullmatch(piece)}
    words |= {word.capitalize() for word in words if word.isalpha()}
    counts = Counter(word for text in texts for word in WORD_OR_MARK.findall(text))
    return sorted(words | {word for word, count in counts.items() if count >= OFTEN})


def vectors(
    network: Network, tokenizer: Tokenizer, words: Sequence[str]
) -> tuple[npt.NDArray[np.int8], float]:
    """A vector (n, SIZE) of 8 bits a word, and the scale: the principal components of what the
    encoder makes of it alone.
    """
    out = np.zeros((len(words), network.places.embedding_dim), np.float32)
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
    """Rows for the linear heads.

    Args:
        words: With a vector.
        vectors: Theirs, (n, SIZE).
    """

    def __init__(self, words: Sequence[str], vectors: Floats):
        self._at = {word: number for number, word in enumerate(words)}
        self._vectors = vectors

    def exchange(self, window: str) -> Floats:
        """The means at the places of a marked window, and the numbers beside them."""
        each, more = static.places(window)
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
        """The mean vector of words, nothing where none has one."""
        at = [
            found
            for word in words
            if (found := self._at.get(word, self._at.get(word.lower()))) is not None
        ]
        return self._vectors[at].mean(0) if at else np.zeros(self._vectors.shape[1])


def head(rows: Floats, targets: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Floats:
    """A linear head (k + 1,) for rows (n, k): their weights and a constant. targets: probabilities
    (n,).
    """
    chances = np.asarray(targets, float)
    share = np.ones(len(chances)) if weights is None else np.asarray(weights, float)
    scale = rows.std(0) + 1e-6
    model: Any = LogisticRegression(C=HELD, max_iter=300)
    # Each row once as right, once as wrong, by its probability
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
    """Writes the files that `static.FirstStage` reads."""
    out.mkdir(parents=True, exist_ok=True)
    (out / static.WORDS).write_text("\n".join(words), encoding="utf-8")
    rounded = {name: each.astype(np.float32) for name, each in heads.items()}
    np.savez_compressed(out / static.TENSORS, vectors=vectors, scale=np.float32(scale), **rounded)  # pyright: ignore[reportArgumentType]
    names = [static.WORDS, static.TENSORS]
    files.write_manifest(out / static.MANIFEST, static.FORMAT, static.VERSION, names, dict(about))
