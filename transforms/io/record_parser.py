"""Parses one record into its id, its text and its other fields.

Every JSON record goes through `RecordParser.parse_json`: lines of files and values of messages.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Collection
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from evenflow.schemas.config import Config
from evenflow.transforms.io import fields, lines
from evenflow.transforms.io.parts import SEPARATOR, Paths, names_of

# Most levels of lists and objects in a record. orjson writes up to 254, and nobody's data are
# deeper.
MOST_NESTED = 200
# Most lists, objects and items in them, for a record of more than LARGE_BYTES: each may take 200
# bytes of memory.
MOST_VALUES = 1 << 19
LARGE_BYTES = 1 << 20


class UnusableError(ValueError):
    """A record cannot become a document.

    Args:
        records: How many records may be lost by it, as gate.most_dead counts them.
    """

    def __init__(self, kind: str, message: str, records: int = 1):
        super().__init__(message)
        self.kind, self.records = kind, records


class Parsed(NamedTuple):
    """A record that can become a document.

    Attributes:
        id: Its id; None where one must be made.
        rest: Its other fields by name.
        lost: Names of those in which a value that no other format has became null.
    """

    id: str | None
    text: str
    rest: dict[str, Any]
    lost: Collection[str] = ()


class RecordParser:
    """Turns one record into its id, its text and its other fields.

    Args:
        config: Names of the fields, and the limit of a text.
    """

    def __init__(self, config: Config):
        self.id_name, self.text_name = config.fields.id, config.fields.column
        self.paths = None if config.fields.paths is None else Paths(config.fields.paths)
        self._text_names = names_of(config.fields)
        self._most = config.max_text_mib << 20

    def parse_json(self, raw: bytes) -> Parsed | None:
        """Parse a JSON object.

        Args:
            raw: A line of a file, or a message's value.

        Returns:
            The record; None for a blank line.

        Raises:
            UnusableError: The record cannot become a document.
        """
        if len(raw) > LARGE_BYTES and sum(map(raw.count, (b",", b"[", b"{"))) > MOST_VALUES:
            raise UnusableError(
                "too many values",
                f"the record has more than {MOST_VALUES} values, or marks of such",
            )
        lost = set[str]()
        try:
            record = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            if not raw.strip():
                return None
            decode(raw)
            record = None
            with suppress(ValueError, RecursionError):
                record, lost = fields.loads(raw)
            if type(record) is not dict or not lost or not lost.isdisjoint(self._text_names):
                raise UnusableError("not JSON", f"not JSON: {error}") from error
        if type(record) is not dict:
            raise UnusableError("not an object", f"a JSON object was expected, not {_kind(record)}")
        text = self.take_text(record)
        if fields.depth(record, MOST_NESTED) > MOST_NESTED:
            raise UnusableError(
                "nested too deeply",
                f"the record has more than {MOST_NESTED} levels of lists and objects",
            )
        identity = record.pop(self.id_name, None)
        if type(identity) is float:  # as it is written, also if it is too long for a float
            identity = json.loads(raw, parse_int=str, parse_float=str)[self.id_name]
        return Parsed(self.check_id(identity), text, record, lost)

    def parse_csv(self, header: bytes, delimiter: str, raw: bytes) -> Parsed | None:
        """Parse a line of CSV; an empty field is not there."""
        count = 1 + raw.count(b"\n")  # a quote that nobody meant joins records
        joined = f"; a quote joins {count} lines" if count > 1 else ""
        try:
            names = lines.header_fields(header, delimiter)
            values = lines.fields(raw, delimiter)
        except UnicodeDecodeError as error:
            raise UnusableError("invalid UTF-8", f"invalid UTF-8 at byte {error.start}") from error
        except csv.Error as error:
            raise UnusableError("not CSV", f"not CSV: {error}{joined}", count) from error
        if not values:
            return None
        if len(values) != len(names):
            text = f"{len(values)} fields, where the first line has {len(names)}{joined}"
            raise UnusableError("number of fields", text, count)
        record = {name: value for name, value in zip(names, values, strict=True) if value}
        if len(set(names)) < len(names):
            raise UnusableError("double field", "the first line names a field twice")
        if self.paths is None and self.text_name in names:
            record.setdefault(self.text_name, "")
        text = self.take_text(record)
        return Parsed(self.check_id(record.pop(self.id_name, None)), text, record)

    def take_text(self, record: dict[str, Any]) -> str:
        """Take the text out of a record, or read its parts, which stay there.

        Raises:
            UnusableError: There is none, or it cannot be a document's.
        """
        if self.paths is None:
            if self.text_name not in record:
                raise UnusableError("text missing", f"field {self.text_name!r} is missing")
            return self.check_text(record.pop(self.text_name))
        parts = self.paths.read(record)
        if not parts:
            raise UnusableError("text missing", "no path of fields.text leads to a text")
        if any(SEPARATOR in part for part in parts):
            raise UnusableError("text unusable", "a text has the mark that separates parts")
        return self.check_text(SEPARATOR.join(parts))

    def parse_text(self, raw: bytes) -> Parsed:
        """Decode a text file.

        `raw`: The file's bytes.
        """
        return Parsed(None, self.check_text(decode(raw)), {})

    def check_text(self, text: Any) -> str:
        """Check a text.

        Raises:
            UnusableError: It is not a string, is empty or is too long.
        """
        if type(text) is not str:
            raise UnusableError(
                "text not a string", f"field {self.text_name!r} is {_kind(text)}; text was expected"
            )
        if not text or text.isspace():
            raise UnusableError("text empty", "the text is empty")
        if len(text) > self._most:
            limit = self._most >> 20
            raise UnusableError(
                "text too long", f"the text has {len(text)} characters; max_text_mib is {limit}"
            )
        return text

    def check_id(self, value: Any) -> str | None:
        """Check an id.

        Returns:
            The id; None where one must be made.

        Raises:
            UnusableError: It is neither text nor a number.
        """
        if value is None or value == "" or (isinstance(value, float) and not math.isfinite(value)):
            return None
        if type(value) is str:
            return value
        if type(value) in (int, float, Decimal, UUID):
            return str(value)
        raise UnusableError(
            "id unusable",
            f"field {self.id_name!r} is {_kind(value)}; text or a number was expected",
        )


def decode(raw: bytes, where: str = "") -> str:
    """Decode UTF-8.

    `raw`: The bytes.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnusableError(
            "invalid UTF-8", f"{where}invalid UTF-8 at byte {error.start}"
        ) from error


def _kind(value: Any) -> str:
    """Name the JSON type of a value."""
    if value is None:
        return "null"
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}
    return names.get(type(value), "an object")
