"""Ledgers for the tests of the board: a long stream in segments, and outputs that grow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import report_ledgers

from evenflow.gates.ledger import segments
from evenflow.gates.ledger.files import canonical, write_entry
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.documents import SENTENCES
from evenflow.schemas.ledger import PaneEntry, Position, Shard, StreamPane
from evenflow.transforms.io.records import dead_letter

MINUTE = 60_000
SENTENCE = {
    "attribute": "gender",
    "sent_id": 0,
    "start": 0,
    "end": 14,
    "sent_text": "A sister came.",
    "words_per_group": [("female", ["sister"])],
    "counts_per_group": [("female", 1)],
    "relevant_sentence": True,
    "remove_sentence": False,
    "text_cda": "A brother came.",
    "sets": [
        {"set": 0, "source": "female", "target": "male", "confidence": 0.9, "reason": None},
        {"set": 1, "source": "female", "target": None, "confidence": 0.1, "reason": "too unsure"},
    ],
}
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


def documents(root: Path, entry: PaneEntry, rows: list[dict[str, Any]]) -> PaneEntry:
    """Give a pane one shard with documents and its table of sentences; the entry with both."""
    texts = [row.get("text", "A sister came.") for row in rows]
    shard = pa.table(
        {"id": [row["id"] for row in rows], "text": pa.array(texts, pa.large_string())}
    )
    changed = [row["sentence"] for row in rows if "sentence" in row]
    table = pa.Table.from_pylist([SENTENCE | each for each in changed], schema=SENTENCES)
    name = f"part-{entry.pane:08d}"
    files = {entry.folder: (f"{name}-0000.parquet", shard), "sentences": (f"{name}.parquet", table)}
    sealed = {}
    for folder, (file, each) in files.items():
        (root / folder).mkdir(parents=True, exist_ok=True)
        pq.write_table(each, root / folder / file)
        sealed[folder] = Shard(name=file, rows=each.num_rows, bytes=1, sha256="0" * 64)
    return entry.model_copy(
        update={"shards": [sealed[entry.folder]], "sentence_table": sealed["sentences"]}
    )


def dead(root: Path, entry: PaneEntry, raws: list[bytes], reason: str = "not JSON") -> PaneEntry:
    """Give a pane a file of dead letters; the entry with it."""
    letters = [dead_letter("in.jsonl", number, reason, raw) for number, raw in enumerate(raws)]
    name = f"part-{entry.pane:08d}.jsonl"
    (root / "dead-letter").mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(each) + "\n" for each in letters)
    (root / "dead-letter" / name).write_text(lines)
    shard = Shard(name=name, rows=len(raws), bytes=len(lines), sha256="0" * 64)
    return entry.model_copy(
        update={"dead": len(raws), "dead_reasons": {reason: len(raws)}, "dead_letters": shard}
    )
