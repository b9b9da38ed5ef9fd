"""Tables of Delta Lake: the rows of a pane are one commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from evenflow.pipelines.accepted.sinks import PANE

if TYPE_CHECKING:
    # An extra: whoever exports has it
    from deltalake import CommitProperties, DeltaTable  # pyright: ignore[reportMissingImports]


class DeltaSink:
    """Opens tables at a path or an address of an object store, which deltalake reads."""

    def open(self, place: str, output: str, columns: pa.Schema) -> Delta:
        """Open or make a table; see `sinks`. Its description says which output it is of."""
        from deltalake import DeltaTable  # pyright: ignore[reportMissingImports]

        if not place:
            raise ValueError("a path or an address was expected")
        table = (
            DeltaTable(place)
            if DeltaTable.is_deltatable(place)
            else DeltaTable.create(place, _arrow(columns), description=output)
        )
        if table.metadata().description != output:
            raise ValueError("this table is not of this output; give another place")
        return Delta(table)


class Delta:
    """A table; see `sinks.Table`.

    Args:
        table: The table.
    """

    def __init__(self, table: DeltaTable):
        self._table = table

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
