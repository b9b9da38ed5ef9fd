"""What a run costs in an object store: requests a pane, and the time of the committer.

Runs the gate on an input with a store in memory, counts the client's calls by kind, and prints them
a pane, with a projection to large corpora. What the store's own latency adds is calculated from
--latency: the committer's requests follow each other.

    python tests/benchmarks/store_requests.py tests/data/speeches.jsonl.gz --pane-docs 5
"""

from __future__ import annotations

import argparse
import threading
import time
from collections import Counter
from typing import Any

import obstore

from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import load
from evenflow.transforms.storage.storage import at

KINDS = ("put", "get", "head", "copy", "delete", "list", "list_with_delimiter", "open_reader")
SIZES = (1, 10, 100)  # TB


def counted() -> dict[str, Counter[str]]:
    """Count the client's calls from now on, of the committing thread and of all others."""
    made: dict[str, Counter[str]] = {
        "committer": Counter(),
        "beside it": Counter(),
        "workers": Counter(),
    }
    main = threading.main_thread()

    def counting(kind: str) -> Any:
        call = getattr(obstore, kind)

        def wrapped(*arguments: Any, **options: Any) -> Any:
            who = "committer" if threading.current_thread() is main else "beside it"
            who = "workers" if _is_making() else who
            made[who][kind] += 1
            return call(*arguments, **options)

        return wrapped

    for kind in KINDS:
        setattr(obstore, kind, counting(kind))
    return made


def _is_making() -> bool:
    """Whether a pane is being made, further up in the calls."""
    import sys

    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "make_pane":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input")
    parser.add_argument("--pane-docs", type=int, default=5)
    parser.add_argument("--latency", type=float, default=0.02, help="seconds a request")
    parser.add_argument("--pane-mib", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--rate", type=float, default=25.0, help="MB/s a worker")
    options = parser.parse_args()
    made = counted()
    began = time.perf_counter()
    output = at("memory://requests/out")
    outcome = Run([options.input], output, load(None, {"pane.docs": options.pane_docs})).go()
    panes, seconds = outcome.new, time.perf_counter() - began
    print(f"{panes} panes in {seconds:.1f} s\n")
    print(f"{'requests a pane':<20}" + "".join(f"{kind:>21}" for kind in KINDS) + f"{'all':>8}")
    for who, counts in made.items():
        cells = "".join(f"{counts[kind] / panes:>21.2f}" for kind in KINDS)
        print(f"{who:<20}{cells}{sum(counts.values()) / panes:>8.2f}")
    a_pane = sum(made["committer"].values()) / panes * options.latency
    print(f"\ncommitter at {options.latency * 1000:.0f} ms a request: {1 / a_pane:.1f} panes/s")
    columns = ("TB", "pane MiB", "panes", "requests", "committer h", "worker h", "most workers")
    print("".join(f"{each:>14}" for each in columns))
    for mib in options.pane_mib:
        for size in SIZES:
            count = size * 10**12 / (mib << 20)
            requests = count * sum(sum(each.values()) for each in made.values()) / panes
            hours = count * a_pane / 3600
            work = size * 1e6 / options.rate / 3600
            cells = (size, mib, count, requests, hours, work, work / hours)
            print("".join(f"{each:>14,.0f}" for each in cells))


if __name__ == "__main__":
    main()
