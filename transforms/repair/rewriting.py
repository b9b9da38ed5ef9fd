"""Writes a staged block again, with changed texts and with copies behind their originals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.documents import Figures
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.records import Documents
from evenflow.transforms.staging.block import (
    INPUT,
    Part,
    StagedBlock,
    field_values,
    read_documents,
    replace_columns,
)
from evenflow.transforms.substitution import joined
from evenflow.transforms.substitution.sets import Edit, apply


def rewrite(
    block: StagedBlock,
    annotator: Annotator,
    names: Sequence[str],
    changed: Mapping[int, Sequence[Edit]],
    copies: Mapping[int, Sequence[tuple[str, Sequence[Edit]]]],
) -> Figures:
    """Write a block's documents again."""
    table = block.read(Part.DOCUMENTS)
    read = read_documents(table)
    whole = joined.texts_of(read.texts, read.fields, names)
    # Of each new row: the row that it is made of, id, texts, and the original's id for a copy
    new: list[tuple[int, str, list[str], str | None]] = []
    for row, (identity, text, ordinal) in enumerate(
        zip(read.ids, read.texts, read.places, strict=True)
    ):
        new.append((row, identity, [apply(text, changed.get(ordinal, ()))], None))
        for copied, own in copies.get(ordinal, ()):
            texts = joined.apply_apart(whole[row], own)
            new.append((row, copied, texts, identity))
    rows, ids, every, origins = map(list, zip(*new, strict=True))
    texts = [each[0] for each in every]
    places = [read.places[row] for row in rows]
    rebuilt = table.take(pa.array(rows)).combine_chunks()
    fields = field_values(rebuilt)
    joint = {
        column: _put(values, every, names.index(column.name) + 1)
        for column, values in fields.items()
        if column.name in names
    }
    found = Documents(read.file, ids, texts, places, fields={**fields, **joint})
    counted = annotator.mentions.count(found)
    columns = {
        **{column.with_name(INPUT + column.name): each for column, each in joint.items()},
        documents.ID: pa.array(ids, pa.string()),
        documents.TEXT: pa.array(texts, pa.large_string()),
    }
    for attribute, each in zip(annotator.attributes, counted.mentions, strict=True):
        for number, column in enumerate(documents.mention_fields(attribute)):
            columns[column] = pa.array(each[:, number], pa.int32())
    for column in documents.own_fields(annotator.attributes):
        if column.name in counted.columns:
            columns[column] = pa.array(counted.columns[column.name], column.type)
    if copies:
        columns[documents.COPY_OF] = pa.array(origins, pa.string())
    block.write(Part.DOCUMENTS, replace_columns(rebuilt, columns))
    return counted.figures


def _put(values: pa.Array, every: Sequence[Sequence[str]], at: int) -> pa.Array:
    """A field's values (D,), with the texts of swapped copies in the place of the originals'.

    Returns the values (D,).
    """
    new = [
        own[at] if len(own) > at and isinstance(value, str) else value
        for own, value in zip(every, values.to_pylist(), strict=True)
    ]
    return pa.array(new, values.type)
