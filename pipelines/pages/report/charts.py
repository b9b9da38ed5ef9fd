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
from evenflow.schemas.ledger import STATES, State

WIDTH, HEIGHT = 1000.0, 400.0
# Columns of the x axis. Of more panes, neighbours share one: a screen has no more room for dots
MOST_COLUMNS = 500
MOST_TITLES = 150  # panes with a tooltip; more would make the page heavy
MOST_LARGE_DOTS = 80  # columns up to which dots of the ordinary size do not touch

NOTHING = AttributeSpan(  # an attribute that a pane of an earlier configuration does not have
    low=None,
    high=None,
    rolling=None,
    rolling_low=None,
    rolling_high=None,
    cumulative=None,
    accepted=None,
    state="too few",
    mentions=0,
)
Points = Sequence[tuple[float, float] | None]


@dataclass(frozen=True)
class Tick:
    """A tick of an axis.

    Attributes:
        at: Its place in per cent of the axis.
        label: Its label.
        narrow: Whether a narrow screen shows it.
    """

    at: float
    label: str
    narrow: bool = True


@dataclass(frozen=True)
class Threshold:
    """A labelled horizontal line.

    Attributes:
        name: warn or block.
        value: The DR.
        at: Its place from the top, in per cent.
        side: A CSS class that keeps its label apart from the label of a near line; may be empty.
    """

    name: str
    value: float
    at: float
    side: str


@dataclass(frozen=True)
class Hover:
    """A strip of the plot with a tooltip.

    Attributes:
        x: Its left edge, in units of the plot.
        width: Its width.
        title: The tooltip.
    """

    x: str
    width: str
    title: str


@dataclass(frozen=True)
class Chart:
    """DR over panes, ready to be drawn.

    Attributes:
        dots: SVG path of each pane's own DR.
        rolling: SVG path of the rolling DR.
        band: SVG path of the interval of the rolling DR.
        cumulative: SVG path of the cumulative DR.
        ribbon: By state the SVG path of the panes in that state.
        y: Ticks of the y axis.
        x: Ticks of the x axis.
        thresholds: The thresholds that were set.
        hovers: Tooltips of the panes; none where there are too many panes.
        merged: Panes a column.
        fine: Whether the dots are small.
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
    """Merge neighbouring panes into the columns of the x axis.

    Args:
        panes: Panes, or groups of panes.
        most: The most columns.

    Returns:
        At most `most` columns; a pane each, unless there are more panes.
    """
    each = math.ceil(len(panes) / most) if panes else 1
    return [merged(panes[i : i + each]) for i in range(0, len(panes), each)]


def dr_chart(panes: Sequence[Span], name: str, warn: float | None, block: float | None) -> Chart:
    """Compute the chart of an attribute's DR over panes.

    Args:
        panes: Panes, or groups of panes; at least one.
        name: The attribute.
        warn: DR from which a pane is in the state warn; None: no threshold.
        block: DR from which a pane is in the state block; None: no threshold.

    Returns:
        The chart.
    """
    places = columns(panes)
    cells = [each.attributes.get(name, NOTHING) for each in places]
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
        x=pane_ticks(len(panes), first=panes[0].first) if single else group_ticks(panes),
        thresholds=_thresholds(warn, block, top),
        hovers=_hovers(panes, name) if single and len(panes) <= MOST_TITLES else (),
        merged=places[0].last - places[0].first + 1,
        fine=len(cells) > MOST_LARGE_DOTS,
    )


def series_chart(values: Sequence[float | None]) -> tuple[str, str, tuple[Tick, ...]]:
    """Compute the chart of a quantity over panes; a column of several panes has their mean.

    Args:
        values: P values; None: not known.

    Returns:
        SVG paths of the line and of the area below it, and the ticks of the y axis.
    """
    each = math.ceil(len(values) / MOST_COLUMNS) if values else 1
    groups = [
        [one for one in values[i : i + each] if one is not None]
        for i in range(0, len(values), each)
    ]
    means = [sum(group) / len(group) if group else None for group in groups]
    step = WIDTH / max(len(means), 1)
    top, y = axis(max(filter(None, means), default=1.0))  # none above 0: any top does
    above = [
        None if one is None else ((i + 0.5) * step, HEIGHT * (1 - one / top))
        for i, one in enumerate(means)
    ]
    below = [None if one is None else (one[0], HEIGHT) for one in above]
    return line(above), band(below, above, step / 3), y


def line(points: Points) -> str:
    """Compute the SVG path of a line.

    Args:
        points: Its points; None interrupts the line. A point between two gaps is a dot.

    Returns:
        The path.
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

    Args:
        low: P points of the lower line.
        high: P points of the upper line.
        least: Half the width of the area of a point between two gaps.

    Returns:
        The path.
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

    Args:
        points: The dots; None: no dot.

    Returns:
        The path.
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


def pane_ticks(panes: int, most: int = MOST_COLUMNS, first: int = 0) -> tuple[Tick, ...]:
    """Choose the ticks of pane numbers: a dozen round numbers at most.

    On a narrow screen every other one is shown.

    Args:
        panes: Number of panes.
        most: The most columns of the plot.
        first: Number of the first pane.

    Returns:
        The ticks.
    """
    step = next(f * 10**e for e in range(19) for f in (1, 2, 5) if panes / (f * 10**e) <= 12)
    each = math.ceil(panes / most)
    places = math.ceil(panes / each)
    return tuple(
        Tick(
            100 * ((number - first) // each + 0.5) / places,
            f"{number:,}",
            narrow=number // step % 2 == 0,
        )
        for number in range(-(-first // step) * step, first + panes, step)
    )


def group_ticks(groups: Sequence[Span]) -> tuple[Tick, ...]:
    """Choose the ticks of a plot of groups of panes: a dozen at most.

    Args:
        groups: The groups.

    Returns:
        Ticks with the day of a group, or the number of its first pane where it has no time. Of
        three days at most, they have day and time without the year.
    """
    times = [each.time for each in groups if each.time is not None]
    shown = slice(5, 16) if times and max(times) - min(times) <= 3 * DAY else slice(0, 10)
    step = math.ceil(len(groups) / 12)
    return tuple(
        Tick(
            100 * (i + 0.5) / len(groups),
            f"{groups[i].first:,}" if (time := groups[i].time) is None else moment(time)[shown],
            narrow=i // step % 2 == 0,
        )
        for i in range(0, len(groups), step)
    )


def _thresholds(warn: float | None, block: float | None, top: float) -> tuple[Threshold, ...]:
    """The lines of the thresholds that were set."""
    out = []
    # Their labels would overlap
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
    """A strip with a tooltip for each pane."""
    step = WIDTH / len(panes)
    return tuple(
        Hover(
            f"{i * step:.1f}",
            f"{step:.1f}",
            _tooltip(each.first, each.attributes.get(name, NOTHING)),
        )
        for i, each in enumerate(panes)
    )


def _tooltip(pane: int, each: AttributeSpan) -> str:
    """The scores of a pane in a line."""

    def three(value: float | None) -> str:
        return "none" if value is None else f"{value:.3f}"

    rolling = three(each.rolling)
    if each.rolling_low is not None and each.rolling_high is not None:
        rolling += f" ({each.rolling_low:.3f} – {each.rolling_high:.3f})"
    return (
        f"Pane {pane}: {each.state} · DR {three(each.low)}, {each.mentions:,} mentions · "
        f"rolling {rolling} · cumulative {three(each.cumulative)} · accepted {three(each.accepted)}"
    )
