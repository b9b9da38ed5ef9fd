"""What a petabyte takes, by simulation of measured parts: python tests/benchmarks/simulate.py

Workers make panes, and one committer with a lease commits them in their order, in an object store.
The parts were measured: the speed of a core is that of the page “Cost”, the requests a
pane are those of the page “Measured”, the committer's CPU was measured at
commit 8f745def. Lease, look and limits are the gate's own constants. Prices, the store's latency
and its limits are options: the defaults are assumptions.

Prints where each part is full, what 1 PB takes and costs, and how long a lost committer is felt.
"""

from __future__ import annotations

import argparse
import heapq
import random
from collections.abc import Iterator
from dataclasses import dataclass

from evenflow.gates.lease import BEAT_SECONDS, LEASE_SECONDS
from evenflow.pipelines.engine.runners.making import LOOK_SECONDS, MOST_WAITING

PETABYTE = 10**15
MB_A_SECOND = {"measure": 6.31, "weight": 3.27, "substitute": 0.07}  # of one core
MADE_WRITES = 3.0  # requests a pane, of the worker
COMMIT_IN_TURN = 8.7  # of the committer, one after the other
WRITES, READS, LISTS = 9.5, 5.5, 2.2  # of all; copies are writes, deletions are free
COMMIT_CPU = 1 / 47  # seconds
START_SECONDS = 3.0  # of the run that takes over
PANE_MIB = (64, 256, 1024)
SPREAD = 0.2  # standard deviation of the logarithm of a pane's time


@dataclass(frozen=True)
class Setting:
    """What is simulated: workers, seconds to make a pane and to commit it."""

    workers: int
    make: float
    commit: float


def commits(setting: Setting, panes: int, lost: int | None = None) -> list[float]:
    """When each pane is committed, in seconds.

    A worker begins the next pane as soon as it is free, unless more than MOST_WAITING that follow
    the last committed one are made and wait.

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
    done, end = 0, 0.0
    for pane in range(panes):
        begin = heapq.heappop(free)
        while done < pane and ready[done] <= begin:
            done += 1
        if done > MOST_WAITING:
            begin = max(begin, ends[done - 1 - MOST_WAITING])
        made = begin + setting.make * noise.lognormvariate(-(SPREAD**2) / 2, SPREAD)
        heapq.heappush(free, made)
        end = max(end, made) + setting.commit
        if pane == lost:  # another run waits for the lease, starts, and commits the pane again
            end += LEASE_SECONDS + BEAT_SECONDS / 2 + START_SECONDS
        ready.append(max(made, ready[-1] if ready else 0.0))
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


def full(make: float, given: argparse.Namespace, commit: float) -> list[float]:
    """Workers at which each part is full: committer, writes, reads and lists to one prefix."""
    return [
        make / commit,
        make * given.writes_a_second / WRITES,
        make * given.reads_a_second / (READS + LISTS),
    ]


def rows(given: argparse.Namespace) -> Iterator[list[str]]:
    """A row for each mode and size of a pane."""
    commit = COMMIT_IN_TURN * given.latency + COMMIT_CPU
    for mode, speed in MB_A_SECOND.items():
        for mib in PANE_MIB:
            size = mib << 20
            make = size / (speed * 1e6) + MADE_WRITES * given.latency
            setting = Setting(given.workers, make, commit)
            ends = commits(setting, given.panes)
            rate, (gap, caught) = pace(ends), felt(setting, ends)
            panes = PETABYTE / size
            asked = (WRITES + LISTS) * given.write_price + READS * given.read_price
            yield [
                mode,
                f"{mib:,}",
                *(f"{each:,.0f}" for each in full(make, given, commit)),
                f"{rate * commit:.0%}",
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
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--panes", type=int, default=50_000, help="that are simulated")
    parser.add_argument("--latency", type=float, default=0.02, help="seconds a request")
    parser.add_argument("--writes-a-second", type=float, default=3500, help="the store allows")
    parser.add_argument("--reads-a-second", type=float, default=5500, help="the store allows")
    parser.add_argument("--write-price", type=float, default=0.005, help="$ for 1,000")
    parser.add_argument("--read-price", type=float, default=0.0004, help="$ for 1,000")
    parser.add_argument("--core-hour", type=float, default=0.04, help="$")
    parser.add_argument("--tokens", type=float, default=0.1, help="$ for 10^6, read by an LLM")
    given = parser.parse_args()
    for row in (list(COLUMNS), ["---"] * len(COLUMNS), *rows(given)):
        print(f"| {' | '.join(row)} |")
    tokens = PETABYTE / 4
    print(
        f"\nan LLM that reads 1 PB: {tokens:.2g} tokens, ${tokens / 1e6 * given.tokens:,.0f}"
        f"\nlease: a beat takes {given.latency / BEAT_SECONDS:.0%} of the time to the next"
    )


if __name__ == "__main__":
    main()
