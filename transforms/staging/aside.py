"""Documents that are set aside one by one, while the rest of their pane goes on: kept as they were
read, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.schemas import documents
from evenflow.schemas.ledger import Shard
from evenflow.transforms.io import fields
from evenflow.transforms.staging.shards import ShardLayout, described, read_block, seal

SUFFIX = ".aside"  # of a block's file
OWN = 4  # columns before the input's other fields: id, text, ordinal, reason
SHOWN = (0, 1, 3)  # of these, what a reader of the file gets


def write(staged: Sequence[Path], folder: Path, pane: int, layout: ShardLayout) -> Shard | None:
    """A pane's file of them, folder/part-PANE-aside.parquet, in source order, durable; None where
    there are none.

    staged: the blocks' files, which need not be there, and are gone afterwards. Raises OSError.
    """
    present = [path for path in staged if path.exists()]
    if not present:
        return None
    blocks = [read_block(path) for path in present]
    others = fields.unify(
        [
            [(each.schema.field(i), each.column(i)) for i in range(OWN, each.num_columns)]
            for each in blocks
        ]
    )
    names = {column.name for column in others} | {layout.identity, layout.text}
    reason = documents.REASON.name
    while reason in names:
        reason += "'"
    own = [
        documents.ID.with_name(layout.identity),
        documents.TEXT.with_name(layout.text),
        documents.REASON.with_name(reason),
    ]
    schema = pa.schema([*own, *others])
    tables: list[pa.Table] = []
    for each in blocks:
        rest = each.select(list(range(OWN, each.num_columns)))
        columns = [
            *(each.column(i) for i in SHOWN),
            *fields.convert(rest, list(rest.schema), others),
        ]
        tables.append(pa.Table.from_arrays(columns, schema=schema))
    table = pa.concat_tables(tables).combine_chunks()
    path = folder / f"part-{pane:08d}-aside.parquet"
    pq.write_table(table, path, compression="zstd", compression_level=1)
    seal(path)
    for each in present:
        each.unlink()
    return described(path, table.num_rows)
