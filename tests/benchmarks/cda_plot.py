"""Curves with labelled points as one SVG: how much is gained beside how much of it is right; the standard library alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 760, 520  # in pixels
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 66, 50  # margins
COLOURS = ("#1f6f8b", "#c0562f", "#5a7d2a", "#7a4fa0")
STEP = 20  # between ticks, in %
ARM = 5  # of a cross, in pixels


class Mark(NamedTuple):
    """A point, x and y in %, and what stands beside it."""

    x: float
    y: float
    label: str


@dataclass(frozen=True)
class Curve:
    """Points that a line joins in their order; squares and crosses of the same colour, which stand alone."""

    name: str
    line: Sequence[Mark]
    squares: Sequence[Mark]
    crosses: Sequence[Mark]


def svg(across: str, up: str, curves: Sequence[Curve]) -> str:
    """The picture: both axes from 0 to 100 %, x from the least below 0 where there is one. across, up: the axes' names."""
    lowest = min((mark.x for each in curves for mark in (*each.line, *each.squares, *each.crosses)), default=0.0)
    first = STEP * int(min(lowest, 0.0) // STEP)

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - first) / (100 - first)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / 100)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 12, across, "#000", "middle"),
        _text(LEFT, TOP - 48, up, "#000", "start"),
    ]
    for value in range(first, 101, STEP):
        out.append(_line(x(value), y(0), x(value), y(100), "#ddd"))
        out.append(_text(x(value), y(0) + 16, str(value), "#000", "middle"))
    for value in range(0, 101, STEP):
        out.append(_line(x(first), y(value), x(100), y(value), "#ddd"))
        out.append(_text(LEFT - 6, y(value) + 4, str(value), "#000", "end"))
    for number, curve in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x(mark.x):.1f},{y(mark.y):.1f}" for mark in curve.line)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        out += [f'<circle cx="{x(mark.x):.1f}" cy="{y(mark.y):.1f}" r="3.5" fill="{colour}"/>' for mark in curve.line]
        for mark in curve.squares:
            out.append(f'<rect x="{x(mark.x) - 4:.1f}" y="{y(mark.y) - 4:.1f}" width="8" height="8" fill="{colour}"/>')
        for mark in curve.crosses:
            at, to = x(mark.x), y(mark.y)
            out.append(_line(at - ARM, to - ARM, at + ARM, to + ARM, colour))
            out.append(_line(at - ARM, to + ARM, at + ARM, to - ARM, colour))
        for mark in (*_together(curve.line), *curve.squares, *curve.crosses):
            right = x(mark.x) > WIDTH - 90  # no room for the words on that side
            out.append(_text(x(mark.x) + (-8 if right else 8), y(mark.y) - 6, mark.label, colour, "end" if right else "start"))
        place = LEFT + 110 * number
        out.append(_line(place, TOP - 32, place + 18, TOP - 32, colour))
        out.append(_text(place + 24, TOP - 28, curve.name, colour, "start"))
    return "\n".join([*out, "</svg>"]) + "\n"


def _together(marks: Sequence[Mark]) -> list[Mark]:
    """Points that fall on one another as one, with the labels of all."""
    labels: dict[tuple[float, float], list[str]] = {}
    for mark in marks:
        labels.setdefault((round(mark.x, 1), round(mark.y, 1)), []).append(mark.label)
    return [Mark(x, y, ", ".join(own)) for (x, y), own in labels.items()]


def _text(x: float, y: float, said: str, colour: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{escape(said)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="1.5"/>'
