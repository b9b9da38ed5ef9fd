"""Parses one record into its id, its text and its other fields.

Every JSON record goes through `RecordParser.parse_json`: lines of files and values of messages.
"""

from __future__ import annotations

import csv
from typing import Any, NamedTuple

import orjson

from evenflow.schemas.config import Config
from evenflow.transforms.io import fields, lines

# Most levels of lists and objects in a record. orjson writes up to 254, and nobody's data are
# deeper.
MOST_NESTED = 200
# Most lists, objects and items in them, for a record of more than LARGE_BYTES: each may take 200
# bytes of memory.
MOST_VALUES = 1 << 19
LARGE_BYTES = 1 << 20


class UnusableError(ValueError):
    """A record cannot become a document.

    Attributes:
        kind: The kind of reason, for counting.
    """

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


class Parsed(NamedTuple):
    """A record that can become a document.

    Attributes:
        id: Its id; None where one must be made.
        text: Its text.
        rest: Its other fields by name.
    """

    id: str | None
    text: str
    rest: dict[str, Any]


class RecordParser:
    """Turns one record into its id, its text and its other fields.

    Args:
        config: Names of the fields, and the limit of a text.
    """

    def __init__(self, config: Config):
        self.id_name, self.text_name = config.fields.id, config.fields.text
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
        try:
            record = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            if not raw.strip():
                return None
            decode(raw)
            raise UnusableError("not JSON", f"not JSON: {error}") from error
        if type(record) is not dict:
            raise UnusableError("not an object", f"a JSON object was expected, not {_kind(record)}")
        if self.text_name not in record:
            raise UnusableError("text missing", f"field {self.text_name!r} is missing")
        text = self.check_text(record.pop(self.text_name))
        if fields.depth(record, MOST_NESTED) > MOST_NESTED:
            raise UnusableError(
                "nested too deeply",
                f"the record has more than {MOST_NESTED} levels of lists and objects",
            )
        return Parsed(self.check_id(record.pop(self.id_name, None)), text, record)

    def parse_csv(self, header: bytes, raw: bytes) -> Parsed | None:
        """Parse a line of CSV; an empty field is not there.

        Args:
            header: The file's first line.
            raw: The line.

        Returns:
            The record; None for a blank line.

        Raises:
            UnusableError: The record cannot become a document.
        """
        try:
            names, values = lines.header_fields(header), lines.fields(raw)
        except UnicodeDecodeError as error:
            raise UnusableError("invalid UTF-8", f"invalid UTF-8 at byte {error.start}") from error
        except csv.Error as error:
            raise UnusableError("not CSV", f"not CSV: {error}") from error
        if not values:
            return None
        if len(values) != len(names):
            raise UnusableError(
                "number of fields", f"{len(values)} fields, where the first line has {len(names)}"
            )
        record = {name: value for name, value in zip(names, values, strict=True) if value}
        if len(set(names)) < len(names):
            raise UnusableError("double field", "the first line names a field twice")
        if self.text_name not in names:
            raise UnusableError("text missing", f"field {self.text_name!r} is missing")
        text = self.check_text(record.pop(self.text_name, ""))
        return Parsed(self.check_id(record.pop(self.id_name, None)), text, record)

    def parse_text(self, raw: bytes) -> Parsed:
        """Decode a text file.

        Args:
            raw: The file's bytes.

        Returns:
            The record, without an id and other fields.

        Raises:
            UnusableError: The file is not UTF-8, or its text is unusable.
        """
        return Parsed(None, self.check_text(decode(raw)), {})

    def check_text(self, text: Any) -> str:
        """Check a text.

        Args:
            text: The value of the text field.

        Returns:
            The text.

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

        Args:
            value: The value of the id field.

        Returns:
            The id; None where one must be made.

        Raises:
            UnusableError: It is neither text nor a whole number.
        """
        if value is None or value == "":
            return None
        if type(value) is str:
            return value
        if type(value) is int:
            return str(value)
        raise UnusableError(
            "id unusable",
            f"field {self.id_name!r} is {_kind(value)}; text or a whole number was expected",
        )


def decode(raw: bytes, where: str = "") -> str:
    """Decode UTF-8.

    Args:
        raw: The bytes.
        where: What the reason of an error begins with.

    Returns:
        The text.

    Raises:
        UnusableError: The bytes are not UTF-8.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnusableError(
            "invalid UTF-8", f"{where}invalid UTF-8 at byte {error.start}"
        ) from error


def _kind(value: Any) -> str:
    """Name the JSON type of a value."""
    names = {
        type(None): "null",
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "text",
    }
    return names.get(type(value), "a list" if isinstance(value, list) else "an object")
