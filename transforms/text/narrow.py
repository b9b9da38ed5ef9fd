"""Reads a text as one byte a character where it is ASCII, which numpy and `bytes` search fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FILL = 0x20  # the byte of every character outside ASCII


class Narrow(NamedTuple):
    """A text of n characters, r of them outside ASCII.

    `raw`: Its ASCII characters, and FILL for each other one: n bytes. `places`: Where the others
    are, (r,) int64, ascending. `points`: Their code points, (r,) uint32.
    """

    raw: bytes
    places: npt.NDArray[np.int64]
    points: npt.NDArray[np.uint32]


def narrow(text: str) -> Narrow:
    """Read a text; lone surrogates are allowed."""
    if text.isascii():
        return Narrow(text.encode("ascii"), np.zeros(0, np.int64), np.zeros(0, np.uint32))
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    places = (points >= 128).nonzero()[0]
    raw = points.astype(np.uint8)
    raw[places] = FILL
    return Narrow(raw.tobytes(), places, points[places])
