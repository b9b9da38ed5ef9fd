"""The rows of a Parquet file's table as records: their text and id, and their other columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from evenflow.transforms.io import fields
from evenflow.transforms.io.files import RECORD_BYTES
from evenflow.transforms.io.record_parser import Parsed, RecordParser, UnusableError, decode


class TableRows:
    """The rows of a table, n of them.

    Args:
        rows: The table.
        parser: Checks texts and ids.
        skip: Numbers of rows that are not looked at.

    Attributes:
        names: The columns' names.
    """

    def __init__(self, rows: pa.Table, parser: RecordParser, skip: Collection[int]):
        self._rows, self._parser = rows, parser
        self.names = frozenset(rows.column_names)
        # A file's reader gives a row of more than its limit alone
        self._too_long = len(rows) == 1 and rows.nbytes > RECORD_BYTES
        numbers = [index for index in range(len(rows)) if index not in skip]
        whole = rows.take(pa.array(numbers, pa.int64())) if skip else rows
        self._texts, self._ids = (
            None if self._too_long else _column(whole, numbers, name)
            for name in (parser.text_name, parser.id_name)
        )

    def parse(self, index: int) -> Parsed:
        """Check the text and the id of a row.

        Args:
            index: The row's number.

        Returns:
            The record, without other fields.

        Raises:
            UnusableError: The row cannot become a document.
        """
        parser = self._parser
        if self._too_long:
            raise UnusableError(
                "too long", f"the row has {self._rows.nbytes} bytes; it is not kept here"
            )
        if self._texts is None:
            raise UnusableError("text missing", f"column {parser.text_name!r} is missing")
        text = _value(self._texts[index], parser.text_name)
        identity = None if self._ids is None else _value(self._ids[index], parser.id_name)
        return Parsed(parser.check_id(identity), parser.check_text(text), {})

    def to_json(self, index: int) -> bytes:
        """Write a row as JSON, as a Parquet row has no bytes of its own.

        Args:
            index: The row's number.

        Returns:
            The JSON, where text stands for a value without a form in JSON; nothing for a row that
            is too long.
        """
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

    def columns(self, kept: Sequence[int], skip: Collection[str]) -> dict[pa.Field, pa.Array]:
        """Take the other columns; dictionaries and other forms of text become plain text.

        Args:
            kept: Numbers of the rows that become documents (D,).
            skip: Names of the columns to leave out.

        Returns:
            The columns (D,) by their field.
        """
        rows = self._rows.take(pa.array(kept, pa.int64()))
        out: dict[pa.Field, pa.Array] = {}
        for name in rows.column_names:
            if name in skip:
                continue
            values = rows[name].combine_chunks()
            kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
            if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
                kind = pa.string()
            out[pa.field(name, kind)] = values if kind == values.type else pc.cast(values, kind)
        return out


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


def _value(value: Any, name: str) -> Any:
    """Return a column's value; bytes are decoded."""
    return decode(value, f"column {name!r}: ") if isinstance(value, bytes) else value
