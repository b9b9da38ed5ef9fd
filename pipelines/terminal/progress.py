"""Progress of a run, on standard error alone: a bar, plain lines, or JSON lines.

A terminal gets the bar. Other outputs get plain lines, or JSON lines for programs.

A JSON line is an object with these fields:

    event          "progress" (at most one in LINE_SECONDS) or "pane" (one was committed)
    time           when, ISO 8601 in UTC
    documents      read since this start; panes committed before a restart do not count
    committed      how many of these are in committed panes
    bytes          of the records read since this start, decompressed
    mb_per_second  10^6 of those bytes a second, on average since this start
    done           share of the input that is done, 0 to 1; null where unknown
    seconds_left   at that pace; null where unknown

A "pane" event also has: pane (its number), verdict, reason, folder, pane_documents, dead_letters,
and for each attribute dr (rolling, null without a mention) and state; of a topic also
seconds_since_its_start.

A run that ends early prints another event, with the fields time, message and status (the exit
status): "error", "stopped" (by a signal), or "held" (before the end of the input). The event "log"
has what a library logged.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from evenflow.pipelines.terminal.lines import counted, event, visible
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import PaneEntry
from evenflow.schemas.words import duration, said, score, size
from evenflow.transforms.io import formats

if TYPE_CHECKING:
    from evenflow.pipelines.terminal.outcome import PaneProgress

LINE_SECONDS = 5.0  # between two lines that report no pane, so that a log stays readable
REDRAWS = 4  # of the bar a second
BAR_WIDTH = 24  # columns: bar and figures fit in 80
# Share of a block's work that is done when it is read; the rest is judging and committing its pane.
# With it the bar moves within a pane, and is full only at the end.
READ = 0.5


@dataclass
class Pace:
    """What was read and committed since the start, and the pace that follows from it.

    `began`: The start, in seconds of any clock.
    """

    began: float
    total: int
    likely: float
    documents: int = 0
    size: int = 0
    committed_documents: int = 0
    committed_size: int = 0
    share: float = 0.0
    size_then: int = 0
    mark: tuple[float, float] | None = None
    scores: dict[str, float | None] = field(default_factory=dict)

    def read(self, figures: Figures) -> None:
        """Count a block that was read, from its figures."""
        self.documents += figures.documents
        self.size += figures.input_bytes

    def committed(self, progress: PaneProgress, now: float) -> None:
        """Count a pane that was committed.

        `now`: The time, in seconds.
        """
        entry = progress.entry
        first = not self.committed_documents
        self.committed_documents += entry.documents + (
            entry.set_aside.rows if entry.set_aside else 0
        )
        self.committed_size += entry.input_bytes
        # With several workers only panes are reported, not blocks.
        self.documents = max(self.documents, self.committed_documents)
        self.size = max(self.size, self.committed_size)
        if progress.total_bytes:
            self.share, self.size_then = progress.input_bytes / progress.total_bytes, self.size
        self.scores = {name: each.rolling.dr for name, each in entry.attributes.items()}
        if first and entry.pane:  # a restart: earlier panes took none of this time
            self.mark = (now, self.done() or 0.0)

    def rate(self, now: float) -> float:
        """Average speed up to a time, in 10^6 bytes of records a second."""
        return self.size / 1e6 / (now - self.began) if now > self.began else 0.0

    def done(self) -> float | None:
        """Estimate how much of the input is done.

        Returns A share from 0 to 1; None where the size of the input is unknown.
        """
        if not self.likely:
            return None
        read = min(self.share + (self.size - self.size_then) / self.likely, 1.0)
        waiting = (self.size - self.committed_size) / self.likely
        return max(read - waiting * (1 - READ), 0.0)

    def left(self, now: float) -> float | None:
        """Estimate the time that the rest takes.

        `now`: The time, in seconds.
        """
        since, at = self.mark or (self.began, 0.0)
        done = self.done()
        if done is None or done <= at or now <= since:
            return None
        return (1 - done) * (now - since) / (done - at)


class Reporter:
    """Counts and prints nothing. Its methods may be called from any thread.

    `clock`: Gives the time in seconds.
    """

    def __init__(self, pace: Pace, clock: Callable[[], float]):
        self.pace = pace
        self.clock = clock
        self._lock = threading.Lock()
        self._broken = False

    def on_block(self, figures: Figures) -> None:
        """Report a block that was read, from its figures."""
        with self._lock:
            self.pace.read(figures)
            self._report(None)

    def on_measured(self, figures: Figures) -> None:
        """Report a block that is read and needs no commit, from its figures."""
        with self._lock:
            self.pace.read(figures)
            self.pace.committed_documents, self.pace.committed_size = (
                self.pace.documents,
                self.pace.size,
            )
            self._report(None)

    def on_pane(self, progress: PaneProgress) -> None:
        """Report a pane that was committed."""
        with self._lock:
            self.pace.committed(progress, self.clock())
            self._report(progress.entry)

    def _report(self, entry: PaneEntry | None) -> None:
        """Print a line about a committed pane, or (None) about a block."""


class Lines(Reporter):
    """Prints lines on standard error: one a pane, and one in LINE_SECONDS between them."""

    _last: float | None = None

    def _report(self, entry: PaneEntry | None) -> None:
        now = self.clock()
        if self._broken or (entry is None and now - (self._last or self.pace.began) < LINE_SECONDS):
            return
        self._last = now
        try:
            print(self._line(entry, now), file=sys.stderr, flush=True)
        except OSError:
            self._broken = True  # nobody reads it any more, which is no reason to end the run

    def _line(self, entry: PaneEntry | None, now: float) -> str:
        pace = self.pace
        ahead = ", ".join([f"{size(pace.rate(now) * 1e6)}/s", *_ahead(pace, now)])
        if entry is None:
            return f"reading: {counted(pace.documents, 'document')}, {ahead}"
        verdict = entry.verdict
        why = "" if verdict.state == "open" else f" ({visible(verdict.reason)})"
        done = f"{counted(pace.committed_documents, 'document')}, {ahead}"
        dead = f", {counted(entry.dead, 'dead letter')}" if entry.dead else ""
        # Late records go into a pane whose span has not begun
        waited = _late(entry) if entry.stream else -1
        late = f", {waited:.1f} s after its start" if waited >= 0 else ""
        done += f"{dead}{late}; {_scores(pace.scores)}"
        return f"pane {entry.pane}: {said(verdict.state)}{why}; {done}"


class JsonLines(Lines):
    """Prints the same as JSON objects, see the module's docstring."""

    def _line(self, entry: PaneEntry | None, now: float) -> str:
        pace = self.pace
        done, left = pace.done(), pace.left(now)
        fields: dict[str, Any] = {
            "documents": pace.documents,
            "committed": pace.committed_documents,
            "bytes": pace.size,
            "mb_per_second": round(pace.rate(now), 2),
            "done": None if done is None else round(done, 4),
            "seconds_left": None if left is None else round(left, 1),
        }
        if entry is None:
            return event("progress", fields)
        fields |= {
            "pane": entry.pane,
            "verdict": entry.verdict.state,
            "reason": entry.verdict.reason,
            "folder": entry.folder,
            "pane_documents": entry.documents,
            "dead_letters": entry.dead,
            "dr": pace.scores,
            "state": {name: each.verdict.state for name, each in entry.attributes.items()},
        }
        if entry.stream:
            fields["seconds_since_its_start"] = round(_late(entry), 3)
        return event("pane", fields)


class TerminalBar(Reporter):
    """Draws two lines in a terminal: bar, figures and time left; DR of each attribute."""

    _entry: PaneEntry | None = None

    def _report(self, entry: PaneEntry | None) -> None:
        self._entry = entry or self._entry

    def draw(self) -> Group:
        """Draw the bar and, after the first pane, the line of scores."""
        pace, now = self.pace, self.clock()
        done = pace.done()
        bar = ProgressBar(
            100.0, (done or 0.0) * 100, width=BAR_WIDTH, pulse=done is None or not pace.size
        )
        line = Table.grid(padding=(0, 1))
        words = [
            *_ahead(pace, now),
            f"{size(pace.rate(now) * 1e6)}/s",
            counted(pace.documents, "document"),
        ]
        line.add_row(bar, Text(", ".join(words), overflow="ellipsis", no_wrap=True))
        if self._entry is None:
            return Group(line)
        entry = self._entry
        scores = f"pane {entry.pane}: {said(entry.verdict.state)}; {_scores(pace.scores)}"
        return Group(line, Text(scores, style="dim", overflow="ellipsis", no_wrap=True))


@contextmanager
def reporter(
    log_format: str,
    sizes: Mapping[str, int],
    quiet: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Reporter]:
    """Report progress within the block.

    Args:
        sizes: The input's files with their stored bytes.
        quiet: Whether nothing is printed.
        clock: Gives the time in seconds.

    Yields:
        The reporter that blocks and panes are passed to.
    """
    likely = sum(size * formats.of(name).expansion for name, size in sizes.items())
    pace = Pace(clock(), sum(sizes.values()), likely)
    if quiet:
        yield Reporter(pace, clock)
    elif log_format == "json":
        yield JsonLines(pace, clock)
    elif not sys.stderr.isatty() or (console := Console(stderr=True)).is_dumb_terminal:
        yield Lines(pace, clock)
    else:
        bar = TerminalBar(pace, clock)
        live = Live(
            get_renderable=bar.draw,
            console=console,
            refresh_per_second=REDRAWS,
            redirect_stdout=False,
        )
        with live:
            yield bar


def _ahead(pace: Pace, now: float) -> list[str]:
    """How much is done and how long the rest takes, as far as known."""
    done, left = pace.done(), pace.left(now)
    share = [] if done is None else [f"{int(done * 100)} %"]
    return share if left is None else [*share, f"{duration(left)} left"]


def _late(entry: PaneEntry) -> float:
    """Seconds since the span of a topic's pane began."""
    return time.time() - entry.stream.span / 1000 if entry.stream else 0.0


def _scores(scores: Mapping[str, float | None]) -> str:
    """The rolling DR of each attribute in a line."""
    return "rolling DR " + ", ".join(f"{name} {score(dr)}" for name, dr in scores.items())
