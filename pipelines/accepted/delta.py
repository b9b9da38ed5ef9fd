"""Tables of Delta Lake: the rows of a pane are one commit.

Delta has no branches: the panes that are not accepted stand in a second table beside the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from evenflow.pipelines.accepted.sinks import PANE

if TYPE_CHECKING:
    # An extra: whoever exports has it
    from deltalake import CommitProperties, DeltaTable  # pyright: ignore[reportMissingImports]

QUARANTINE = "_quarantine"  # behind the table's place


class DeltaSink:
    """Opens tables at a path or an address of an object store, which deltalake reads."""

    def open(self, place: str, output: str, columns: pa.Schema) -> Delta:
        """Open or make a table; see `sinks`. Its description says which output it is of."""
        from deltalake import DeltaTable  # pyright: ignore[reportMissingImports]

        if not place:
            raise ValueError("a path or an address was expected")
        tables: list[DeltaTable] = []
        for name in (place, place.rstrip("/") + QUARANTINE):
            table = (
                DeltaTable(name)
                if DeltaTable.is_deltatable(name)
                else DeltaTable.create(name, _arrow(columns), description=output)
            )
            if table.metadata().description != output:
                raise ValueError(f"{name}: not a table of this output; give another place")
            tables.append(table)
        return Delta(tables[0], Delta(tables[1]))


class Delta:
    """A table; see `sinks.Table`.

    Args:
        table: The table.
        quarantine: The table of the panes that are not accepted; None of that table itself.
    """

    def __init__(self, table: DeltaTable, quarantine: Delta | None = None):
        self._table, self.quarantine = table, quarantine

    def panes(self) -> set[int]:
        """The panes whose rows it has."""
        batches = self._table.to_pyarrow_dataset().to_batches(columns=[PANE])
        return {pane for batch in batches for pane in batch.column(0).unique().to_pylist()}

    def append(self, pane: int, rows: pa.Table, notes: Mapping[str, str]) -> None:
        """Append the rows of a pane, with the notes as the commit's metadata."""
        from deltalake import write_deltalake  # pyright: ignore[reportMissingImports]
        from deltalake.exceptions import CommitFailedError  # pyright: ignore[reportMissingImports]

        try:
            write_deltalake(
                self._table,
                _arrow(rows),
                mode="append",
                schema_mode="merge",
                commit_properties=_once(notes),
            )
        except CommitFailedError as error:
            raise ValueError(str(error)) from error

    def remove(self, pane: int) -> None:
        """Take out the rows of a pane."""
        notes = _once({"evenflow.rejected": str(pane)})
        self._table.delete(f"{PANE} = {pane}", commit_properties=notes)


def _arrow(data: pa.Schema | pa.Table) -> Any:
    """What deltalake reads by Arrow's C interface, which pyarrow's type stubs do not name."""
    return cast("Any", data)


def _once(notes: Mapping[str, str]) -> CommitProperties:
    """Notes of a commit. Of two exports at once the second fails: again, it would write twice."""
    from deltalake import CommitProperties  # pyright: ignore[reportMissingImports]

    return CommitProperties(custom_metadata=dict(notes), max_commit_retries=0)
