"""Heads on the shipped encoder: is a sentence broken, a reply or slander?

One head reads each word piece with its neighbours and says whether the piece was put there, as in
ELECTRA (Clark et al. 2020). The others read a whole sentence: the mean and the largest of its
pieces' states, and what the first head says. They learnt from real sentences, from the same ones
broken by a program, and from written ones (`pipelines/lab/train/sentences.py`).
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms.models import files
from evenflow.transforms.models.encoder import MANIFEST as ENCODER
from evenflow.transforms.models.encoder import PieceStates, logistic
from evenflow.transforms.models.files import ModelError

FORMAT, VERSION = "evenflow-sentence-heads", 1
MANIFEST, TENSORS = "sentences.json", "sentences.npz"
BROKEN, REPLY, SLANDER = NAMES = ("broken", "reply", "slander")
WORST = 2  # pieces: a slip is two neighbours that do not fit
KEPT = 1024  # sentences whose probabilities are remembered: limits ask about one sentence in turn

Floats = npt.NDArray[np.floating[Any]]


class SentenceHeads:
    """The heads of a folder.

    Args:
        folder: A folder with a manifest and the tensors.

    Raises:
        ModelError: A file is missing, damaged or of another model.
    """

    def __init__(self, folder: Path):
        path = folder / MANIFEST
        about = files.manifest(path, FORMAT, VERSION)
        if about["encoder"] != files.digest_of(files.SHIPPED / ENCODER):
            raise ModelError(f"{path}: learnt with another encoder; {files.REBUILD}")
        try:
            with np.load(folder / TENSORS, allow_pickle=False) as tensors:
                stored = {name: tensors[name].astype(np.float64) for name in tensors.files}
            self._pieces = [stored[name] for name in ("within", "within_shift", "out", "out_shift")]
            self._weights, self._shifts = stored["weights"], stored["shifts"]
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(
                f"{path}: the model cannot be used ({error}); {files.REBUILD}"
            ) from error
        self._states = PieceStates()
        self._known: OrderedDict[str, dict[str, float]] = OrderedDict()

    def probabilities(self, text: str) -> dict[str, float]:
        """Read a sentence.

        Args:
            text: The sentence.

        Returns:
            By name of NAMES the probability that it is so, 0 to 1.
        """
        if text not in self._known:
            states = self._states.of(text)[0]
            values = features(states, piece_logits(windows(states), *self._pieces))
            found = logistic(self._weights @ values + self._shifts).tolist()
            self._known[text] = dict(zip(NAMES, found, strict=True))
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
        return self._known[text]


@cache
def shipped() -> SentenceHeads:
    """The heads of this package, loaded once a process. Raises what `SentenceHeads` raises."""
    return SentenceHeads(files.SHIPPED)


def windows(states: Floats) -> Floats:
    """Put beside the state of each of n pieces those of its neighbours: (n, D) to (n, 3 D)."""
    none = np.zeros((1, states.shape[1]), states.dtype)
    wide = np.vstack([none, states, none])
    return np.hstack([wide[:-2], wide[1:-1], wide[2:]])


def piece_logits(wide: Floats, within: Floats, shift: Floats, out: Floats, last: Floats) -> Floats:
    """Compute the logits that pieces were put where they stand.

    Args:
        wide: What `windows` returned, (n, 3 D).
        within: Weights of the hidden layer, (3 D, H).
        shift: Its constants, (H,).
        out: Weights of the last layer, (H,).
        last: Its constant.

    Returns:
        The logits, (n,).
    """
    return np.maximum(wide @ within + shift, 0) @ out + last


def features(states: Floats, logits: Floats) -> Floats:
    """What the heads of sentences read: mean and largest states, worst, mean and least logits.

    Args:
        states: The states of n pieces, (n, D).
        logits: What `piece_logits` returned, (n,).

    Returns:
        The features, (2 D + 4,).
    """
    worst = np.sort(logits)[-WORST:]
    told = [worst[-1], worst.mean(), logits.mean(), logits.min()]
    return np.concatenate([states.mean(0), states.max(0), told])
