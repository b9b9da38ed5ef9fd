"""All benchmarks by name."""

from __future__ import annotations

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

SUITES: dict[str, Suite] = {
    each.SUITE.name: each.SUITE
    for each in (hellaswag, redditbias, honest, crows_pairs, bbq, soct, stereoset, seat)
}
