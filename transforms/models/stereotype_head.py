"""The head that says whether a sentence states a stereotype: a small network on its mean state."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms.models import files
from evenflow.transforms.models.files import ModelError

FORMAT, VERSION = "evenflow-stereotype-head", 1
MANIFEST, TENSORS = "stereotypes.json", "stereotypes.npz"
LAYERS = ("within", "within_shift", "out", "out_shift")

Floats = npt.NDArray[np.floating[Any]]


class StereotypeHead:
    """A network with one hidden layer, calibrated.

    Args:
        folder: A folder with a manifest and the tensors.

    Attributes:
        about: The manifest.

    Raises:
        ModelError: A file is missing, damaged or of another model.
    """

    def __init__(self, folder: Path):
        path = folder / MANIFEST
        self.about = files.manifest(path, FORMAT, VERSION)
        try:
            with np.load(folder / TENSORS, allow_pickle=False) as tensors:
                self._layers = [tensors[name].astype(np.float64) for name in LAYERS]
            self._slope, self._shift = map(float, self.about["calibration"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(
                f"{path}: the model cannot be used ({error}); {files.REBUILD}"
            ) from error

    @classmethod
    def shipped(cls) -> StereotypeHead:
        """Load the head of this package, once for each process.

        Raises:
            ModelError: A file is missing, damaged or of another model.
        """
        return _shipped()

    def logit(self, states: Floats) -> float:
        """Compute the logit of the probability of a stereotype.

        Args:
            states: What the encoder makes of the n pieces of a masked sentence, (n, D).

        Returns:
            The calibrated logit.
        """
        return float(self._slope * raw(states.mean(0), *self._layers) + self._shift)


def raw(mean: Floats, within: Floats, shift: Floats, out: Floats, last: Floats) -> Any:
    """Compute the logit before it is calibrated.

    Args:
        mean: The mean state of a sentence, (D,), or of several, (n, D).
        within: Weights of the hidden layer, (D, H).
        shift: Its constants, (H,).
        out: Weights of the last layer, (H,).
        last: Its constant.

    Returns:
        The logit, or n of them.
    """
    hidden = mean @ within + shift
    # Of GELU the approximation by a hyperbolic tangent (Hendrycks and Gimpel, 2016)
    hidden *= 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3)))
    return hidden @ out + last


@cache
def _shipped() -> StereotypeHead:
    """The head of this package."""
    return StereotypeHead(files.SHIPPED)
