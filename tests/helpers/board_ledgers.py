"""Ledgers for the tests of the board: a long stream in segments, and outputs that grow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import report_ledgers

from evenflow.gates.ledger import segments
from evenflow.gates.ledger.files import canonical, write_entry
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.ledger import PaneEntry, Position, StreamPane

MINUTE = 60_000
START = 1_767_225_600_000  # 2026-01-01, ms since 1970


def minutes(panes: int, seed: int = 1) -> list[PaneEntry]:
    """Panes of a stream, one a minute; every 256 panes repeat."""
    some = report_ledgers.entries(min(panes, segments.EVERY), seed)
    return [at_minute(some[number % len(some)], number) for number in range(panes)]


def at_minute(entry: PaneEntry, number: int) -> PaneEntry:
    """An entry as that of another pane."""
    time = START + number * MINUTE
    positions = {str(part): Position(next=number * 100, time=time + 40_000) for part in range(4)}
    stream = StreamPane(span=time, part=0, positions=positions)
    return entry.model_copy(update={"pane": number, "stream": stream})


def long(root: Path, panes: int, **settings: Any) -> Path:
    """An output whose ledger has many panes, in segments as a run leaves them."""
    report_ledgers.write(root, [], report_ledgers.settings(finished=False, **settings))
    totals = Totals()
    entries = minutes(panes)
    done = panes - panes % segments.EVERY
    for first in range(0, done, segments.EVERY):
        some = entries[first : first + segments.EVERY]
        raw = [canonical(entry.model_dump()) for entry in some]
        segments.write_segment(root, first, raw, some)
        for entry in some:
            totals.add(entry)
    if done:
        segments.write_checkpoint(root, totals)
    for entry in entries[done:]:
        (root / "ledger" / f"{entry.pane:08d}.json").write_bytes(canonical(entry.model_dump()))
    return root


def commit(root: Path, number: int) -> PaneEntry:
    """Commit the next pane as a run does, without compacting the ledger."""
    entry = at_minute(report_ledgers.entries(8)[number % 8], number)
    write_entry(root, entry)
    return entry
