"""Within a pane an id names one document: the first in source order stays, later ones become dead letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.documents import Figures
from evenflow.transforms import fields, sentence_table
from evenflow.transforms.annotate import Annotator
from evenflow.transforms.records import dead_letter
from evenflow.transforms.shards import read_block, write_block

REASON = "duplicate id"


def repeated(staged: Sequence[Path]) -> Iterator[tuple[Path, list[int], list[str]]]:
    """Blocks with documents whose id came before: their rows, and where each id stands first."""
    seen: set[str] = set()
    doubtful: dict[Path, list[str]] = {}
    for path in staged:
        ids = read_block(path).column(0).to_pylist()
        before = len(seen)
        seen.update(ids)
        if len(seen) < before + len(ids):
            doubtful[path] = ids
    if not doubtful:
        return
    first: dict[str, str] = {}
    for path in staged:
        block = read_block(path)
        file = (block.schema.metadata or {}).get(documents.FILE, b"").decode()
        rows: list[int] = []
        places: list[str] = []
        for row, (identity, ordinal) in enumerate(zip(block.column(0).to_pylist(), block.column(2).to_pylist(), strict=True)):
            place = first.setdefault(identity, f"{file}, record {ordinal}")
            if place != f"{file}, record {ordinal}":
                rows.append(row)
                places.append(place)
        if rows:
            yield path, rows, places


def drop(path: Path, rows: Sequence[int], places: Sequence[str], annotator: Annotator) -> tuple[Figures, list[dict[str, Any]]]:
    """Take rows out of a staged block: the block's figures without them, and their dead letters."""
    block = read_block(path)
    file = (block.schema.metadata or {}).get(documents.FILE, b"").decode()
    first = 3 + len(annotator.own)
    others = block.select(list(range(first, block.num_columns)))
    names = annotator.config.fields
    letters = []
    for row, place in zip(rows, places, strict=True):
        values = {names.id: block.column(0)[row].as_py(), names.text: block.column(1)[row].as_py()}
        values |= fields.record(others, list(others.schema), row)
        reason = f"{REASON}: {block.column(0)[row].as_py()!r} came first in {place}"
        raw = fields.to_json(values).encode("utf-8", "backslashreplace")
        letters.append(dead_letter(file, block.column(2)[row].as_py(), reason, raw))
    keep = np.ones(block.num_rows, bool)
    keep[list(rows)] = False
    rest = block.filter(pa.array(keep)).combine_chunks()
    write_block(rest, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)
    if annotator.proposer is not None:
        from evenflow.transforms import proposals  # it loads models and a solver, which are not needed without

        gone = [block.column(2)[row].as_py() for row in rows]
        proposals.drop(path.with_suffix(proposals.SUFFIX), gone)
    if path.with_suffix(sentence_table.SUFFIX).exists():
        sentence_table.drop(path.with_suffix(sentence_table.SUFFIX), [block.column(2)[row].as_py() for row in rows])
    ids, texts, ordinals = (rest.column(i).to_pylist() for i in range(3))
    figures, _ = annotator.count(file, ids, texts, ordinals)
    figures.dead_reasons[REASON] = len(letters)
    return figures, letters
