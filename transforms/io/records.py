"""Validates the records of a block: each becomes a document, or a dead letter with its reason.

A document has an id, a text and other fields.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from evenflow.schemas.config import Config
from evenflow.transforms.io import fields, files
from evenflow.transforms.io.files import RECORD_BYTES, Block

# Kind of reason of the dead letter that stands where a file breaks off
UNREADABLE = "unreadable file"
# Levels of lists and objects in a record. orjson writes up to 254, and what is deeper is no data of
# anybody's.
MOST_NESTED = 200
# Lists, objects and what stands in them, of a record of more than LARGE_BYTES: each may take 200
# bytes of memory.
MOST_VALUES = 1 << 19
LARGE_BYTES = 1 << 20
BOM = b"\xef\xbb\xbf"  # some writers begin a UTF-8 file with it


@dataclass
class Documents:
    """The documents of a block, D of them, and its dead letters.

    Attributes:
        file: The file's name.
        ids: The ids (D,).
        texts: The texts (D,).
        places: The ordinals in the file (D,).
        fields: The other columns (D,) by their field.
        dead: The records that became no document, as dead letters that JSON can hold.
        reasons: Number of dead letters by kind of reason.
    """

    file: str
    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    fields: dict[pa.Field, pa.Array] = field(default_factory=dict)
    dead: list[dict[str, Any]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)


class UnusableError(ValueError):
    """A record cannot become a document.

    Attributes:
        kind: The kind of reason, for counting.
    """

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


def dead_letter(
    file: str, place: int, reason: str, raw: bytes, length: int | None = None
) -> dict[str, Any]:
    """Describe a record that became no document.

    Args:
        file: The file's name in the record's block.
        place: The record's ordinal in the block.
        reason: Why it became none.
        raw: The record's bytes, or their beginning.
        length: The record's full length in bytes, where `raw` is cut.

    Returns:
        The dead letter, with the record's own file and ordinal.
    """
    file, place = files.position(file, place)
    return {
        "file": file,
        "ordinal": place,
        "reason": reason,
        "bytes": len(raw) if length is None else length,
        "raw_base64": base64.b64encode(raw).decode(),
    }


def made_id(file: str, place: int, root: str | None = None) -> str:
    """Make the id of a document that has none.

    Args:
        file: The file's name in the record's block.
        place: The record's ordinal in the block.
        root: The folder that all files are in, with a slash at its end; None where none is given.

    Returns:
        The file's path below the root (its name, without a root), `#`, and the ordinal.
    """
    file, place = files.position(file, place)
    return f"{file.rsplit('/', 1)[-1] if root is None else file.removeprefix(root)}#{place}"


def validate(
    block: Block,
    config: Config,
    own: frozenset[str],
    keep_fields: bool = True,
    root: str | None = None,
    spoilt: Mapping[int, UnusableError] | None = None,
) -> Documents:
    """Turn the records of a block into documents and dead letters.

    Args:
        block: The block.
        config: Names of the fields, and the limit of a text.
        own: Names of columns that are computed here; they replace fields of that name.
        keep_fields: False where only text and id are asked for.
        root: The folder that all files are in, for ids that are made.
        spoilt: Records by index that become dead letters and are not looked at (`unforeseen`).

    Returns:
        The documents and dead letters.
    """
    out = Documents(block.file)
    records: list[dict[str, Any]] = []
    raws: list[bytes] = []
    kept: list[int] = []
    check = Checker(config)
    parse = check.text_file if block.file.endswith(".txt") else check.json
    found = (
        _rows(block, check, spoilt or {})
        if block.rows is not None
        else _lines(block, parse, spoilt or {})
    )
    for index, (raw, result) in enumerate(found):
        place = block.first + index
        if result is None:
            continue
        if isinstance(result, UnusableError):
            out.reasons[result.kind] += 1
            out.dead.append(dead_letter(block.file, place, str(result), raw, block.cut.get(index)))
            continue
        identity, text, rest = result
        out.ids.append(identity if identity is not None else made_id(block.file, place, root))
        out.texts.append(text)
        out.places.append(place)
        kept.append(index)
        records.append(rest)
        raws.append(raw)
    if block.fault is not None:
        out.reasons[UNREADABLE] += 1
        out.dead.append(dead_letter(block.file, block.first + block.size, block.fault, b""))
    if keep_fields:
        if block.rows is None:
            for record in records:
                for name in own & record.keys():
                    del record[name]
            out.fields = fields.stage(records, raws)
        else:
            skip = {config.fields.text, config.fields.id, *own}
            out.fields = _columns(block.rows.take(pa.array(kept, pa.int64())), skip)
    return out


Result = tuple[str | None, str, dict[str, Any]] | UnusableError | None


def _lines(
    block: Block, parse: Callable[[bytes], Result], spoilt: Mapping[int, UnusableError]
) -> Iterator[tuple[bytes, Result]]:
    """Parse the raw records of a block."""
    # So many records begin a file
    begin = block.size if files.BETWEEN in block.file else int(block.first == 0)
    for index, raw in enumerate(block.records):
        if index in spoilt:
            yield raw, spoilt[index]
            continue
        if index in block.cut:
            yield (
                raw,
                UnusableError(
                    "too long",
                    f"the record has {block.cut[index]} bytes; only its beginning is kept here",
                ),
            )
            continue
        try:
            yield raw, parse(raw.removeprefix(BOM) if index < begin else raw)
        except UnusableError as error:
            yield raw, error


class Checker:
    """Turns one record into its id, its text and its other fields.

    Args:
        config: Names of the fields, and the limit of a text.
    """

    def __init__(self, config: Config):
        self.id_name, self.text_name = config.fields.id, config.fields.text
        self._most = config.max_text_mib << 20

    def json(self, raw: bytes) -> Result:
        """Parse a JSON object.

        Args:
            raw: A line of a file, or a message's value.

        Returns:
            Id (None where one must be made), text and other fields; None for a blank line.

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
            try:
                raw.decode()
            except UnicodeDecodeError as wrong:
                raise UnusableError(
                    "invalid UTF-8", f"invalid UTF-8 at byte {wrong.start}"
                ) from wrong
            raise UnusableError("not JSON", f"not JSON: {error}") from error
        if type(record) is not dict:
            raise UnusableError("not an object", f"a JSON object was expected, not {_kind(record)}")
        if self.text_name not in record:
            raise UnusableError("text missing", f"field {self.text_name!r} is missing")
        text = self.text(record.pop(self.text_name))
        if fields.depth(record, MOST_NESTED) > MOST_NESTED:
            raise UnusableError(
                "nested too deeply",
                f"the record has more than {MOST_NESTED} levels of lists and objects",
            )
        return self.identity(record.pop(self.id_name, None)), text, record

    def text_file(self, raw: bytes) -> Result:
        """Decode a text file.

        Args:
            raw: The file's bytes.

        Returns:
            No id, the text and no other fields.

        Raises:
            UnusableError: The file is not UTF-8, or its text is unusable.
        """
        try:
            return None, self.text(raw.decode("utf-8")), {}
        except UnicodeDecodeError as error:
            raise UnusableError("invalid UTF-8", f"invalid UTF-8 at byte {error.start}") from error

    def text(self, text: Any) -> str:
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

    def identity(self, value: Any) -> str | None:
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


def _rows(
    block: Block, check: Checker, spoilt: Mapping[int, UnusableError]
) -> Iterator[tuple[bytes, Result]]:
    """Check text and id of the rows of a table, as those of a line."""
    rows = block.rows
    assert rows is not None
    alone = len(rows) == 1 and rows.nbytes > RECORD_BYTES  # larger rows come alone
    left = [index for index in range(len(rows)) if index not in spoilt]
    whole = rows.take(pa.array(left, pa.int64())) if spoilt else rows
    texts, ids = (
        None if alone else _column(whole, left, name) for name in (check.text_name, check.id_name)
    )
    for index in range(len(rows)):
        try:
            if index in spoilt:
                raise spoilt[index]
            if alone:
                raise UnusableError(
                    "too long", f"the row has {rows.nbytes} bytes; it is not kept here"
                )
            if texts is None:
                raise UnusableError("text missing", f"column {check.text_name!r} is missing")
            text = _value(texts[index], check.text_name)
            yield (
                b"",
                (
                    check.identity(_value(ids[index], check.id_name) if ids is not None else None),
                    check.text(text),
                    {},
                ),
            )
        except UnusableError as error:
            yield b"" if error.kind == "too long" else _row_json(rows.slice(index, 1)), error


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
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UnusableError(
                "invalid UTF-8", f"column {name!r}: invalid UTF-8 at byte {error.start}"
            ) from error
    return value


def _row_json(row: pa.Table) -> bytes:
    """Write a row as JSON, as a Parquet row has no bytes; other values become text."""
    values = {}
    for name in row.column_names:
        try:
            [values[name]] = fields.to_python(row[name])
        except UnicodeDecodeError:
            try:
                values[name] = repr(row[name].cast(pa.large_binary())[0].as_py())
            except pa.ArrowNotImplementedError:  # it is within a list or an object
                values[name] = str(row[name].type)
    return fields.to_json(values).encode("utf-8", "backslashreplace")


def _columns(rows: pa.Table, skip: set[str]) -> dict[pa.Field, pa.Array]:
    """Take a table's other columns; dictionaries and other forms of text become plain text."""
    out: dict[pa.Field, pa.Array] = {}
    for name in rows.column_names:
        if name in skip:
            continue
        values = rows[name].combine_chunks()
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        kind = (
            pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind
        )
        out[pa.field(name, kind)] = values if kind == values.type else pc.cast(values, kind)
    return out
