"""An id names one document: the first in source order stays, whatever became of it; later ones
become dead letters.

Within a pane always. Across panes where it is asked for, by an index on disk (id_index).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.documents import Figures
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io import fields
from evenflow.transforms.io.blocks import position
from evenflow.transforms.io.records import dead_letter
from evenflow.transforms.staging import aside, sentence_table
from evenflow.transforms.staging.shards import read_block, replace_block

REASON = "duplicate id"
# Documents whose id came before, by their ordinals, and where each id stands first
Doubles = dict[int, str]


def repeated(
    folder: Path, stems: Sequence[str], known: Mapping[str, int] | None = None
) -> Iterator[tuple[str, Doubles]]:
    """Blocks of a pane, given in source order, with documents whose id came before.

    Those that a filter has set aside count as well: their sentences are in the table too. known:
    ids of earlier panes, and which; None where these do not count.
    """
    seen: set[str] = set(known or ())
    doubtful = bool(known)
    for stem in () if doubtful else stems:
        ids = [
            identity for table in _tables(folder, stem) for identity in table.column(0).to_pylist()
        ]
        before = len(seen)
        seen.update(ids)
        doubtful |= len(seen) < before + len(ids)
    if not doubtful:
        return
    first = {identity: f"pane {pane}" for identity, pane in (known or {}).items()}
    for stem in stems:
        found: Doubles = {}
        rows = [
            (ordinal, identity, (table.schema.metadata or {}).get(documents.FILE, b"").decode())
            for table in _tables(folder, stem)
            for identity, ordinal in zip(
                table.column(0).to_pylist(), table.column(2).to_pylist(), strict=True
            )
        ]
        for ordinal, identity, file in sorted(rows):
            own = "{}, record {}".format(*position(file, ordinal))
            place = first.setdefault(identity, own)
            if place != own:
                found[ordinal] = place
        if found:
            yield stem, found


def ids(folder: Path, stems: Sequence[str]) -> set[str]:
    """The ids of a pane's staged documents."""
    return {
        identity
        for stem in stems
        for table in _tables(folder, stem)
        for identity in table.column(0).to_pylist()
    }


def _tables(folder: Path, stem: str) -> list[pa.Table]:
    paths = (folder / f"{stem}{suffix}" for suffix in (".arrow", aside.SUFFIX))
    return [read_block(path) for path in paths if path.exists()]


def drop(
    folder: Path, stem: str, doubles: Doubles, annotator: Annotator, before: Figures
) -> tuple[Figures, list[dict[str, Any]]]:
    """Take documents out of a block: its figures without them, and their dead letters. before: its
    figures with them.
    """
    letters: list[dict[str, Any]] = []
    figures = before
    path = folder / f"{stem}.arrow"
    for each, own in ((path, 3 + len(annotator.own)), (path.with_suffix(aside.SUFFIX), aside.OWN)):
        if not each.exists():
            continue
        table = read_block(each)
        rows = [
            row for row, ordinal in enumerate(table.column(2).to_pylist()) if ordinal in doubles
        ]
        if not rows:
            continue
        letters += _letters(table, rows, own, doubles, annotator)
        keep = np.ones(table.num_rows, bool)
        keep[rows] = False
        rest = table.filter(pa.array(keep)).combine_chunks()
        replace_block(rest, each)
        if each == path:
            file = (table.schema.metadata or {}).get(documents.FILE, b"").decode()
            texts, ordinals = rest.column(1).to_pylist(), rest.column(2).to_pylist()
            figures, _ = annotator.count(file, rest.column(0).to_pylist(), texts, ordinals)
            figures.input_bytes, figures.llm, figures.dead_reasons = (
                before.input_bytes,
                before.llm,
                before.dead_reasons,
            )
        elif not rest.num_rows:
            each.unlink()
    if annotator.proposer is not None:
        # It loads models and a solver, which are not needed without
        from evenflow.transforms.staging import proposals

        if path.with_suffix(proposals.SUFFIX).exists():
            proposals.drop(path.with_suffix(proposals.SUFFIX), doubles)
    if path.with_suffix(sentence_table.SUFFIX).exists():
        sentence_table.drop(path.with_suffix(sentence_table.SUFFIX), doubles)
    figures.dead_reasons = {
        **figures.dead_reasons,
        REASON: figures.dead_reasons.get(REASON, 0) + len(letters),
    }
    return figures, letters


def _letters(
    table: pa.Table, rows: Sequence[int], own: int, doubles: Doubles, annotator: Annotator
) -> list[dict[str, Any]]:
    """The dead letters of some rows. own: columns before the input's other fields."""
    file = (table.schema.metadata or {}).get(documents.FILE, b"").decode()
    others = table.select(list(range(own, table.num_columns)))
    names = annotator.config.fields
    out = []
    for row in rows:
        identity, ordinal = table.column(0)[row].as_py(), table.column(2)[row].as_py()
        values = {
            names.id: identity,
            names.text: table.column(1)[row].as_py(),
            **fields.record(others, list(others.schema), row),
        }
        raw = fields.to_json(values).encode("utf-8", "backslashreplace")
        out.append(
            dead_letter(
                file, ordinal, f"{REASON}: {identity!r} came first in {doubles[ordinal]}", raw
            )
        )
    return out
