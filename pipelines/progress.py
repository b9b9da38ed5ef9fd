"""Progress of a run: a bar on a terminal, plain or JSON lines elsewhere. All of it goes to standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from evenflow.pipelines.run import Progress as PaneDone
from evenflow.schemas.ledger import PaneEntry


@contextmanager
def reporter(log_format: str) -> Iterator[Callable[[PaneDone], None]]:
    """A function to call after each pane."""
    began = time.perf_counter()
    documents = 0
    done = 0
    if log_format == "text" and sys.stderr.isatty():
        columns = (BarColumn(), TextColumn("{task.percentage:>3.0f}% {task.description}"), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("reading", total=None)

            def show(pane: PaneDone) -> None:
                nonlocal documents, done
                documents += pane.entry.documents
                done += pane.entry.input_bytes
                rate = done / 1e6 / (time.perf_counter() - began)
                # Compressed input is smaller than what is read from it: the bar then ends early rather than late.
                bar.update(
                    task,
                    completed=min(pane.input_bytes, pane.total_bytes),
                    total=pane.total_bytes,
                    description=f"{rate:.1f} MB/s, {documents:,} documents, DR {_scores(pane.entry)}",
                )

            yield show
        return

    def line(pane: PaneDone) -> None:
        nonlocal documents
        entry = pane.entry
        documents += entry.documents
        if log_format == "json":
            record = {
                "event": "pane",
                "pane": entry.pane,
                "verdict": entry.verdict.state,
                "reason": entry.verdict.reason,
                "documents": documents,
                "mb_per_second": round(entry.input_bytes / 1e6 / pane.seconds, 2) if pane.seconds else None,
                "dr": {name: each.cumulative.dr for name, each in entry.attributes.items()},
            }
            print(json.dumps(record), file=sys.stderr, flush=True)
        else:
            rate = entry.input_bytes / 1e6 / pane.seconds if pane.seconds else 0.0
            print(
                f"pane {entry.pane}: {entry.verdict.state}, {documents:,} documents, {rate:.1f} MB/s, DR {_scores(entry)}",
                file=sys.stderr,
                flush=True,
            )

    yield line


def _scores(entry: PaneEntry) -> str:
    shown = (
        f"{name} {'-' if each.cumulative.dr is None else format(each.cumulative.dr, '.3f')}"
        for name, each in entry.attributes.items()
    )
    return ", ".join(shown)
