"""Documents that were searched for labels together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.transforms.labels.finder import Found

Ints = npt.NDArray[np.int64]


class Searched(NamedTuple):
    """Documents of a block that were searched together, as one joined text.

    Attributes:
        first: The number of the first of them in the block.
        texts: Their texts, D of them.
        begins: Where each begins in the joined text, (D,), in characters.
        every: What was found of each word list in the joined text.
        starts: Where sentences begin in the joined text, ascending.
    """

    first: int
    texts: Sequence[str]
    begins: Ints
    every: list[Found]
    starts: Ints
