"""Decides the columns of an output's shards, and keeps them in ledger/meta.json.

All shards have one schema, whatever worker writes them. It is fields.schema of the configuration,
or what holds a sample of the input's files. A later round of files, and a pane of a topic, may have
fields that nobody knew: then a new version adds columns for them, from that pane on. Columns that
are there stay as they are, so that who reads by the old schema still reads.
"""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from evenflow.gates.ledger import files as ledger
from evenflow.schemas.config import Config
from evenflow.transforms.annotation.sample import sample_blocks
from evenflow.transforms.io import fields, formats
from evenflow.transforms.io.records import validate
from evenflow.transforms.kafka import originals
from evenflow.transforms.storage.storage import Place

KEY = "schema"  # of meta.json
SAMPLE = 20_000  # documents that are looked at: parsing them takes a second
PLACES = 256  # that they come from; opening a file in an object store takes some 50 ms
TYPES = {"text": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}


def columns(meta: Mapping[str, Any] | None, pane: int) -> list[pa.Field] | None:
    """Find the columns of a pane's shards, besides those that every output has."""
    found = [each for each in (meta or {}).get(KEY, ()) if each["pane"] <= pane]
    return unpacked(found[-1]["arrow"]) if found else None


def packed(own: Sequence[pa.Field] | None) -> str | None:
    """Columns as a text; None stays None."""
    if own is None:
        return None
    return base64.b64encode(pa.schema(own).serialize().to_pybytes()).decode()


def unpacked(arrow: str) -> list[pa.Field]:
    """Columns from what `packed` returned."""
    return list(pa.ipc.read_schema(pa.py_buffer(base64.b64decode(arrow))))


def noted(
    meta: Mapping[str, Any] | None, pane: int, wanted: Sequence[pa.Field]
) -> list[dict[str, Any]]:
    """The versions for meta.json with the one that a pane needs, if it is new."""
    before = [each for each in (meta or {}).get(KEY, ()) if each["pane"] < pane]
    known = columns({KEY: before}, pane)
    now = fields.widened(known or [], wanted)
    if known is not None and len(now) == len(known):
        return before
    words = {each.name: kind(each) for each in now}
    return [*before, {"pane": pane, "columns": words, "arrow": packed(now)}]


def kind(column: pa.Field) -> str:
    """A column's type in words."""
    return "json" if fields.is_json(column) else str(column.type)


def configured(config: Config, own: Iterable[str]) -> list[pa.Field] | None:
    """The columns that fields.schema names, without those that are computed; None: it names none.

    Args:
        config: The configuration.
        own: Names of columns that are computed.

    Returns:
        The columns.
    """
    asked = config.fields.schema
    if asked is None:
        return None
    taken = {config.fields.column, config.fields.id, fields.EXTRA.name, *own}
    return [
        pa.field(name, pa.string(), metadata=fields.JSON)
        if each == "json"
        else pa.field(name, _type(each))
        for name, each in asked.items()
        if name not in taken
    ]


def _type(spec: Any) -> pa.DataType:
    """A type as the configuration names it."""
    if isinstance(spec, str):
        return TYPES[spec]
    if isinstance(spec, list):
        return pa.list_(_type(spec[0]))
    return pa.struct([(key, _type(each)) for key, each in spec.items()])


def sampled(found: Mapping[str, int], config: Config, own: frozenset[str]) -> list[pa.Field]:
    """The columns that hold a sample of files.

    `found`: The stored bytes of each file, by its name.
    """
    if (given := configured(config, own)) is not None:
        return given
    named = {name: size for name, size in found.items() if not formats.of(name).is_text}
    seen = []
    for block, _ in sample_blocks(named, SAMPLE, PLACES):
        # A record with an unforeseen error becomes a dead letter when its pane is made
        with contextlib.suppress(Exception):
            seen.append(list(validate(block, config, own).fields.items()))
    return fields.unify(seen)


def note_pane(
    output: Place, pane: int, wanted: Sequence[pa.Field], config: Config, own: frozenset[str]
) -> list[pa.Field]:
    """Note what columns a pane of a topic needs, before it is committed.

    A replay of the pane finds the same columns.
    """
    meta = ledger.read_meta(output) or {}
    now = of_pane(meta, pane, wanted, config, own)
    versions = noted(meta, pane, now)
    if versions != meta.get(KEY):
        ledger.write_meta(output, {**meta, KEY: versions})
    return now


def of_pane(
    meta: Mapping[str, Any] | None,
    pane: int,
    wanted: Sequence[pa.Field],
    config: Config,
    own: frozenset[str],
) -> list[pa.Field]:
    """The columns of a pane of a topic: those of the panes before, and what it needs besides."""
    before = [each for each in (meta or {}).get(KEY, ()) if each["pane"] < pane]
    if (given := configured(config, own)) is not None:
        wanted = [*given, *(originals.COLUMNS[each] for each in config.fields.kafka)]
    return fields.widened(columns({KEY: before}, pane) or [], wanted)
