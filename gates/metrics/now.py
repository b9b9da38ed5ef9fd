"""What the ledger does not record: the present, and how long commits took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# Upper bounds in seconds: a small pane takes some hundredths, one with a language model minutes
BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)


@dataclass
class Latencies:
    """How long panes took from their close to their ledger entry.

    Attributes:
        counts: Number of panes by bucket; the last one is above all bounds.
        last: The last pane of each bucket, and its seconds.
    """

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0
    last: dict[int, tuple[int, float]] = field(default_factory=dict[int, tuple[int, float]])

    def add(self, pane: int, seconds: float) -> None:
        """Add a pane."""
        bucket = next((n for n, bound in enumerate(BOUNDS) if seconds <= bound), len(BOUNDS))
        self.counts[bucket] += 1
        self.seconds += seconds
        self.last[bucket] = (pane, seconds)


@dataclass(frozen=True)
class Now:
    """The present state of a gate.

    Attributes:
        time: Time of the clock, seconds since 1970.
        held: Whether the gate is held.
        readable: Whether the ledger could be read just now.
        finished: Whether a run on files has read its whole input.
        committed: When the last pane was committed, seconds since 1970; None if not known.
        since: When each attribute's state began, seconds since 1970; the pane's own state is under
            the empty name.
        read: Stored bytes of the input up to the last commit; None if not known.
        size: Stored bytes of the whole input; None if not known.
        pane_seconds: Span of a topic's pane in seconds; None for files.
        filling: Seconds for which the pane that is being filled has waited; None if not known.
        backlog: Records of each partition that are not committed yet; empty if not known.
        disk: Free and all bytes of the output's file system; None if not known.
        latencies: From a pane's close to its ledger entry.
        triggers: Number of runs of triggers, by rule and outcome: done, failed or pending.
    """

    time: float
    held: bool
    readable: bool = True
    finished: bool = False
    committed: float | None = None
    since: Mapping[str, float] = field(default_factory=dict[str, float])
    read: int | None = None
    size: int | None = None
    pane_seconds: float | None = None
    filling: float | None = None
    backlog: Mapping[int, int] = field(default_factory=dict[int, int])
    disk: tuple[int, int] | None = None
    latencies: Latencies = field(default_factory=Latencies)
    triggers: Mapping[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
