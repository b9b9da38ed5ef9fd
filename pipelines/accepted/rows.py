"""Reads what a gate has accepted as one table, whatever the shards' own columns are.

The shards of an output have one schema, which later rounds of files or a topic may widen. Shards of
earlier programs typed their fields pane by pane. Here all have one schema: the union of their
columns. Types that Arrow can promote are promoted (whole numbers to numbers, objects to objects
with more fields). Where it cannot, the column is JSON text, with the metadata evenflow.encoding:
json.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.gates.ledger.files import LedgerError, has_ledger, read_meta
from evenflow.gates.ledger.history import History
from evenflow.gates.ledger.reviews import ASIDE
from evenflow.pipelines.pages.report.files import names_a_file, open_named
from evenflow.schemas.config import recorded
from evenflow.transforms.io.fields import EXTRA, JSON, is_json, promoted
from evenflow.transforms.staging.aside import without_reason
from evenflow.transforms.storage.storage import Place, Storage, at

if TYPE_CHECKING:
    import pandas as pd

ROWS = 4096  # of a batch


@dataclass(frozen=True)
class File:
    """A shard that counts as accepted."""

    pane: int
    folder: str
    name: str
    rows: int


class Accepted:
    """The accepted documents of an output, as one data set.

    What counts as accepted is what `evenflow gate export --list accepted` lists: decisions of
    people count, and files that no entry names do not.

    Attributes:
        files: The shards, in the order of the panes.
        as_json: Names of the columns that are JSON text, since the types of their values differ.
        extra: Number of documents with fields that fit no column: JSON text in the column _extra.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from evenflow import Gate, accepted
        >>> with TemporaryDirectory() as folder:
        ...     _ = Gate(attributes=["gender"]).run(["She came.", "He left."], f"{folder}/out")
        ...     rows = accepted(f"{folder}/out")
        ...     len(rows), rows.to_table().column("text").to_pylist()
        (2, ['She came.', 'He left.'])
    """

    def __init__(self, output: Place, panes: slice | None = None, counted: str = "accepted"):
        """List the shards and read their columns."""
        self.storage: Storage = at(output)
        history = History(self.storage, recorded(read_meta(self.storage)))
        self.history = history
        numbers = range(len(history))[panes or slice(None)]
        self.files: list[File] = []
        self.extra = 0
        for entry in history.some(numbers):
            of_entry = [
                File(entry.pane, place, shard.name, shard.rows)
                for folder, place, shard in history.files(entry)
                if folder == counted
            ]
            if bad := [each.name for each in of_entry if not names_a_file(each.name)]:
                raise LedgerError(f"{self.storage}: pane {entry.pane}: {bad[0]!r}: no file's name")
            self.files += of_entry
            self.extra += entry.extra if of_entry else 0
        schemas: dict[bytes, pa.Schema] = {}
        for each in self.files:
            with self._open(each) as file:
                found = file.schema_arrow.remove_metadata()
                if counted == "accepted" and each.name.endswith(ASIDE):
                    found = without_reason(found)
                schemas.setdefault(found.serialize().to_pybytes(), found)
        self.schema = union(list(schemas.values()))
        self.as_json = [
            column.name for column in self.schema if is_json(column) and column.name != EXTRA.name
        ]

    def __len__(self) -> int:
        return sum(each.rows for each in self.files)

    def __repr__(self) -> str:
        return (
            f"<accepted documents of {self.storage}: {len(self):,} rows in {len(self.files):,}"
            f" files, {', '.join(self.schema.names) or 'no column'}>"
        )

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the documents one by one."""
        for batch in self.batches():
            yield from batch.to_pylist()

    def counted_as(self, folder: str) -> Accepted:
        """The documents of all panes that count as another folder's, such as quarantine."""
        return Accepted(self.storage, None, folder)

    def _chosen(self, columns: Sequence[str] | None) -> pa.Schema:
        """The schema of columns, by name; None: of all."""
        return self.schema if columns is None else pa.schema(map(self.schema.field, columns))

    def _open(self, file: File) -> Any:
        """A shard, open until its with-block ends. Raises OSError."""
        source = open_named(self.storage, file.folder, file.name)
        try:
            return closing(pq.ParquetFile(source))
        except pa.ArrowException as error:
            source.close()
            raise OSError(f"{file.folder}/{file.name}: not a shard: {error}") from error

    def batches(
        self, columns: Sequence[str] | pa.Schema | None = None, files: Sequence[File] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Read the documents in batches, a shard at a time."""
        schema = columns if isinstance(columns, pa.Schema) else self._chosen(columns)
        for each in self.files if files is None else files:
            with self._open(each) as file:
                own = [name for name in schema.names if name in file.schema_arrow.names]
                for batch in file.iter_batches(ROWS, columns=own):
                    yield fitted(batch, schema)

    def reader(self, columns: Sequence[str] | None = None) -> pa.RecordBatchReader:
        """Open a stream of batches, which duckdb and others read."""
        schema = self._chosen(columns)
        return pa.RecordBatchReader.from_batches(schema, self.batches(columns))

    def to_table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Read all documents as an Arrow table; columns: names, None for all."""
        return self.reader(columns).read_all()

    def to_pandas(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read all documents as a pandas frame; columns: names, None for all."""
        return self.to_table(columns).to_pandas()

    def to_polars(self, columns: Sequence[str] | None = None) -> Any:
        """Read all documents as a polars frame, with polars installed; columns: None for all."""
        import polars  # pyright: ignore[reportMissingImports]  # who asks for its frame has it

        return polars.from_arrow(self.to_table(columns))

    def to_huggingface(self, streaming: bool = False) -> Any:
        """Make a data set of Hugging Face, with datasets installed."""
        # No dependency: who asks for its data set has it
        import datasets  # pyright: ignore[reportMissingImports]
        from datasets.table import InMemoryTable  # pyright: ignore[reportMissingImports]

        if streaming:
            return datasets.IterableDataset.from_generator(self.__iter__)
        return datasets.Dataset(InMemoryTable(self.to_table()))


def accepted(output: Place, panes: slice | None = None) -> Accepted:
    """Open what a gate has accepted, as one data set.

    Args:
        output: The output of a run: a directory, or an address in an object store.

    Raises:
        LedgerError: There is no ledger, or it cannot be read.
        OSError: A shard cannot be read.
    """
    if not has_ledger(at(output)):
        raise LedgerError(f"{output}: no ledger here; give the output of a run")
    return Accepted(output, panes)


def union(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """Unite schemas."""
    found: dict[str, list[pa.Field]] = {}
    for schema in schemas:
        for column in schema:
            found.setdefault(column.name, []).append(column)
    fields: list[pa.Field] = []
    for name, columns in found.items():
        coded = [each.metadata or {} for each in columns]
        nullable = len(columns) < len(schemas) or any(each.nullable for each in columns)
        same = all(each == coded[0] for each in coded)
        wide = promoted(each.type for each in columns) if same else None
        fields.append(
            pa.field(name, pa.string(), metadata=JSON)
            if wide is None
            else pa.field(name, wide, nullable=nullable, metadata=coded[0] or None)
        )
    return pa.schema(fields)


def fitted(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Fit a batch of a shard to a schema of `union`."""
    columns: list[pa.Array] = []
    for wanted in schema:
        if wanted.name not in batch.schema.names:
            columns.append(pa.nulls(batch.num_rows, wanted.type))
            continue
        own = batch.column(wanted.name)
        before = batch.schema.field(wanted.name).metadata or {}
        if (wanted.metadata or {}).get(b"evenflow.encoding") == b"json" and not before:
            texts = (
                None if each is None else orjson.dumps(each, default=str)
                for each in own.to_pylist()
            )
            own = pa.array((None if each is None else each.decode() for each in texts), wanted.type)
        elif own.type != wanted.type:
            try:
                own = own.cast(wanted.type)
            except (pa.ArrowTypeError, pa.ArrowNotImplementedError):  # older Arrow: objects
                own = pa.array(own.to_pylist(), wanted.type)
        columns.append(own)
    return pa.RecordBatch.from_arrays(columns, schema=schema)
