"""Validates the records of a block: each becomes a document, or a dead letter with its reason.

A document has an id, a text and other fields.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from evenflow.schemas.config import Config
from evenflow.transforms.io import fields
from evenflow.transforms.io.blocks import BETWEEN, Block, position
from evenflow.transforms.io.record_parser import Parsed, RecordParser, UnusableError
from evenflow.transforms.io.rows import TableRows

# Kind of reason of the dead letter that stands where a file breaks off
UNREADABLE = "unreadable file"


@dataclass
class Documents:
    """The documents of a block, D of them, and its dead letters.

    Attributes:
        places: The ordinals in the file (D,).
        fields: The other columns (D,) by their field.
        dead: The records that became no document, as dead letters that JSON can hold.
        reasons: Number of records that are lost by kind of reason.
        replaced: Number of documents with a field that has the name of a computed column, and is
            kept under another one (`fields.free_name`), by its name.
        deleted: Number of a topic's records without a value, which are no documents.
        mended: Number of documents with a field in which bytes that are no UTF-8 were replaced, or
            a value that columns cannot hold became null, by its name.
    """

    file: str
    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    fields: dict[pa.Field, pa.Array] = field(default_factory=dict)
    dead: list[dict[str, Any]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    replaced: dict[str, int] = field(default_factory=dict[str, int])
    deleted: int = 0
    mended: Counter[str] = field(default_factory=Counter[str])


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
    file, place = position(file, place)
    return {
        "file": file,
        "ordinal": place,
        "reason": reason,
        "bytes": len(raw) if length is None else length,
        "raw_base64": base64.b64encode(raw).decode(),
    }


def make_id(file: str, place: int, root: str | None = None) -> str:
    """Make the id of a document that has none.

    Args:
        file: The file's name in the record's block.
        place: The record's ordinal in the block.
        root: The folder that all files are in, with a slash at its end; None where none is given.

    Returns:
        The file's path below the root (its name, without a root), `#`, and the ordinal.
    """
    file, place = position(file, place)
    return f"{file.rsplit('/', 1)[-1] if root is None else file.removeprefix(root)}#{place}"


def collect(
    out: Documents,
    places: Sequence[int],
    parse: Callable[[int], Parsed | None],
    describe: Callable[[int, UnusableError], dict[str, Any]],
    spoilt: Mapping[int, UnusableError],
    root: str | None,
) -> tuple[list[int], list[dict[str, Any]]]:
    """Parse the records of a block and add each as a document or as a dead letter.

    Args:
        out: Receives the documents and dead letters.
        places: Ordinals of the records (n,).
        parse: Parses a record, by its index; None for a blank line, which is skipped.
        describe: Makes the dead letter of a record, by its index, from the error.
        spoilt: Records by index that become dead letters and are not parsed.
        root: The folder that all files are in, for ids that are made.

    Returns:
        Indices of the records that became documents (D,), and their other fields (D,).
    """
    kept: list[int] = []
    rests: list[dict[str, Any]] = []
    for index, place in enumerate(places):
        try:
            if index in spoilt:
                raise spoilt[index]
            record = parse(index)
        except UnusableError as error:
            out.reasons[error.kind] += error.records
            out.dead.append(describe(index, error))
            continue
        if record is None:
            continue
        out.ids.append(make_id(out.file, place, root) if record.id is None else record.id)
        out.texts.append(record.text)
        if record.lost:
            out.mended.update(record.lost)
        out.places.append(place)
        kept.append(index)
        rests.append(record.rest)
    return kept, rests


def stage_fields(
    out: Documents, rests: Sequence[dict[str, Any]], raws: Sequence[bytes], own: frozenset[str]
) -> None:
    """Build the columns of JSON records' other fields.

    Args:
        out: Receives the columns, and how many documents have a field that is renamed.
        rests: The other fields of each document (D,).
        raws: The JSON text of each document (D,).
        own: Names of columns that are computed here; fields of that name get another one.
    """
    for rest in rests:
        for name in own & rest.keys():
            rest[fields.free_name(name, own | rest.keys())] = rest.pop(name)
            out.replaced[name] = out.replaced.get(name, 0) + 1
    out.fields = fields.stage(rests, raws)


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
        config: Names of the fields, and the limit of a text.
        own: Names of columns that are computed here; fields of that name get another one.
        keep_fields: False where only text and id are asked for.
        root: The folder that all files are in, for ids that are made.
        spoilt: Records by index that become dead letters and are not looked at (`unforeseen`).
    """
    out = Documents(block.file)
    spoilt = spoilt or {}
    parser = RecordParser(config)
    table = None if block.rows is None else TableRows(block.rows, parser, spoilt)
    parse = _line_parser(block, parser) if table is None else table.parse

    def describe(index: int, error: UnusableError) -> dict[str, Any]:
        raw = block.records[index] if table is None else table.to_json(index)
        place = block.first + index
        return dead_letter(block.file, place, str(error), raw, block.cut.get(index))

    places = range(block.first, block.first + block.size)
    kept, rests = collect(out, places, parse, describe, spoilt, root)
    if block.fault is not None:
        out.reasons[UNREADABLE] += 1
        out.dead.append(dead_letter(block.file, block.first + block.size, block.fault, b""))
    if keep_fields and table is not None:
        out.fields, out.mended = table.columns(kept, own)
        out.replaced = dict.fromkeys(own & table.names, len(kept))
    elif keep_fields:
        value, begins = block.format.value, _begins(block)
        raws = [value(block.records[index], index in begins) for index in kept]
        stage_fields(out, rests, raws, own)
    return out


def _line_parser(block: Block, parser: RecordParser) -> Callable[[int], Parsed | None]:
    """Make the function that parses a raw record of a block, by its index."""
    own = block.format
    if block.header is not None:
        parse = partial(parser.parse_csv, block.header, own.delimiter)
    else:
        parse = parser.parse_text if own.is_text else parser.parse_json
    begins = _begins(block)

    def parse_line(index: int) -> Parsed | None:
        if index in block.cut:
            length = block.cut[index]
            raise UnusableError(
                "too long", f"the record has {length} bytes; only its beginning is kept here"
            )
        return parse(own.value(block.records[index], index in begins))

    return parse_line


def _begins(block: Block) -> Container[int]:
    """The records of a block, by their indices, that begin a file."""
    if BETWEEN not in block.file:
        return range(int(block.first == 0))
    return {index for index in range(block.size) if not position(block.file, index)[1]}
