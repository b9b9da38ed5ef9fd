"""All benchmarks by name."""

from __future__ import annotations

from typing import Any

from evenflow.transforms.lab.benchmarks import (
    bbq,
    crows_pairs,
    hellaswag,
    honest,
    redditbias,
    seat,
    soct,
    stereoset,
)
from evenflow.transforms.lab.benchmarks.suite import Suite

EVERY: Any = (hellaswag, redditbias, honest, crows_pairs, bbq, soct, stereoset, seat)
SUITES: dict[str, Suite] = {each.ABOUT.name: each for each in EVERY}
