"""Finds documents whose id came before, and turns them into dead letters.

An id names one document. The first in source order stays, even in quarantine. Ids are always
compared within a pane. If the configuration says so, they are also compared across panes, by an
index on disk (`gates.ledger.id_index`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from evenflow.schemas.documents import ID, ORDINAL, TEXT, Figures
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io import fields
from evenflow.transforms.io.blocks import position
from evenflow.transforms.io.records import dead_letter
from evenflow.transforms.kafka import originals
from evenflow.transforms.staging.block import (
    Part,
    StagedBlock,
    input_fields,
    read_documents,
    source_file,
)

REASON = "duplicate id"
# Ordinals of documents whose id came before, and where each id stands first
Duplicates = dict[int, str]


def find(
    blocks: Sequence[StagedBlock], known: Mapping[str, int] | None = None
) -> Iterator[tuple[StagedBlock, Duplicates]]:
    """Find the documents of a pane whose id came before.

    Documents that a filter has set aside count as well: their sentences are in the table too.

    Args:
        blocks: The pane's blocks in source order.
        known: Ids of earlier panes, and the number of each one's pane; None: these do not count.
    """
    seen: set[str] = set(known or ())
    doubtful = bool(known)
    for block in () if doubtful else blocks:
        found = [identity for table in _tables(block) for identity in table[ID.name].to_pylist()]
        before = len(seen)
        seen.update(found)
        doubtful |= len(seen) < before + len(found)
    if not doubtful:
        return
    first = {identity: f"pane {pane}" for identity, pane in (known or {}).items()}
    for block in blocks:
        duplicates: Duplicates = {}
        rows = [
            (ordinal, identity, source_file(table))
            for table in _tables(block)
            for identity, ordinal in zip(
                table[ID.name].to_pylist(), table[ORDINAL.name].to_pylist(), strict=True
            )
        ]
        for ordinal, identity, file in sorted(rows):
            own = "{}, record {}".format(*position(file, ordinal))
            place = first.setdefault(identity, own)
            if place != own:
                duplicates[ordinal] = place
        if duplicates:
            yield block, duplicates


def read_ids(blocks: Sequence[StagedBlock]) -> set[str]:
    """The ids of a pane's documents, from its staged blocks."""
    return {
        identity
        for block in blocks
        for table in _tables(block)
        for identity in table[ID.name].to_pylist()
    }


def drop(
    block: StagedBlock, duplicates: Duplicates, annotator: Annotator, before: Figures
) -> Figures:
    """Take documents out of a block, and add their dead letters to its letters.

    Args:
        block: The block; its files are rewritten.
        before: The block's figures with the documents.

    Returns:
        The block's figures without them.

    Raises:
        OSError: A file cannot be read or written.
    """
    letters = [
        letter for table in _tables(block) for letter in _letters(table, duplicates, annotator)
    ]
    block.drop(duplicates)
    block.add_letters(letters)
    figures = before
    if block.has(Part.DOCUMENTS):
        left = read_documents(block.read(Part.DOCUMENTS))
        figures = annotator.mentions.count(left).figures
        measured = figures.measures
        figures.take_reading(before)
        figures.measures = figures.measures | measured if left.texts else {}
    reasons = before.dead_reasons
    figures.dead_reasons = {**reasons, REASON: reasons.get(REASON, 0) + len(letters)}
    return figures


def _tables(block: StagedBlock) -> list[pa.Table]:
    """The tables of a block's documents: of those that go on, and of those that are set aside."""
    return [block.read(part) for part in (Part.DOCUMENTS, Part.ASIDE) if block.has(part)]


def _letters(
    table: pa.Table, duplicates: Duplicates, annotator: Annotator
) -> Iterator[dict[str, Any]]:
    """The dead letters of a table's documents that are duplicates."""
    others, names = input_fields(table), annotator.config.fields
    for row, ordinal in enumerate(table[ORDINAL.name].to_pylist()):
        if ordinal not in duplicates:
            continue
        identity = table[ID.name][row].as_py()
        values = {
            names.id: identity,
            names.column: table[TEXT.name][row].as_py(),
            **fields.record(others, list(others.schema), row),
        }
        noted = values.pop(originals.ORIGINAL.name, None)
        raw = fields.to_json(values).encode("utf-8", "backslashreplace")
        more: dict[str, Any] = {}
        if noted is not None:
            found = originals.restore(noted, identity, values[names.column], raw)
            raw, more = found.value, originals.letter(found)
        reason = f"{REASON}: {identity!r} came first in {duplicates[ordinal]}"
        yield dead_letter(source_file(table), ordinal, reason, raw) | more
