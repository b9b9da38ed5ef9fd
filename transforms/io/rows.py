"""The rows of a Parquet file's table as records: their text and id, and their other columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from evenflow.transforms.io import fields, tables
from evenflow.transforms.io.files import RECORD_BYTES
from evenflow.transforms.io.record_parser import Parsed, RecordParser, UnusableError, decode
from evenflow.transforms.io.sizes import table_bytes


class TableRows:
    """The rows of a table, n of them."""

    def __init__(self, rows: pa.Table, parser: RecordParser, skip: Collection[int]):
        self._rows, self._parser = rows, parser
        self.names = frozenset(rows.column_names)
        # A file's reader gives a row of more than its limit alone
        self._too_long = len(rows) == 1 and table_bytes(rows) > RECORD_BYTES
        numbers = [index for index in range(len(rows)) if index not in skip]
        whole = rows.take(pa.array(numbers, pa.int64())) if skip else rows
        self._texts, self._ids = (
            None if self._too_long else _column(whole, numbers, name)
            for name in (parser.text_name, parser.id_name)
        )
        if parser.paths is not None and not self._too_long:
            self._texts = _records(whole, numbers, parser.paths.names)

    def parse(self, index: int) -> Parsed:
        """Check the text and the id of a row."""
        parser = self._parser
        if self._too_long:
            raise UnusableError(
                "too long", f"the row has {table_bytes(self._rows)} bytes; it is not kept here"
            )
        if self._texts is None:
            raise UnusableError("text missing", f"column {parser.text_name!r} is missing")
        text = self._texts[index]
        text = _value(text, parser.text_name) if parser.paths is None else parser.take_text(text)
        identity = None if self._ids is None else self._ids[index]
        if isinstance(identity, bytes) and len(identity) == 16 and not _is_text(identity):
            identity = UUID(bytes=identity)
        identity = _value(identity, parser.id_name)
        return Parsed(parser.check_id(identity), parser.check_text(text), {})

    def to_json(self, index: int) -> bytes:
        """Write a row as JSON, as a Parquet row has no bytes of its own."""
        if self._too_long:
            return b""
        row = self._rows.slice(index, 1)
        values = {}
        for name in row.column_names:
            try:
                [values[name]] = fields.to_python(row[name])
            except UnicodeDecodeError:
                try:
                    values[name] = repr(row[name].cast(pa.large_binary())[0].as_py())
                except pa.ArrowNotImplementedError:  # the string is within a list or an object
                    values[name] = str(row[name].type)
        return fields.to_json(values).encode("utf-8", "backslashreplace")

    def columns(
        self, kept: Sequence[int], own: Collection[str]
    ) -> tuple[dict[pa.Field, pa.Array], Counter[str]]:
        """Take the other columns; dictionaries and other forms of text become plain text.

        `kept`: Numbers of the rows that become documents (D,). `own`: Names of columns that are
        computed; one of the file gets another name.

        Returns the columns (D,) by their field, and how many rows have a text in them that was
        mended since it was no UTF-8, by the column's name.
        """
        rows, parser = self._rows.take(pa.array(kept, pa.int64())), self._parser
        out: dict[pa.Field, pa.Array] = {}
        counts = Counter[str]()
        for column in rows.schema:
            name = column.name
            if name == parser.id_name or (parser.paths is None and name == parser.text_name):
                continue
            values = rows[name].combine_chunks()
            kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
            if pa.types.is_large_string(kind):
                kind = pa.string()
            values, mended = tables.mended(values)
            counts += Counter({name: mended})
            values = values if kind == values.type else pc.cast(values, kind)
            taken = {*own, *(self.names - {name})} if name in own else ()
            out[pa.field(fields.free_name(name, taken), kind, metadata=column.metadata)] = values
        return out, counts


def _column(rows: pa.Table, numbers: Sequence[int], name: str) -> dict[int, Any] | None:
    """Return a column's values by row number; strings that are not UTF-8 stay bytes."""
    if name not in rows.column_names:
        return None
    values = rows[name]
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    try:
        found = values.to_pylist()
    except UnicodeDecodeError:
        found = values.cast(pa.large_binary()).to_pylist()
    return dict(zip(numbers, found, strict=True))


def _records(rows: pa.Table, numbers: Sequence[int], names: Sequence[str]) -> dict[int, Any]:
    """Some columns of rows, by row number."""
    found = {
        name: fields.values_of(
            rows.schema.field(name), tables.mended(rows[name].combine_chunks())[0]
        )
        for name in names
        if name in rows.column_names
    }
    return {
        number: {name: values[at] for name, values in found.items()}
        for at, number in enumerate(numbers)
    }


def _is_text(raw: bytes) -> bool:
    """Whether bytes are UTF-8."""
    return raw.decode("utf-8", "replace").encode() == raw


def _value(value: Any, name: str) -> Any:
    """Return a column's value; bytes are decoded."""
    return decode(value, f"column {name!r}: ") if isinstance(value, bytes) else value
