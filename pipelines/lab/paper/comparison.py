"""What an experiment shows: estimates over items and seeds, differences, and what follows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Any

from evenflow.pipelines.lab.paper.power import LEVEL, student

NORMAL = 1.959964  # quantile of the intervals that benchmarks give
POWER = 2.8  # standard errors that are shown with 80 % power at this level: 1.96 + 0.84


@dataclass(frozen=True)
class Estimate:
    """A figure over seeds.

    Attributes:
        value: Its mean over the seeds; None: no seed has one.
        low: Lower bound of its interval; None: there is none.
        smallest: The smallest one that is shown in 80 % of such experiments; None: not known.
    """

    value: float | None
    low: float | None
    high: float | None
    smallest: float | None
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
    than too narrow; tests/pipelines/lab/paper/test_comparison.py simulates it.
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
    wide = student(max(count, 2))
    low, high = (math.sqrt(items + wide**2 * seeds) for items in (below, above))
    error = math.sqrt((below + above) / 2 / NORMAL**2 + seeds)
    return Estimate(mean, mean - low, mean + high, POWER * error, values)


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
    arms: Mapping[str, str], table: Mapping[str, Mapping[str, Any]], controls: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Say in words what an experiment shows and what it does not.

    `arms`: Their titles. `controls`: By arm the one that it is compared with.
    """
    shown: list[str] = []
    open_: list[str] = []
    compared = 0
    for suite, each in table.items():
        own = each["estimates"]
        for arm, difference in each["differences"].items():
            compared += difference.low is not None
            if difference.excludes_zero:
                how = better(own[arm].value, own[controls[arm]].value, each["wanted"])
                word = {True: "better", False: "worse", None: "as good"}[how]
                shown.append(
                    f"{suite}: {arms[arm]} differs from {arms[controls[arm]]} by"
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
        sizes = [found.smallest for found in each["differences"].values() if found.smallest]
        if sizes:
            open_.append(
                f"{suite}: a difference below {max(sizes):.2g} would rather have been missed than"
                " seen."
            )
    said = [
        f"{len(shown)} of {compared} differences from their control have an interval without 0;"
        f" about {compared * (1 - LEVEL):.1f} would if no arm differed at all."
    ]
    if not shown:
        said.append(
            "No difference was shown. This is a result, and no proof that there is none: see the"
            " sizes below that would have been missed."
        )
    said_of_all = "The intervals are one by one: not corrected for the number of comparisons."
    return [*said, *shown], [*open_, said_of_all]


def interval(estimate: Estimate, digits: int = 3) -> str:
    """An estimate with its interval, for people."""
    if estimate.value is None:
        return "–"
    value = f"{estimate.value:.{digits}f}"
    if estimate.low is None or estimate.high is None:
        return f"{value} (no interval)"
    return f"{value} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def drawn_dr(own: Mapping[str, Any]) -> str:
    """A DR of an arm's data with its interval, for people."""
    return interval(Estimate(own["dr"], own["low"], own["high"], None, ()))


Drawn = tuple[str, tuple[str, ...], list[tuple[str, ...]]]


def described(found: Mapping[str, Any]) -> list[Drawn]:
    """The tables of an experiment as text: title, columns, rows."""
    arms = found["arms"]
    data: list[tuple[str, ...]] = [
        (
            arm["title"],
            f"{arm['documents']:,}",
            f"{arm['changed']:,}",
            f"{arm['sentences']:,}",
            name,
            drawn_dr(own),
        )
        for arm in arms.values()
        for name, own in arm.get("attributes", {}).items()
    ]
    columns: tuple[str, ...] = ("arm", "documents", "changed", "sentences", "attribute", "DR")
    made: list[Drawn] = [("Data", columns, data)]
    for suite, each in found["suites"].items():
        rows: list[tuple[str, ...]] = [
            (
                arms[arm]["title"],
                interval(Estimate(**own)),
                interval(Estimate(**other)) if (other := each["differences"].get(arm)) else "",
                arms[arms[arm]["control"]]["title"] if other else "",
                f"{other['smallest']:.3f}" if other and other["smallest"] else "",
            )
            for arm, own in each["estimates"].items()
        ]
        title = f"{suite} (best: {each['wanted']}, n = {each['n']:,})"
        made.append((title, ("arm", "figure", "difference", "from", "smallest shown"), rows))
    return made
