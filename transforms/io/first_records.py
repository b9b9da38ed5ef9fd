"""Looks at the first records of files before a run: a wrong name of a field is found at once."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import orjson

from evenflow.schemas.config.fields import Fields
from evenflow.transforms.io import formats
from evenflow.transforms.io.blocks import read_blocks
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
        known, records = _first(name)
        if known and wanted.isdisjoint(known):
            from evenflow.transforms.io.shapes import advice  # rarely needed

            raise FieldError(
                f"{printable(name)}: no field {field!r} in the first records;"
                f" {advice(known, records)}"
            )


def _first(name: str) -> tuple[list[str], list[dict[str, Any]]]:
    """The fields of a file's first records, and those that can be read; none of CSV."""
    found: dict[str, None] = {}
    records: list[dict[str, Any]] = []
    looked = 0
    for block in read_blocks(name):
        if block.rows is not None:
            return block.rows.column_names, block.rows.slice(0, RECORDS).to_pylist()
        if block.header is not None:
            with suppress(UnicodeDecodeError, csv.Error):
                return list(header_fields(block.header, block.format.delimiter)), []
            return [], []
        for index, raw in enumerate(block.records[: RECORDS - looked]):
            with suppress(orjson.JSONDecodeError):
                record = orjson.loads(block.format.value(raw, block.first + index == 0))
                records += [record] if isinstance(record, dict) else []
        looked += block.size
        if looked >= RECORDS:
            break
    for record in records:
        found |= dict.fromkeys(record)
    return list(found), records
