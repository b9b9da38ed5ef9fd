"""Panels of lines over time as one SVG, for what a benchmark has sampled; nothing but the standard
library.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 860, 190  # of a panel, in pixels
LEFT, RIGHT, TOP, BOTTOM = 64, 120, 30, 30  # its margins
COLOURS = ("#1f6f8b", "#c0562f", "#5a7d2a", "#7a4fa0")
TICKS = 4

Line = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Panel:
    """A title, and lines by their names: (x, y) of the same length."""

    title: str
    lines: Mapping[str, Line]


def step(span: float) -> float:
    """A round distance between ticks, so that about TICKS of them cover a span above 0."""
    raw = span / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= raw)


def svg(label: str, panels: Sequence[Panel]) -> str:
    """The picture: panels below each other over the same kind of x, whose label is given."""
    parts = [_panel(each, label, number * HEIGHT) for number, each in enumerate(panels)]
    size = f'width="{WIDTH}" height="{HEIGHT * len(panels)}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
    )
    return (
        "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"])
        + "\n"
    )


def _panel(panel: Panel, label: str, top: int) -> str:
    xs = [x for line in panel.lines.values() for x in line[0]]
    ys = [y for line in panel.lines.values() for y in line[1] if math.isfinite(y)]
    most_x, most_y = max(xs, default=0.0) or 1.0, max(ys, default=0.0) or 1.0
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def across(x: float) -> float:
        return LEFT + wide * x / most_x

    def down(y: float) -> float:
        return top + TOP + high * (1 - max(y, 0.0) / most_y)

    out = [f'<text x="{LEFT}" y="{top + 18}" font-weight="bold">{escape(panel.title)}</text>']
    for value in _ticks(most_y):
        at = down(value)
        out.append(
            f'<line x1="{LEFT}" x2="{LEFT + wide}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>'
        )
        out.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in _ticks(most_x):
        out.append(
            f'<text x="{across(value):.1f}" y="{top + HEIGHT - 14}"'
            f' text-anchor="middle">{value:g}</text>'
        )
    out.append(f'<text x="{LEFT + wide + 8}" y="{top + HEIGHT - 14}">{escape(label)}</text>')
    for number, (name, (line_x, line_y)) in enumerate(panel.lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(
            f"{across(x):.1f},{down(y):.1f}"
            for x, y in zip(line_x, line_y, strict=True)
            if math.isfinite(y)
        )
        out.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.3"/>'
        )
        out.append(
            f'<text x="{LEFT + wide + 8}" y="{top + TOP + 14 * number + 8}"'
            f' fill="{colour}">{escape(name)}</text>'
        )
    return "\n".join(out)


def _ticks(most: float) -> list[float]:
    distance = step(most)
    return [distance * i for i in range(int(most / distance + 1e-9) + 1)]
