"""Looks at the first records of files before a run: a wrong name of a field is found at once."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import orjson
import pyarrow as pa

from evenflow.schemas.config.fields import Fields
from evenflow.transforms.io import formats
from evenflow.transforms.io.blocks import Block, read_blocks
from evenflow.transforms.io.files import InputError, printable
from evenflow.transforms.io.lines import header_fields
from evenflow.transforms.io.parts import names_of

RECORDS = 100  # that are looked at in a file
FILES = 100  # that are looked at, spread evenly; opening one in an object store takes some 50 ms


class FieldError(InputError):
    """The first records of a file have other fields than the text's."""


def check_text_field(names: Sequence[str], own: Fields) -> None:
    """Check that files have the field of the text, or one that a path to it begins with.

    A file whose first records cannot be read is no fault here: each becomes a dead letter.

    Raises:
        FieldError: The first records of a file are objects, or rows, and none has the field.
        OSError: A device fails.
    """
    wanted, field = {*names_of(own)}, own.text
    structured = [name for name in names if not formats.of(name).is_text]
    for name in structured[:: -(-len(structured) // FILES) or 1]:
        known = _fields(name)
        if known and wanted.isdisjoint(known):
            from evenflow.transforms.io.shapes import advice  # rarely needed

            raise FieldError(
                f"{printable(name)}: no field {field!r} in the first records;"
                f" {advice(known, [*_records(name)])}"
            )


def _fields(name: str) -> list[str]:
    """Names of the fields in a file's first records; none where no record can be read."""
    found: dict[str, None] = {}
    looked = 0
    for block in read_blocks(name):
        if block.rows is not None:
            return block.rows.column_names
        if block.header is not None:
            with suppress(UnicodeDecodeError, csv.Error):
                return list(header_fields(block.header, block.format.delimiter))
            return []
        for record in _objects(block, RECORDS - looked):
            found |= dict.fromkeys(record)
        looked += block.size
        if looked >= RECORDS:
            break
    return list(found)


def _records(name: str) -> Iterator[dict[str, Any]]:
    """The first records that can be read, of a file without the field; none of CSV."""
    for block in islice(read_blocks(name), 1):
        yield from _objects(block, RECORDS)
        rows = pa.table({}) if block.rows is None else block.rows
        for at in range(min(RECORDS, rows.num_rows)):
            with suppress(ValueError, OverflowError, pa.ArrowException):  # a value of no use here
                yield from rows.slice(at, 1).to_pylist()


def _objects(block: Block, most: int) -> Iterator[dict[str, Any]]:
    """The first records of a block of lines that are objects."""
    for index, raw in enumerate(block.records[:most]):
        with suppress(orjson.JSONDecodeError):
            record = orjson.loads(block.format.value(raw, block.first + index == 0))
            if isinstance(record, dict):
                yield record
