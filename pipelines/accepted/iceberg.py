"""Tables of Apache Iceberg: accepted panes in the branch main, the others in `quarantine`.

The rows of a pane and its snapshot are one commit of the catalog.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from evenflow.pipelines.accepted.sinks import PANE

if TYPE_CHECKING:
    # An extra: whoever exports has it
    from pyiceberg.catalog import Catalog  # pyright: ignore[reportMissingImports]
    from pyiceberg.table import Table  # pyright: ignore[reportMissingImports]

MAIN, QUARANTINE = "main", "quarantine"  # branches
OUTPUT = "evenflow.output"  # the table's property that says which output it is of
# Of two exports at once the second fails: tried again, it would append the same panes
ONCE = {"commit.retry.num-retries": "0"}


class IcebergSink:
    """Opens tables at CATALOG/NAMESPACE.TABLE.

    The catalog is one of pyiceberg's configuration, or a folder, which gets a catalog in SQLite
    (catalog.db) and the table's files.
    """

    def open(self, place: str, output: str, columns: pa.Schema) -> IcebergTable:
        """Open or make a table; see `sinks`."""
        name, _, table_name = place.rpartition("/")
        if not name or "." not in table_name:
            raise ValueError("CATALOG/NAMESPACE.TABLE was expected")
        catalog = _catalog(name)
        catalog.create_namespace_if_not_exists(table_name.rpartition(".")[0])
        properties = {OUTPUT: output, **ONCE}
        table = catalog.create_table_if_not_exists(table_name, columns, properties=properties)
        if table.properties.get(OUTPUT) != output:
            raise ValueError("this table is not of this output; give another name")
        with table.update_schema() as update:
            update.union_by_name(columns)
        return IcebergTable(table, MAIN)


class IcebergTable:
    """A branch of a table; see `sinks.Table`."""

    def __init__(self, table: Table, branch: str):
        self._table, self._branch = table, branch

    @property
    def quarantine(self) -> IcebergTable | None:
        """The branch of the panes that are not accepted; None of that branch itself."""
        return IcebergTable(self._table, QUARANTINE) if self._branch == MAIN else None

    def panes(self) -> set[int]:
        """The panes whose rows the branch has."""
        if self._branch not in self._table.refs():
            return set()
        found = set[int]()
        scan = self._table.scan(selected_fields=(PANE,)).use_ref(self._branch)
        for batch in scan.to_arrow_batch_reader():
            found.update(batch.column(0).unique().to_pylist())
        return found

    def append(self, pane: int, rows: pa.Table, notes: Mapping[str, str]) -> None:
        """Append the rows of a pane as a snapshot with the notes as its properties."""
        from pyiceberg.exceptions import CommitFailedException  # pyright: ignore[reportMissingImports]

        try:
            self._table.append(rows, dict(notes), branch=self._branch)
        except CommitFailedException as error:
            raise ValueError(str(error)) from error

    def remove(self, pane: int) -> None:
        """Take out the rows of a pane."""
        gone = {"evenflow.rejected": str(pane)}
        self._table.delete(f"{PANE} == {pane}", gone, branch=self._branch)


def _catalog(name: str) -> Catalog:
    """The catalog of a name in pyiceberg's configuration, else that of a folder."""
    from pyiceberg.catalog import load_catalog  # pyright: ignore[reportMissingImports]
    from pyiceberg.utils.config import Config  # pyright: ignore[reportMissingImports]

    if Config().get_catalog_config(name) is not None:
        return load_catalog(name)
    folder = Path(name).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return load_catalog(
        "evenflow", type="sql", uri=f"sqlite:///{folder / 'catalog.db'}", warehouse=folder.as_uri()
    )
