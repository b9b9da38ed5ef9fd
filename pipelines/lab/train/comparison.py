"""What an experiment shows: estimates over items and seeds, differences, and what follows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Any

from scipy.special import stdtrit

LEVEL = 0.95
NORMAL = 1.959964  # quantile of the intervals that benchmarks give
POWER = 2.8  # standard errors that are shown with 80 % power at this level: 1.96 + 0.84


@dataclass(frozen=True)
class Estimate:
    """A figure over seeds.

    Attributes:
        value: Its mean over the seeds; None: no seed has one.
        low: Lower bound of its interval; None: there is none.
        error: Its standard error; None: there is none.
    """

    value: float | None
    low: float | None
    high: float | None
    error: float | None
    seeds: tuple[float, ...]

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval has only values of one sign."""
        return self.low is not None and self.high is not None and self.low * self.high > 0


def over_seeds(figures: Sequence[Mapping[str, Any]], key: str = "figure") -> Estimate:
    """Combine the figures of k seeds, each with its interval over items.

    The distance of a bound is the root of the sum of two squares: that of the interval over items,
    and that of Student's interval over seeds (MOVER, Zou and Donner 2008). The items are the same
    for all seeds, so their part does not become smaller with k. The interval is rather too wide
    than too narrow; tests/pipelines/lab/train/test_comparison.py simulates it.
    """
    figures = [each for each in figures if each[key] is not None]
    values = tuple(float(each[key]) for each in figures)
    if not values:
        return Estimate(None, None, None, None, values)
    mean, count = fmean(values), len(values)
    if any(each.get("low") is None or each.get("high") is None for each in figures):
        return Estimate(mean, None, None, None, values)
    below, above = (
        fmean((float(each[key]) - each[bound]) ** 2 for each in figures)
        for bound in ("low", "high")
    )
    seeds = variance(values) / count if count > 1 else 0.0
    student = float(stdtrit(max(count - 1, 1), (1 + LEVEL) / 2))
    low, high = (math.sqrt(items + student**2 * seeds) for items in (below, above))
    error = math.sqrt((below + above) / 2 / NORMAL**2 + seeds)
    return Estimate(mean, mean - low, mean + high, error, values)


def better(figure: float, than: float, wanted: str) -> bool | None:
    """Say whether a figure is better than another one."""
    if wanted == "higher":
        gain = figure - than
    elif wanted == "lower":
        gain = than - figure
    else:
        gain = abs(than - float(wanted)) - abs(figure - float(wanted))
    return None if not gain else gain > 0


def conclusions(
    arms: Mapping[str, str], table: Mapping[str, Mapping[str, Any]], baseline: str
) -> tuple[list[str], list[str]]:
    """Say in words what an experiment shows and what it does not."""
    shown: list[str] = []
    open_: list[str] = []
    compared = 0
    for suite, each in table.items():
        own = each["estimates"]
        for arm, difference in each["differences"].items():
            compared += difference.low is not None
            if difference.excludes_zero:
                how = better(own[arm].value, own[baseline].value, each["wanted"])
                word = {True: "better", False: "worse", None: "as good"}[how]
                shown.append(
                    f"{suite}: {arms[arm]} differs from {arms[baseline]} by"
                    f" {interval(difference)}; its figure is {word}."
                )
        alike = [found for found in each["differences"].values() if found.low == found.high == 0]
        if alike:
            open_.append(
                f"{suite}: {len(alike)} of the differences are 0 whichever items are drawn: the"
                f" {each['n']} items were answered alike. Of other items, up to"
                f" {min(1.0, 3 / max(each['n'], 1)):.0%} might be answered otherwise (rule of"
                " three), which the intervals do not show."
            )
        errors = [found.error for found in each["differences"].values() if found.error]
        if errors:
            open_.append(
                f"{suite}: a difference below about {POWER * max(errors):.2g} would rather have"
                " been missed than seen."
            )
    chance = compared * (1 - LEVEL)
    said = [
        f"{len(shown)} of {compared} differences from {arms[baseline]} have an interval without 0;"
        f" about {chance:.1f} would if no arm differed at all."
    ]
    if not shown:
        said.append(
            "No difference was shown. This is a result, and no proof that there is none: see the"
            " sizes below that would have been missed."
        )
    limits = [
        *open_,
        "A difference from the pretrained model alone says nothing about debiasing: fine-tuning on"
        " any text changes these figures. Only differences from the data as it came count.",
        "The intervals are one by one: they are not corrected for the number of comparisons.",
        "Nothing follows for other models, texts, attributes, languages, or longer training.",
        "A benchmark measures what its items ask and no more; its page names its limits.",
    ]
    return [*said, *shown], limits


def interval(estimate: Estimate, digits: int = 3) -> str:
    """An estimate with its interval, for people."""
    if estimate.value is None:
        return "–"
    value = f"{estimate.value:.{digits}f}"
    if estimate.low is None or estimate.high is None:
        return f"{value} (no interval)"
    return f"{value} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"
