"""What a petabyte takes, by simulation of measured parts: python tests/benchmarks/simulate.py

Workers make panes, and one committer with a lease commits them in their order, in an object store,
those that wait at once. The parts were measured: the speed of a core is that of the page “Cost”,
requests and the committer's CPU are those of the page “Measured”. Lease, look and limits are the
gate's own constants. Prices and the store's latency are options: the defaults are assumptions.

Prints where each part is full, what 1 PB takes and costs, and how long a lost committer is felt.
"""

from __future__ import annotations

import argparse
import heapq
import random
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from evenflow.gates.lease import BEAT_SECONDS, LEASE_SECONDS
from evenflow.pipelines.engine.panes.closing import TOGETHER
from evenflow.pipelines.engine.runners.making import LOOK_SECONDS, MOST_WAITING

PETABYTE = 10**15
MB_A_SECOND = {"measure": 35.7, "weight": 30.4, "substitute": 0.129}  # of one core
MADE_WRITES = 3.0  # requests a pane, of the worker
COMMIT_IN_TURN = 12  # of the committer for a commit, one after the other
WRITES, READS, LISTS = 6.0, 2.1, 1.0  # a pane, of all; copies are writes, deletions are free
COMMIT_CPU = 0.024  # seconds a pane
START_SECONDS = 3.0  # of the run that takes over
PANE_MIB = (256, 512, 1024)
SPREAD = 0.2  # standard deviation of the logarithm of a pane's time


@dataclass(frozen=True)
class Setting:
    """What is simulated: workers, seconds to make a pane, and of a commit and each of its panes."""

    workers: int
    make: float
    commit: float
    pane: float


def commits(setting: Setting, panes: int, lost: int | None = None) -> list[float]:
    """When each pane is committed, in seconds.

    A worker begins the next pane as soon as it is free, unless more than MOST_WAITING that follow
    the last committed one are made and wait. A commit takes all that wait, TOGETHER at most.

    Args:
        setting: What is simulated.
        panes: How many panes.
        lost: The pane whose commit the committer does not outlive; None: it lives.

    Returns:
        The times (n,).
    """
    noise = random.Random(0)
    free = [0.0] * setting.workers
    ready, ends = list[float](), list[float]()  # when a pane and all before it are made, committed
    done, start, end, first = 0, 0.0, 0.0, 0  # of the last commit and its first pane
    for pane in range(panes):
        begin = heapq.heappop(free)
        while done < pane and ready[done] <= begin:
            done += 1
        if done > MOST_WAITING:
            begin = max(begin, ends[done - 1 - MOST_WAITING])
        made = begin + setting.make * noise.lognormvariate(-(SPREAD**2) / 2, SPREAD)
        heapq.heappush(free, made)
        ready.append(max(made, ready[-1] if ready else 0.0))
        if not pane or ready[pane] > start or pane - first == TOGETHER:
            first, start = pane, end + LOOK_SECONDS * max(ceil((made - end) / LOOK_SECONDS), 0)
            end = start + setting.commit
        end += setting.pane
        if pane == lost:  # another run waits for the lease, starts, and commits the panes again
            end += LEASE_SECONDS + BEAT_SECONDS / 2 + START_SECONDS
        ends.append(end)
    return ends


def pace(ends: list[float]) -> float:
    """Panes a second once all workers work: between the middle and the last tenth."""
    begin, end = len(ends) // 2, len(ends) * 9 // 10
    return (end - begin) / (ends[end] - ends[begin])


def felt(setting: Setting, ends: list[float]) -> tuple[float, float | None]:
    """How long a lost committer is felt.

    Returns:
        How much later its pane is committed, and the seconds until as many panes are committed as
        without the loss; None: the committer has no time to catch up.
    """
    lost = len(ends) // 2
    other = commits(setting, len(ends), lost)
    late = [after - before for before, after in zip(ends, other, strict=True)]
    caught = next((p for p in range(lost, len(ends)) if late[p] < LOOK_SECONDS), None)
    return late[lost], None if caught is None else other[caught - 1] - ends[lost]


def full(setting: Setting) -> list[float]:
    """Workers at which each part is full: committer, writes, reads and lists to one prefix."""
    return [
        setting.make * TOGETHER / (setting.commit + TOGETHER * setting.pane),
        setting.make * 3500 / WRITES,
        setting.make * 5500 / (READS + LISTS),
    ]


def rows(given: argparse.Namespace) -> Iterator[list[str]]:
    """A row for each mode and size of a pane."""
    for mode, speed in MB_A_SECOND.items():
        for mib in PANE_MIB:
            size = mib << 20
            make = size / (speed * 1e6) + MADE_WRITES * given.latency
            setting = Setting(given.workers, make, COMMIT_IN_TURN * given.latency, COMMIT_CPU)
            limits = full(setting)
            ends = commits(setting, given.panes)
            rate, (gap, caught) = pace(ends), felt(setting, ends)
            panes = PETABYTE / size
            asked = (WRITES + LISTS) * given.write_price + READS * given.read_price
            yield [
                mode,
                f"{mib:,}",
                *(f"{each:,.0f}" for each in limits),
                f"{rate * make / limits[0]:.0%}",
                f"{rate * make / given.workers:.0%}",
                f"{panes / rate / 86_400:,.1f}",
                f"{panes * asked / 1000:,.0f}",
                f"{PETABYTE / (speed * 1e6) / 3600 * given.core_hour:,.0f}",
                f"{gap:.0f}",
                "never" if caught is None else f"{caught:.0f}",
            ]


COLUMNS = (
    *("mode", "pane, MiB", "committer full", "writes full", "reads full", "committer busy"),
    *("workers busy", "1 PB, days", "requests, $", "cores, $", "gap, s", "caught up, s"),
)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workers", type=int, default=160)
    parser.add_argument("--panes", type=int, default=20_000, help="that are simulated")
    parser.add_argument("--latency", type=float, default=0.02, help="seconds a request")
    parser.add_argument("--write-price", type=float, default=0.005, help="$ for 1,000")
    parser.add_argument("--read-price", type=float, default=0.0004, help="$ for 1,000")
    parser.add_argument("--core-hour", type=float, default=0.04, help="$")
    given = parser.parse_args()
    for row in (list(COLUMNS), ["---"] * len(COLUMNS), *rows(given)):
        print(f"| {' | '.join(row)} |")
    print(f"\nlease: a beat takes {given.latency / BEAT_SECONDS:.0%} of the time to the next")


if __name__ == "__main__":
    main()
