"""Counts what a commit asks of an object store: python tests/benchmarks/store_requests.py

Panes of mixed text are made first, in a store in memory, and then committed, with and without a
delay of --latency for each request. The difference tells how many requests a pane wait for others.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import obstore
from bench import corpus

from evenflow.pipelines.engine import loop
from evenflow.pipelines.engine.files import driver
from evenflow.pipelines.engine.make import make_pane
from evenflow.schemas.config import load
from evenflow.transforms.storage.storage import at

KINDS = ("put", "get", "head", "copy", "delete", "list", "list_with_delimiter", "open_reader")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--panes", type=int, default=128)
    parser.add_argument("--docs", type=int, default=20, help="of a pane")
    parser.add_argument("--latency", type=float, default=0.03, help="seconds a request")
    given = parser.parse_args()
    calls, now, found = Counter[str](), [0.0], dict[str, Any]()

    def slow(kind: str) -> None:
        call = getattr(obstore, kind)

        def wrapped(*arguments: Any, **options: Any) -> Any:
            calls[kind] += 1
            time.sleep(now[0])
            return call(*arguments, **options)

        setattr(obstore, kind, wrapped)

    for kind in KINDS:
        slow(kind)
    delay = 0.0

    def made(panes: Any, context: Any, executor: Any, workers: int) -> Any:
        number = 0
        for pane in panes:
            make_pane(pane, context)
            number += 1
        calls.clear()
        now[0], wall, cpu, done = delay, time.perf_counter(), time.process_time(), 0
        while done < number:
            ready = context.staging.found(done)
            done += len(ready)
            yield ready
        now[0] = 0.0
        found.update(panes=number, wall=time.perf_counter() - wall, cpu=time.process_time() - cpu)

    loop.made = made
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.jsonl"
        corpus(1_500_000, path)
        texts = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        rows = (texts[n % len(texts)] | {"id": f"d{n}"} for n in range(given.panes * given.docs))
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        walls: list[float] = []
        for delay in (0.0, given.latency):
            output = at(f"memory://run{time.time_ns()}/out")
            driver.Run([str(path)], output, load(None, {"pane.docs": given.docs})).go()
            walls.append(found["wall"])
            n = found["panes"]
            each = {kind: round(count / n, 2) for kind, count in calls.items()}
            print(f"{delay * 1000:.0f} ms a request: {1000 * walls[-1] / n:.1f} ms a pane,", end="")
            print(f" CPU {1000 * found['cpu'] / n:.1f} ms a pane; requests a pane {each}")
        print(f"one after the other: {(walls[1] - walls[0]) / given.latency / n:.2f} a pane")


if __name__ == "__main__":
    main()
