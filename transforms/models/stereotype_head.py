"""Heads on the mean state of a sentence: does it state a stereotype, and is it of a creed alone?

The first is a small network, the second is linear.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms.models import files

FORMAT, VERSION = "evenflow-stereotype-head", 1
NAME = "stereotypes"
MANIFEST, TENSORS = f"{NAME}.json", f"{NAME}.npz"
LAYERS = ("within", "within_shift", "out", "out_shift")
CREED = ("creed", "creed_shift")  # of the second head; the sieve has none

Floats = npt.NDArray[np.floating[Any]]


class StereotypeHead:
    """A network with one hidden layer, calibrated; and the head of creeds."""

    def __init__(self, folder: Path, name: str = NAME):
        path = folder / f"{name}.json"
        self.about = files.manifest(path, FORMAT, VERSION)
        with files.usable(path):
            with np.load(path.with_suffix(".npz"), allow_pickle=False) as tensors:
                self._layers = [tensors[name].astype(np.float64) for name in LAYERS]
                self._creed = [tensors[each].astype(np.float64) for each in CREED if name == NAME]
            self._slope, self._shift = map(float, self.about["calibration"])

    def logit(self, mean: Floats) -> float:
        """Compute the logit of the probability of a stereotype.

        `mean`: The mean of what the encoder makes of the pieces of a masked sentence, (D,).
        """
        return float(self._slope * raw(mean, *self._layers) + self._shift)

    def creed(self, mean: Floats) -> float:
        """Compute the logit of the probability that a stereotype is of a creed alone.

        `mean`: As for `logit`, (D,).
        """
        weights, shift = self._creed
        return float(mean @ weights + shift)


def raw(mean: Floats, within: Floats, shift: Floats, out: Floats, last: Floats) -> Any:
    """Compute the logit before it is calibrated.

    Args:
        mean: The mean state of a sentence, (D,), or of several, (n, D).
        within: Weights of the hidden layer, (D, H).
        out: Weights of the last layer, (H,).

    Returns:
        The logit, or n of them.
    """
    hidden = mean @ within + shift
    # Of GELU the approximation by a hyperbolic tangent (Hendrycks and Gimpel, 2016)
    hidden *= 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3)))
    return hidden @ out + last
