"""Formats figures and text from outside for the page, which prints nothing else."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import wraps
from typing import Any

from markupsafe import Markup, escape

from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas import words

LONG = 44  # characters of an id or name that are shown; the title has the whole
TITLE = 1_000  # characters of a title: an id may be as long as a document
NAME = 40  # characters of a name; those of shipped lists have 22 at most


def shown(value: object) -> object:
    """Replace the invisible characters of a text, for Jinja.

    Returns A text with its invisible characters made visible; any other value as it is.
    """
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isprintable():
        return visible(value)
    return value


def outside(text: str, limit: int = LONG) -> Markup:
    """Format text from outside: escaped, and isolated from the direction of its surroundings."""
    clean = visible(text)
    if len(clean) <= limit:
        return Markup("<bdi>{}</bdi>").format(clean)
    return Markup('<bdi title="{}">{}…</bdi>').format(whole(text), clean[: limit - 1].rstrip())


def named(text: str) -> Markup:
    """Format the name of an attribute or a group."""
    return outside(text, NAME)


def lines(text: str) -> Markup:
    """Format text of several lines for a <pre>: each line isolated and escaped."""
    return Markup("\n").join(
        Markup("<bdi>{}</bdi>").format(visible(line)) for line in text.split("\n")
    )


def moment(milliseconds: int) -> Markup:
    """Format milliseconds since 1970 as date and time (UTC)."""
    try:
        since = datetime.timedelta(seconds=milliseconds // 1000)
        return Markup(f"{datetime.datetime(1970, 1, 1) + since:%Y-%m-%d %H:%M:%S}")
    except OverflowError:  # a record's own time may be anything
        return Markup(f"{milliseconds} ms")


def whole(text: str) -> str:
    """Format text for a title; it is cut only where it is as long as a document."""
    clean = visible(text)
    return clean if len(clean) <= TITLE else clean[:TITLE] + "…"


def _unbroken(of: Callable[..., str]) -> Callable[..., Markup]:
    """Make a filter that keeps a figure and its unit in a line."""

    @wraps(of)
    def shown(*given: Any) -> Markup:
        return escape(of(*given)).replace(" ", Markup("&nbsp;"))

    return shown


FIGURES = (words.number, words.score, words.short, words.percent, words.points)
UNITS = (words.size, words.duration)
FILTERS: dict[str, Callable[..., Any]] = {
    **{each.__name__: _unbroken(each) for each in (*FIGURES, *UNITS)},
    **{each.__name__: each for each in (outside, named, lines, moment, whole)},
    **{each.__name__: each for each in (words.counted, words.said)},
}
