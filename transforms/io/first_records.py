"""Looks at the first records of files before a run: a wrong name of a field is found at once."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress

import orjson

from evenflow.transforms.io import formats
from evenflow.transforms.io.blocks import read_blocks
from evenflow.transforms.io.files import InputError, printable
from evenflow.transforms.io.lines import BOM, header_fields

RECORDS = 100  # that are looked at in a file
FILES = 100  # that are looked at, spread evenly; opening one in an object store takes some 50 ms


class FieldError(InputError):
    """The first records of a file have other fields than the text's."""


def check_text_field(names: Sequence[str], field: str) -> None:
    """Check that files have the field of the text.

    A file whose first records cannot be read is no fault here: each becomes a dead letter.

    Args:
        names: The files' names.
        field: Name of the field (fields.text).

    Raises:
        FieldError: The first records of a file are objects, or rows, and none has the field.
        OSError: A device fails.
    """
    structured = [name for name in names if not formats.of(name).is_text]
    for name in structured[:: -(-len(structured) // FILES) or 1]:
        known = _fields(name)
        if known and field not in known:
            raise FieldError(
                f"{printable(name)}: no field {field!r} in the first records; there are"
                f" {', '.join(known)}. Name the field of the text with --text-field (fields.text)"
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
                return list(header_fields(block.header))
            return []
        for raw in block.records[: RECORDS - looked]:
            with suppress(orjson.JSONDecodeError):
                record = orjson.loads(raw.removeprefix(BOM))
                found |= dict.fromkeys(record if isinstance(record, dict) else ())
        looked += block.size
        if looked >= RECORDS:
            break
    return list(found)
