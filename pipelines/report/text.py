"""How figures and outside text are written on the page: all that it prints passes through here."""

from __future__ import annotations

import datetime

from markupsafe import Markup

from evenflow.pipelines.terminal.lines import visible

LONG = 44  # characters of an id or name that are shown; the whole stands in its title
TITLE = 1_000  # characters of a title: an id may be as long as a document
GAP = Markup("&nbsp;")  # between a number and its unit
NONE = Markup("–")
UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def shown(value: object) -> object:
    """What Jinja prints for an expression: text without anything that does not show, all else as it
    is.
    """
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isprintable():
        return visible(value)
    return value


def outside(text: str, limit: int = LONG) -> Markup:
    """Text from outside: escaped, isolated from the direction of what is around it, and cut with
    the whole in its title.
    """
    clean = visible(text)
    if len(clean) <= limit:
        return Markup("<bdi>{}</bdi>").format(clean)
    return Markup('<bdi title="{}">{}…</bdi>').format(whole(text), clean[: limit - 1].rstrip())


def lines(text: str) -> Markup:
    """Text of several lines for a <pre>: each line isolated and escaped."""
    return Markup("\n").join(
        Markup("<bdi>{}</bdi>").format(visible(line)) for line in text.split("\n")
    )


def number(value: float | None) -> Markup:
    """A count with its thousands apart."""
    return NONE if value is None else Markup(f"{value:,.0f}")


def score(value: float | None) -> Markup:
    """A DR or threshold: three digits, as many as its interval bears."""
    return NONE if value is None else Markup(f"{value:.3f}")


def short(value: float | None) -> Markup:
    """A setting as it was written: 0.25, not 0.250."""
    return NONE if value is None else Markup(f"{value:g}")


def interval(low: float | None, high: float | None) -> Markup:
    """An interval's bounds."""
    return NONE if low is None or high is None else Markup(f"{low:.3f}&nbsp;–&nbsp;{high:.3f}")


def percent(share: float | None) -> Markup:
    """A share (0..1) in per cent; what is not 0 does not read 0."""
    if share is None:
        return NONE
    if 0 < share < 0.0005:
        return Markup("&lt;&nbsp;0.1") + GAP + "%"
    return Markup(f"{100 * share:.1f}") + GAP + "%"


def points(difference: float | None) -> Markup:
    """A difference of two shares in percentage points, with its sign."""
    if difference is None:
        return NONE
    value = f"{100 * difference:+.1f}".replace("-", "−")
    return Markup("0.0") if value in ("+0.0", "−0.0") else Markup(value)


def size(count: float | None) -> Markup:
    """Bytes in decimal units."""
    if count is None:
        return NONE
    for unit, name in UNITS:
        if count >= unit:
            value = count / unit
            return Markup(f"{value:,.1f}" if value < 100 else f"{value:,.0f}") + GAP + name
    return Markup(f"{count:.0f}") + GAP + "B"


def rate(value: float | None) -> Markup:
    """Something a second: three digits that count."""
    if value is None:
        return NONE
    return Markup(
        f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    )


def duration(seconds: float) -> Markup:
    """A time for people."""
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
    """A time since 1970 as date and time (UTC)."""
    try:
        since = datetime.timedelta(seconds=milliseconds // 1000)
        return Markup(f"{datetime.datetime(1970, 1, 1) + since:%Y-%m-%d %H:%M:%S}")
    except OverflowError:  # a record's own time may be anything
        return Markup(f"{milliseconds} ms")


def counted(count: int, thing: str) -> str:
    """1 pane, 2 panes."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def listed(parts: list[Markup]) -> Markup:
    """a, b and c."""
    return Markup(" and ").join(
        [Markup(", ").join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts
    )


def whole(text: str) -> str:
    """Text for a title: all of it, unless it is as long as a document."""
    clean = visible(text)
    return clean if len(clean) <= TITLE else clean[:TITLE] + "…"


FILTERS = {
    each.__name__: each
    for each in (
        outside,
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
