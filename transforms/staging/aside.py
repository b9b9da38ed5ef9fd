"""Writes the documents of a pane that are set aside one by one, apart from the rest of the pane.

They are kept as they were read, with the reason.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.schemas.documents import ID, REASON, TEXT
from evenflow.schemas.ledger import Shard
from evenflow.transforms.staging.block import Part, StagedBlock
from evenflow.transforms.staging.shards import ShardLayout, convert_inputs, seal


def write(
    blocks: Sequence[StagedBlock], folder: Path, pane: int, layout: ShardLayout
) -> Shard | None:
    """Write the documents to folder/part-PANE-aside.parquet, and make the file durable.

    Args:
        blocks: The pane's blocks in source order.
        layout: The names of the columns of texts and ids.

    Returns:
        The file's record; None if no document is set aside.

    Raises:
        OSError: A file cannot be read or written.
    """
    tables = (block.read(Part.ASIDE) for block in blocks if block.has(Part.ASIDE))
    return write_tables(tables, folder / aside_name(pane), layout)


def aside_name(pane: int) -> str:
    """The name of the file of a pane's documents that are set aside."""
    return f"part-{pane:08d}-aside.parquet"


def reason_column(names: Container[str]) -> str:
    """The name of the column of reasons, beside columns of other names."""
    name = REASON.name
    while name in names:
        name += "'"
    return name


def without_reason(schema: pa.Schema) -> pa.Schema:
    """The schema of documents that were set aside, without the column of reasons."""
    names = [name for name in schema.names if name.rstrip("'") == REASON.name]
    return schema.remove(schema.get_field_index(max(names, key=len))) if names else schema


def write_tables(tables: Iterable[pa.Table], path: Path, layout: ShardLayout) -> Shard | None:
    """Write tables of documents with the reason why they are set aside.

    Args:
        tables: In source order, with ID, TEXT, REASON and the input's other fields.
        layout: The names of the columns of texts and ids.

    Returns:
        The file's record; None if there is no document.

    Raises:
        OSError: The file cannot be written or made durable.
    """
    staged = [table for table in tables if table.num_rows]  # all may have been duplicates
    if not staged:
        return None
    others = layout.others(staged)
    names = {column.name for column in others} | {layout.identity, layout.text}
    reason = REASON.with_name(reason_column(names))
    own = [ID.with_name(layout.identity), TEXT.with_name(layout.text), reason]
    schema = pa.schema([*own, *others])
    table = pa.concat_tables(
        pa.Table.from_arrays(
            [
                *(each[column.name] for column in (ID, TEXT, REASON)),
                *convert_inputs(each, others),
            ],
            schema=schema,
        )
        for each in staged
    ).combine_chunks()
    pq.write_table(table, path, compression="zstd", compression_level=1)
    return seal(path, table.num_rows)
