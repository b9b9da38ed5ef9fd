"""Geometry of the page's charts: from figures to SVG paths.

A plot is WIDTH x HEIGHT units. The browser stretches it to its box, while lines and dots keep their
thickness (vector-effect: non-scaling-stroke). Labels are HTML beside the plot, so that they can be
read at any width.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evenflow.gates.ledger.spans import DAY, AttributeSpan, Span, merged
from evenflow.pipelines.pages.report.text import moment
from evenflow.schemas.ledger import BAD, STATES, State

WIDTH, HEIGHT = 1000.0, 400.0
# Columns of the x axis. Of more panes, neighbours share one: a screen has no more room for dots
MOST_COLUMNS = 500
MOST_LARGE_DOTS = 80  # columns up to which dots of the ordinary size do not touch

# An attribute that a pane of an earlier configuration does not have
NOTHING = AttributeSpan(state="not_judged")
Points = Sequence[tuple[float, float] | None]


@dataclass(frozen=True)
class Tick:
    """A tick of an axis.

    `at`: Its place in per cent of the axis.
    """

    at: float
    label: str
    narrow: bool = True


@dataclass(frozen=True)
class Chart:
    """DR over panes, ready to be drawn.

    `unjudged`: The rolling score where it was not judged; there it has no band.

    `y`: Ticks of the y axis. `x`: Ticks of the x axis.
    """

    dots: str
    rolling: str
    unjudged: str
    band: str
    cumulative: str
    ribbon: dict[State, str]
    y: tuple[Tick, ...]
    x: tuple[Tick, ...]
    thresholds: dict[str, Tick]
    merged: int
    fine: bool


def columns(panes: Sequence[Span], most: int = MOST_COLUMNS) -> list[Span]:
    """Merge neighbouring panes into the columns of the x axis."""
    each = math.ceil(len(panes) / most) if panes else 1
    return [merged(panes[i : i + each]) for i in range(0, len(panes), each)]


def dr_chart(panes: Sequence[Span], name: str, warn: float | None, block: float | None) -> Chart:
    """Compute the chart of an attribute's DR over panes.

    `warn`: DR from which a pane is in the state warn; None: no threshold. `block`: DR from which a
    pane is in the state block; None: no threshold.
    """
    places = columns(panes)
    cells = [each.attributes.get(name, NOTHING) for each in places]
    step = WIDTH / len(cells)
    keys = ("high", "rolling_high", "rolling", "cumulative")
    values = [value for cell in cells for key in keys if (value := getattr(cell, key)) is not None]
    given = zip(BAD, (warn, block), strict=True)
    limits = {level: value for level, value in given if value is not None}
    top, y = axis(max([*values, *(1.08 * limit for limit in limits.values()), 0.05]))
    judged = [cell.state != "not_judged" for cell in cells]

    def rolling(wanted: bool, key: str = "rolling") -> list[tuple[float, float] | None]:
        return [
            place(i, getattr(cell, key)) if judged[i] == wanted else None
            for i, cell in enumerate(cells)
        ]

    def place(i: int, value: float | None) -> tuple[float, float] | None:
        return None if value is None else ((i + 0.5) * step, HEIGHT * (1 - value / top))

    ends = [(cell.low, cell.high) if cell.low != cell.high else (cell.low,) for cell in cells]
    return Chart(
        dots=dots(place(i, value) for i, pair in enumerate(ends) for value in pair),
        rolling=line(rolling(True)),
        unjudged=line(rolling(False)),
        band=band(rolling(True, "rolling_low"), rolling(True, "rolling_high"), step / 3),
        cumulative=line([place(i, cell.cumulative) for i, cell in enumerate(cells)]),
        ribbon={state: _runs([cell.state == state for cell in cells], step) for state in STATES},
        y=y,
        x=ticks(places),
        thresholds={
            level: Tick(100 * (1 - value / top), f"{level} {value:g}")
            for level, value in limits.items()
        },
        merged=places[0].last - places[0].first + 1,
        fine=len(cells) > MOST_LARGE_DOTS,
    )


def line(points: Points) -> str:
    """Compute the SVG path of a line.

    Args:
        points: Its points; None interrupts the line. A point between two gaps is a dot.
    """
    out: list[str] = []
    before = None
    for i, point in enumerate(points):
        if point is not None:
            alone = before is None and (i + 1 == len(points) or points[i + 1] is None)
            out.append(f"{'M' if before is None else 'L'}{_xy(point)}{'h.1' if alone else ''}")
        before = point
    return "".join(out)


def band(low: Points, high: Points, least: float) -> str:
    """Compute the SVG path of the area between two lines, interrupted where either line is.

    `low`: P points of the lower line. `high`: P points of the upper line. `least`: Half the width
    of the area of a point between two gaps.
    """
    out: list[str] = []
    run: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for below, above in [*zip(low, high, strict=True), (None, None)]:
        if below is not None and above is not None:
            run.append((below, above))
            continue
        if len(run) == 1:
            (x, y), (_, top) = run[0]
            run = [((x - least, y), (x - least, top)), ((x + least, y), (x + least, top))]
        if run:
            corners = [*(above for _, above in run), *(below for below, _ in reversed(run))]
            out.append("M" + "L".join(map(_xy, corners)) + "Z")
        run = []
    return "".join(out)


def dots(points: Iterable[tuple[float, float] | None]) -> str:
    """Compute the SVG path of dots: short strokes, which round line caps turn into dots.

    `points`: The dots; None: no dot.
    """
    return "".join(f"M{_xy(point)}h.1" for point in points if point is not None)


def _xy(point: tuple[float, float]) -> str:
    """A point in SVG."""
    return f"{point[0]:.1f} {point[1]:.1f}"


def _runs(marked: Sequence[bool], step: float) -> str:
    """SVG path of bars over the marked columns, neighbours joined; 100 units high."""
    out: list[str] = []
    start = None
    for i, here in enumerate([*marked, False]):
        if here and start is None:
            start = i
        elif not here and start is not None:
            out.append(f"M{start * step:.1f} 0H{i * step:.1f}V100H{start * step:.1f}Z")
            start = None
    return "".join(out)


def axis(highest: float) -> tuple[float, tuple[Tick, ...]]:
    """Choose the upper end and the ticks of an axis that begins at 0.

    Args:
        highest: The highest value; above 0.

    Returns:
        The upper end, and four to six ticks at round figures.
    """
    rough = highest / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough)
    count = math.ceil(highest / step - 1e-9)
    digits = max(
        0, -math.floor(math.log10(step) + 1e-9) + (1 if round(step / power, 6) == 2.5 else 0)
    )
    return step * count, tuple(
        Tick(100 * (1 - i / count), f"{i * step:,.{digits}f}") for i in range(count + 1)
    )


def ticks(groups: Sequence[Span]) -> tuple[Tick, ...]:
    """Choose the ticks of panes or of groups of them: a dozen at most, every other one if narrow.

    Returns ticks with the day of a group, or the number of its first pane where it has no time. Of
    three days at most, they have day and time without the year.
    """
    times = [each.time for each in groups if each.time is not None]
    shown = slice(5, 16) if times and max(times) - min(times) <= 3 * DAY else slice(0, 10)
    # Round numbers, from the first round one on
    step = next(f * 10**e for e in range(19) for f in (1, 2, 5) if len(groups) / (f * 10**e) <= 12)
    return tuple(
        Tick(
            100 * (i + 0.5) / len(groups),
            f"{groups[i].first:,}" if (time := groups[i].time) is None else moment(time)[shown],
            narrow=i // step % 2 == 0,
        )
        for i in range(-groups[0].first % step, len(groups), step)
    )
