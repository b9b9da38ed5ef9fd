"""Geometry of the page's charts: from figures to SVG paths.

A plot is WIDTH x HEIGHT units, stretched by the browser to its box; lines and dots keep their
thickness (vector-effect: non-scaling-stroke), and all lettering is HTML beside it, so that it is
legible at any width.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evenflow.gates.ledger.spans import AttributeSpan, Span, merged
from evenflow.pipelines.report.text import moment
from evenflow.schemas.ledger import STATES, State

WIDTH, HEIGHT = 1000.0, 400.0
# Places on the x axis; of more panes, neighbours share one: a screen has no more pixels for dots
MOST_COLUMNS = 500
MOST_TITLES = 150  # panes whose figures a pointer can ask for; more would make the page heavy
MOST_LARGE_DOTS = 80  # columns up to which dots of the ordinary size do not touch

Points = Sequence[tuple[float, float] | None]


@dataclass(frozen=True)
class Tick:
    """A tick: its place in per cent of the axis, its lettering, and whether a narrow screen has
    room for it.
    """

    at: float
    label: str
    narrow: bool = True


@dataclass(frozen=True)
class Threshold:
    """A labelled line: name, DR, place from the top in per cent, and a class that moves its
    lettering off a near line's.
    """

    name: str
    value: float
    at: float
    side: str


@dataclass(frozen=True)
class Hover:
    """A pane's strip of the plot with what is said of it."""

    x: str
    width: str
    title: str


@dataclass(frozen=True)
class Chart:
    """DR over panes, ready to be drawn: SVG path data, ticks and thresholds. merged: panes a
    column; fine: with small dots.
    """

    dots: str
    rolling: str
    band: str
    cumulative: str
    ribbon: dict[State, str]
    y: tuple[Tick, ...]
    x: tuple[Tick, ...]
    thresholds: tuple[Threshold, ...]
    hovers: tuple[Hover, ...]
    merged: int
    fine: bool


def columns(panes: Sequence[Span], most: int = MOST_COLUMNS) -> list[Span]:
    """The places on the x axis, at most `most`: a pane each, unless there are more."""
    each = math.ceil(len(panes) / most) if panes else 1
    return [merged(panes[i : i + each]) for i in range(0, len(panes), each)]


def dr_chart(panes: Sequence[Span], name: str, warn: float | None, block: float | None) -> Chart:
    """The chart of an attribute's DR over panes, or groups of them (at least one)."""
    places = columns(panes)
    cells = [each.attributes[name] for each in places]
    single = panes[-1].last - panes[0].first + 1 == len(panes)
    step = WIDTH / len(cells)
    values = [
        value
        for cell in cells
        for value in (cell.high, cell.rolling_high, cell.rolling, cell.cumulative)
    ]
    limits = [value for value in (warn, block) if value is not None]
    top, y = axis(
        max(
            [value for value in values if value is not None]
            + [1.08 * limit for limit in limits]
            + [0.05]
        )
    )

    def place(i: int, value: float | None) -> tuple[float, float] | None:
        return None if value is None else ((i + 0.5) * step, HEIGHT * (1 - value / top))

    ends = [(cell.low, cell.high) if cell.low != cell.high else (cell.low,) for cell in cells]
    return Chart(
        dots=dots(place(i, value) for i, pair in enumerate(ends) for value in pair),
        rolling=line([place(i, cell.rolling) for i, cell in enumerate(cells)]),
        band=band(
            [place(i, cell.rolling_low) for i, cell in enumerate(cells)],
            [place(i, cell.rolling_high) for i, cell in enumerate(cells)],
            step / 3,
        ),
        cumulative=line([place(i, cell.cumulative) for i, cell in enumerate(cells)]),
        ribbon={state: _runs([cell.state == state for cell in cells], step) for state in STATES},
        y=y,
        x=pane_ticks(len(panes), MOST_COLUMNS) if single else group_ticks(panes),
        thresholds=_thresholds(warn, block, top),
        hovers=_hovers(panes, name) if single and len(panes) <= MOST_TITLES else (),
        merged=places[0].last - places[0].first + 1,
        fine=len(cells) > MOST_LARGE_DOTS,
    )


def series_chart(values: Sequence[float | None]) -> tuple[str, str, tuple[Tick, ...]]:
    """A quantity over panes: paths of its line and of the area below, and the ticks of its axis.
    Merged panes: their mean.
    """
    each = math.ceil(len(values) / MOST_COLUMNS) if values else 1
    groups = [
        [one for one in values[i : i + each] if one is not None]
        for i in range(0, len(values), each)
    ]
    means = [sum(group) / len(group) if group else None for group in groups]
    step = WIDTH / max(len(means), 1)
    top, y = axis(max([one for one in means if one is not None], default=1.0))
    above = [
        None if one is None else ((i + 0.5) * step, HEIGHT * (1 - one / top))
        for i, one in enumerate(means)
    ]
    below = [None if one is None else (one[0], HEIGHT) for one in above]
    return line(above), band(below, above, step / 3), y


def line(points: Points) -> str:
    """Path of a line that is interrupted where there is no point; a point between two gaps is a
    dot.
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
    """Path of the area between two lines, interrupted where either is; least: half the width of a
    lone place.
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
    """Path of dots: strokes without length, which round line caps make visible."""
    return "".join(f"M{_xy(point)}h.1" for point in points if point is not None)


def _xy(point: tuple[float, float]) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def _runs(marked: Sequence[bool], step: float) -> str:
    """Path of horizontal strokes under the marked places, neighbours joined; 100 units high,
    centred at 50.
    """
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
    """Upper end of an axis from 0 and its ticks, four to six of them at round figures."""
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


def pane_ticks(panes: int, most: int) -> tuple[Tick, ...]:
    """Pane numbers below a plot of at most `most` columns: a dozen round ones at most, on a narrow
    screen every other one.
    """
    step = next(f * 10**e for e in range(19) for f in (1, 2, 5) if panes / (f * 10**e) <= 12)
    each = math.ceil(panes / most)
    places = math.ceil(panes / each)
    return tuple(
        Tick(100 * (number // each + 0.5) / places, f"{number:,}", narrow=number // step % 2 == 0)
        for number in range(0, panes, step)
    )


def group_ticks(groups: Sequence[Span]) -> tuple[Tick, ...]:
    """Numbers of the panes with which groups begin, or the days, below a plot of the groups: a
    dozen at most.
    """
    step = math.ceil(len(groups) / 12)
    return tuple(
        Tick(
            100 * (i + 0.5) / len(groups),
            f"{groups[i].first:,}" if (time := groups[i].time) is None else moment(time)[:10],
            narrow=i // step % 2 == 0,
        )
        for i in range(0, len(groups), step)
    )


def _thresholds(warn: float | None, block: float | None, top: float) -> tuple[Threshold, ...]:
    out = []
    # Their letterings would meet
    close = warn is not None and block is not None and (block - warn) / top < 0.08
    for name, value in (("warn", warn), ("block", block)):
        if value is not None:
            out.append(
                Threshold(
                    name,
                    value,
                    100 * (1 - value / top),
                    (" below" if name == "warn" else " above") if close else "",
                )
            )
    return tuple(out)


def _hovers(panes: Sequence[Span], name: str) -> tuple[Hover, ...]:
    step = WIDTH / len(panes)
    return tuple(
        Hover(f"{i * step:.1f}", f"{step:.1f}", _said(each.first, each.attributes[name]))
        for i, each in enumerate(panes)
    )


def _said(pane: int, each: AttributeSpan) -> str:
    def three(value: float | None) -> str:
        return "none" if value is None else f"{value:.3f}"

    rolling = three(each.rolling)
    if each.rolling_low is not None and each.rolling_high is not None:
        rolling += f" ({each.rolling_low:.3f} – {each.rolling_high:.3f})"
    return (
        f"Pane {pane}: {each.state or 'open'} · DR {three(each.low)}, {each.mentions:,} mentions · "
        f"rolling {rolling} · cumulative {three(each.cumulative)} · accepted {three(each.accepted)}"
    )
