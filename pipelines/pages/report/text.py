"""Formats figures and text from outside for the page, which prints nothing else."""

from __future__ import annotations

import datetime

from markupsafe import Markup

from evenflow.pipelines.terminal.lines import counted, visible

LONG = 44  # characters of an id or name that are shown; the title has the whole
TITLE = 1_000  # characters of a title: an id may be as long as a document
GAP = Markup("&nbsp;")  # between a number and its unit
NONE = Markup("–")
NAME = 40  # characters of a name; those of shipped lists have 22 at most
UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def shown(value: object) -> object:
    """Replace the invisible characters of a text, for Jinja.

    Args:
        value: What an expression gave.

    Returns:
        A text with its invisible characters made visible; any other value as it is.
    """
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isprintable():
        return visible(value)
    return value


def outside(text: str, limit: int = LONG) -> Markup:
    """Format text from outside: escaped, and isolated from the direction of its surroundings.

    Args:
        text: The text.
        limit: Characters that are shown; the title of a longer text has the whole.

    Returns:
        The HTML.
    """
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


def number(value: float | None) -> Markup:
    """Format a count, with commas between thousands."""
    return NONE if value is None else Markup(f"{value:,.0f}")


def score(value: float | None) -> Markup:
    """Format a DR or threshold: three digits, since its interval justifies no more."""
    return NONE if value is None else Markup(f"{value:.3f}")


def short(value: float | None) -> Markup:
    """Format a setting as it was written: 0.25, not 0.250."""
    return NONE if value is None else Markup(f"{value:g}")


def interval(low: float | None, high: float | None) -> Markup:
    """Format an interval.

    Args:
        low: The lower bound; None: no interval.
        high: The upper bound; None: no interval.

    Returns:
        The HTML.
    """
    return NONE if low is None or high is None else Markup(f"{low:.3f}&nbsp;–&nbsp;{high:.3f}")


def percent(share: float | None) -> Markup:
    """Format a share (0..1) in per cent; only 0 reads 0."""
    if share is None:
        return NONE
    if 0 < share < 0.0005:
        return Markup("&lt;&nbsp;0.1") + GAP + "%"
    return Markup(f"{100 * share:.1f}") + GAP + "%"


def points(difference: float | None) -> Markup:
    """Format a difference of two shares in percentage points, with its sign."""
    if difference is None:
        return NONE
    value = f"{100 * difference:+.1f}".replace("-", "−")
    return Markup("0.0") if value in ("+0.0", "−0.0") else Markup(value)


def size(count: float | None) -> Markup:
    """Format a number of bytes in decimal units."""
    if count is None:
        return NONE
    for unit, name in UNITS:
        if count >= unit:
            value = count / unit
            return Markup(f"{value:,.1f}" if value < 100 else f"{value:,.0f}") + GAP + name
    return Markup(f"{count:.0f}") + GAP + "B"


def rate(value: float | None) -> Markup:
    """Format a rate a second: three significant digits."""
    if value is None:
        return NONE
    return Markup(
        f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    )


def duration(seconds: float) -> Markup:
    """Format a time in seconds for people."""
    if seconds < 60:
        return Markup(f"{seconds:.1f}") + GAP + "s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return (
        Markup(f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}")
        + GAP
        + ("h" if hours else "min")
    )


def moment(milliseconds: int) -> Markup:
    """Format milliseconds since 1970 as date and time (UTC)."""
    try:
        since = datetime.timedelta(seconds=milliseconds // 1000)
        return Markup(f"{datetime.datetime(1970, 1, 1) + since:%Y-%m-%d %H:%M:%S}")
    except OverflowError:  # a record's own time may be anything
        return Markup(f"{milliseconds} ms")


def listed(parts: list[Markup]) -> Markup:
    """Join parts as a list: a, b and c."""
    return Markup(" and ").join(
        [Markup(", ").join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts
    )


def whole(text: str) -> str:
    """Format text for a title; it is cut only where it is as long as a document."""
    clean = visible(text)
    return clean if len(clean) <= TITLE else clean[:TITLE] + "…"


FILTERS = {
    each.__name__: each
    for each in (
        outside,
        named,
        counted,
        lines,
        number,
        score,
        short,
        percent,
        points,
        size,
        rate,
        duration,
        moment,
        whole,
    )
}
