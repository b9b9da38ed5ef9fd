"""Validates the records of a Kafka block: each becomes a document, or a dead letter.

A dead letter has the record's offset, key and headers. Values are JSON objects, like the lines of a
JSONL file. Or each value is a text, and the record's key is its id.

A record whose value is null (or that of JSON), empty or blank is no document, whatever its key is:
it deletes what had the key, or says nothing. Such records are counted apart, no dead letters.
"""

from __future__ import annotations

import base64
from typing import Any, Literal

from evenflow.schemas.config import Config
from evenflow.transforms.io.blocks import KEPT_BYTES
from evenflow.transforms.io.files import RECORD_BYTES
from evenflow.transforms.io.lines import BOM
from evenflow.transforms.io.record_parser import Parsed, RecordParser, UnusableError
from evenflow.transforms.io.records import Documents, collect, dead_letter, stage_fields
from evenflow.transforms.io.unforeseen import Spoilt
from evenflow.transforms.kafka import originals
from evenflow.transforms.kafka.batches import CutValue
from evenflow.transforms.kafka.blocks import Lost, PartitionBlock

SCHEME = "kafka:"  # begins the name of a partition, where a file's name would stand
Values = Literal["json", "text"]


def source(topic: str, partition: int) -> str:
    """Name a partition, where a file's name would stand."""
    return f"{SCHEME}{topic}/{partition}"


def validate(
    block: PartitionBlock,
    config: Config,
    own: frozenset[str],
    values: Values,
    spoilt: Spoilt,
    publishes: bool = False,
) -> Documents:
    """Turn the records of a block into documents and dead letters.

    Args:
        config: Names of the fields, and the limit of a text.
        own: Names of columns that are computed here; they replace fields of that name.
        values: What a record's value is.
        spoilt: Records by index that become dead letters and are not looked at.
        publishes: Whether accepted documents are published, as their records came.
    """
    out, kept, rests = parsed(block, config, values, spoilt)
    wanted, field = config.fields.kafka, config.fields.column if values == "json" else None
    own = own | originals.names(wanted, publishes)
    stage_fields(out, rests, [block.values[index] or b"" for index in kept], own)
    out.fields |= originals.columns(block, kept, out.ids, out.texts, wanted, field, publishes)
    return out


def parsed(
    block: PartitionBlock, config: Config, values: Values, spoilt: Spoilt
) -> tuple[Documents, list[int], list[dict[str, Any]]]:
    """Parse the records of a block, with their other fields as they are.

    Args:
        config: Names of the fields, and the limit of a text.
        values: What a record's value is.
        spoilt: Records by index that become dead letters and are not looked at.

    Returns:
        The documents (D,) without their fields, and the dead letters; the indices of the records
        that became documents (D,); and their other fields (D,).
    """
    out = Documents(source(block.topic, block.partition))
    parser = RecordParser(config)
    blank = (b"", b"null") if values == "json" else (b"",)  # Kafka Connect wrote the latter

    def parse(index: int) -> Parsed | None:
        raw = block.values[index]
        if raw is None or raw.removeprefix(BOM).strip() in blank:
            out.deleted += 1
            return None
        return _parse(parser, block.keys[index], raw, values)

    def describe(index: int, error: UnusableError) -> dict[str, Any]:
        raw, key = block.values[index], block.keys[index]
        kept, size = raw or b"", _length(raw)
        kept = kept[:KEPT_BYTES] if size > RECORD_BYTES else kept
        letter = dead_letter(out.file, block.offsets[index], str(error), kept, size)
        return letter | {
            "timestamp": block.timestamps[index],
            "key_base64": _base64(key),
            "headers": [[name, _base64(value)] for name, value in block.headers[index]],
        }

    kept, rests = collect(out, block.offsets, parse, describe, spoilt, root=SCHEME)
    return out, kept, rests


def _parse(parser: RecordParser, key: bytes | None, raw: bytes, values: Values) -> Parsed | None:
    """Parse a record's value, and its key where the value is a text."""
    if _length(raw) > RECORD_BYTES:
        raise UnusableError(
            "too long", f"the value has {_length(raw)} bytes; only its beginning is kept here"
        )
    raw = raw.removeprefix(BOM)
    if values == "json":
        return parser.parse_json(raw)
    try:
        return Parsed(
            parser.check_id(None if key is None else key.decode("utf-8")),
            parser.check_text(raw.decode("utf-8")),
            {},
        )
    except UnicodeDecodeError as error:
        raise UnusableError(
            "invalid UTF-8", f"invalid UTF-8 in key or value at byte {error.start}"
        ) from error


def lost(item: Lost) -> dict[str, Any]:
    """Describe a range of lost offsets as one dead letter.

    Returns:
        The dead letter; `bytes` is 0, and `records` is the number of offsets.
    """
    letter = dead_letter(source(item.topic, item.partition), item.start, str(item), b"")
    return letter | {"records": item.next - item.start}


def _length(raw: bytes | None) -> int:
    """A value's length in bytes; that of a cut one was noted."""
    if isinstance(raw, CutValue):
        return raw.length
    return 0 if raw is None else len(raw)


def _base64(raw: bytes | None) -> str | None:
    """Encode bytes as Base64; None stays None."""
    return None if raw is None else base64.b64encode(raw).decode()
