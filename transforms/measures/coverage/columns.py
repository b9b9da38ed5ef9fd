"""Records that are rows: CSV, Parquet and JSON lines, each column an attribute."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.csv as csv

from evenflow.transforms.io import files
from evenflow.transforms.io.blocks import read_blocks
from evenflow.transforms.measures.coverage.table import Missing, Table

CSV = (".csv", ".csv.gz")


class Lookup(Protocol):
    """Knows properties of those whom ids and names mean (`knowledge.Knowledge`)."""

    def value(self, who: str, name: str) -> str | None:
        """The value of a property; None if it is not known."""
        ...

    def is_property(self, name: str) -> bool:
        """Whether anybody has the property."""
        ...

    def domain(self, name: str) -> frozenset[str]:
        """The values that a property has."""
        ...


def find(inputs: Sequence[str]) -> list[str]:
    """Find the files of paths, folders and globs, CSV among them."""
    found: set[str] = set()
    for each in inputs:
        names = [each] if Path(each).exists() else glob.glob(each, recursive=True)  # noqa: PTH207 (absolute ones too)
        tables = [name for name in names if name.endswith(CSV)]
        for name in names:
            inner = Path(name).rglob("*") if Path(name).is_dir() else ()
            tables += [str(path) for path in inner if path.name.endswith(CSV)]
        found.update(map(files.absolute, tables))
        if not tables or len(tables) < len(names):
            found.update(files.match([each]))
    return sorted(found)


def looked_up(attribute: str, lookup: Lookup | None) -> tuple[str, str] | None:
    """The column and the property of an attribute such as subject.gender; None for a column."""
    column, _, name = attribute.rpartition(".")
    return (column, name) if column and lookup is not None and lookup.is_property(name) else None


def read(
    inputs: Sequence[str],
    attributes: Sequence[str],
    missing: Missing = "open",
    lookup: Lookup | None = None,
) -> Table:
    """Count the rows of files by their values.

    Args:
        inputs: Paths, folders or globs.
        attributes: Names of the columns. COLUMN.PROPERTY is looked up for the id or name in the
            column.
        lookup: Knows properties, and which values there are beside those of the rows; None: nothing
            is looked up.
        missing: What a missing value is (`Table.of_columns`). In a CSV file an empty field is one,
            in JSON null or a field that is not there.

    Raises:
        InputError: An input names no file, cannot be read as its kind, or lacks a column.
    """
    total: Table | None = None
    found = {each: looked_up(each, lookup) for each in attributes}
    columns = [each if pair is None else pair[0] for each, pair in found.items()]
    for name in find(inputs):
        try:
            for batch in _batches(name, list(dict.fromkeys(columns))):
                rows = {
                    each: batch[each]
                    if pair is None or lookup is None
                    else _known(batch, *pair, lookup)
                    for each, pair in found.items()
                }
                counted = Table.of_columns(rows, missing)
                total = counted if total is None else total.merge(counted)
        except (pa.ArrowException, EOFError, KeyError, ValueError) as error:
            what = f"no column {error}" if isinstance(error, KeyError) else error
            raise files.InputError(f"{name}: cannot be counted: {what}") from error
    nothing = {name: pa.array([], pa.string()) for name in attributes}
    if total is None:
        total = Table.of_columns(nothing)
    return (
        total
        if lookup is None
        else total.with_values(
            {
                each: sorted(lookup.domain(pair[1]))
                for each, pair in found.items()
                if pair is not None
            }
        )
    )


def _batches(name: str, attributes: list[str]) -> Iterator[dict[str, Any]]:
    """The columns of a file, some rows at a time."""
    if name.endswith(CSV):
        options = csv.ConvertOptions(
            include_columns=attributes,
            column_types=dict.fromkeys(attributes, pa.string()),
            strings_can_be_null=True,
            null_values=[""],
        )
        with csv.open_csv(name, convert_options=options) as reader:
            for batch in reader:
                yield {each: batch.column(each) for each in attributes}
        return
    seen: set[str] = set()
    for block in read_blocks(name):
        if block.fault is not None:
            raise EOFError(block.fault)
        if block.rows is not None:
            yield {each: block.rows.column(each) for each in attributes}
            seen.update(attributes)
            continue
        rows = [orjson.loads(raw) for raw in block.records if raw.strip()]
        seen.update(each for each in attributes if any(each in row for row in rows))
        yield {
            each: pa.array([_text(row.get(each)) for row in rows], pa.string())
            for each in attributes
        }
    if lost := sorted(set(attributes) - seen):
        raise KeyError(", ".join(lost))


def _text(value: Any) -> str | None:
    """A JSON value as the value of an attribute."""
    return value if value is None or isinstance(value, str) else orjson.dumps(value).decode()


def _known(batch: Mapping[str, Any], column: str, name: str, lookup: Lookup) -> pa.Array:
    """A property of those whom a column names."""
    values = batch[column]
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    encoded = whole.cast(pa.string()).dictionary_encode()
    known = [lookup.value(each, name) for each in encoded.dictionary.to_pylist()]
    return pa.array(known, pa.string()).take(encoded.indices)
