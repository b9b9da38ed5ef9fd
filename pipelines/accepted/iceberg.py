"""Appends what a gate has accepted to a table of Apache Iceberg, a snapshot a pane.

The rows of a pane and its snapshot are one commit of the catalog, so a kill leaves a pane in the
table whole or not at all. Which panes are there is read from the table's own rows: a pane is
appended once, however often and from wherever the export is started.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from evenflow.pipelines.accepted.export import ExportError
from evenflow.pipelines.accepted.rows import Accepted, File

if TYPE_CHECKING:
    # An extra: whoever exports has it
    from pyiceberg.catalog import Catalog  # pyright: ignore[reportMissingImports]
    from pyiceberg.table import Table  # pyright: ignore[reportMissingImports]

PREFIX = "iceberg:"
PANE = "evenflow_pane"  # the column with the number of a row's pane
OUTPUT = "evenflow.output"  # the table's property that says which output it is of
# Of two exports at once the second fails: tried again, it would append the same panes
ONCE = {"commit.retry.num-retries": "0"}


def append(rows: Accepted, place: str) -> tuple[list[int], list[int]]:
    """Bring a table to what is accepted.

    Args:
        rows: The documents.
        place: iceberg:CATALOG/NAMESPACE.TABLE. The catalog is one of pyiceberg's configuration, or
            a folder, which gets a catalog in SQLite (catalog.db) and the table's files.

    Returns:
        The panes that were appended, and those that were taken out, since people have rejected
        them after an earlier export.

    Raises:
        ExportError: The place is none, or the table is of another output or of other columns.
        OSError: A file cannot be read or written.
    """
    from pyiceberg.exceptions import CommitFailedException  # pyright: ignore[reportMissingImports]

    name, _, table_name = place.removeprefix(PREFIX).rpartition("/")
    if not name or "." not in table_name:
        raise ExportError(f"{place}: {PREFIX}CATALOG/NAMESPACE.TABLE was expected")
    schema = _schema(rows)
    try:
        table = _table(_catalog(name), table_name, schema, _identity(rows))
        with table.update_schema() as update:
            update.union_by_name(schema)
        there = _panes(table)
        gone = sorted(there - {each.pane for each in rows.files})
        for pane in gone:
            table.delete(f"{PANE} == {pane}", {"evenflow.rejected": str(pane)})
        new: list[int] = []
        for pane, files in groupby(rows.files, key=lambda each: each.pane):
            if pane not in there:
                table.append(_rows(rows, pane, list(files), schema), _properties(rows, pane))
                new.append(pane)
    except (ValueError, CommitFailedException) as error:
        raise ExportError(f"{place}: {' '.join(str(error).split())}") from error
    return new, gone


def _catalog(name: str) -> Catalog:
    """The catalog of a name in pyiceberg's configuration, else that of a folder."""
    from pyiceberg.catalog import load_catalog  # pyright: ignore[reportMissingImports]
    from pyiceberg.utils.config import Config  # pyright: ignore[reportMissingImports]

    if Config().get_catalog_config(name) is not None:
        return load_catalog(name)
    folder = Path(name).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return load_catalog(
        "evenflow",
        type="sql",
        uri=f"sqlite:///{folder / 'catalog.db'}",
        warehouse=folder.as_uri(),
    )


def _table(catalog: Catalog, name: str, schema: pa.Schema, output: str) -> Table:
    """The table, made where it is not there. Raises ExportError for another output's."""
    catalog.create_namespace_if_not_exists(name.rpartition(".")[0])
    table = catalog.create_table_if_not_exists(name, schema, properties={OUTPUT: output, **ONCE})
    if table.properties.get(OUTPUT) != output:
        raise ExportError(f"{name}: this table is not of this output; give another name")
    return table


def _identity(rows: Accepted) -> str:
    """What an output is known by, also after it was moved: its first pane."""
    if not len(rows.history):
        raise ExportError("the output has no pane yet")
    first = rows.history[0]
    digests = [shard.sha256 for _, shard in first.files()]
    source = [each.model_dump() for each in first.source]
    return sha256(orjson.dumps([digests, source])).hexdigest()


def _schema(rows: Accepted) -> pa.Schema:
    """The table's columns: all may be null, so that later panes may lack them."""
    # A column that is null everywhere has no type in Iceberg: it is added once it has one
    columns = [pa.field(each.name, each.type) for each in rows.schema if each.type != pa.null()]
    return pa.schema([*columns, pa.field(PANE, pa.int64())])


def _rows(rows: Accepted, pane: int, files: Sequence[File], schema: pa.Schema) -> pa.Table:
    """The rows of a pane."""
    found = pa.Table.from_batches(rows.batches(files=files), rows.schema)
    numbered = found.append_column(PANE, pa.array([pane] * len(found), pa.int64()))
    return numbered.select(schema.names).cast(schema)


def _properties(rows: Accepted, pane: int) -> dict[str, str]:
    """What a pane's snapshot says of it: its verdict, and the rolling DR that was judged."""
    entry: Any = rows.history[pane]
    found = {
        "evenflow.pane": str(pane),
        "evenflow.verdict": entry.verdict.state,
        "evenflow.reason": entry.verdict.reason,
    }
    for name, each in entry.attributes.items():
        if each.rolling.dr is not None:
            found[f"evenflow.dr.{name}"] = f"{each.rolling.dr:.6f}"
    if (review := rows.history.reviews.get(pane)) is not None:
        found["evenflow.decided"] = review.said
    return found


def _panes(table: Table) -> set[int]:
    """The panes whose rows the table has."""
    found = set[int]()
    for batch in table.scan(selected_fields=(PANE,)).to_arrow_batch_reader():
        found.update(batch.column(0).unique().to_pylist())
    return found
