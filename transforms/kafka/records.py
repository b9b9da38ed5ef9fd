"""Validates the records of a Kafka block: each becomes a document, or a dead letter.

A dead letter has the record's offset, key and headers. Values are JSON objects, like the lines of a
JSONL file. Or each value is a text, and the record's key is its id.
"""

from __future__ import annotations

import base64
from typing import Any, Literal

from evenflow.schemas.config import Config
from evenflow.transforms.io import fields
from evenflow.transforms.io.records import Checker, Documents, Result, UnusableError, dead_letter
from evenflow.transforms.io.unforeseen import Spoilt
from evenflow.transforms.kafka.blocks import Lost, PartitionBlock

Values = Literal["json", "text"]


def source(topic: str, partition: int) -> str:
    """Name a partition, where a file's name would stand.

    Args:
        topic: The topic.
        partition: The partition's number.

    Returns:
        The name.
    """
    return f"kafka:{topic}/{partition}"


def validate(
    block: PartitionBlock, config: Config, own: frozenset[str], values: Values, spoilt: Spoilt
) -> Documents:
    """Turn the records of a block into documents and dead letters.

    Args:
        block: The block.
        config: Names of the fields, and the limit of a text.
        own: Names of columns that are computed here; they replace fields of that name.
        values: What a record's value is.
        spoilt: Records by index that become dead letters and are not looked at.

    Returns:
        The documents and dead letters.
    """
    out = Documents(source(block.topic, block.partition))
    check = Checker(config)
    records: list[dict[str, Any]] = []
    raws: list[bytes] = []
    for index, raw in enumerate(block.values):
        offset, key = block.offsets[index], block.keys[index]
        try:
            if index in spoilt:
                raise spoilt[index]
            result = _document(check, key, raw, values)
        except UnusableError as error:
            out.reasons[error.kind] += 1
            letter = dead_letter(out.file, offset, str(error), raw or b"")
            letter["timestamp"] = block.timestamps[index]
            letter["key_base64"] = None if key is None else _text(key)
            letter["headers"] = [
                [name, None if value is None else _text(value)]
                for name, value in block.headers[index]
            ]
            out.dead.append(letter)
            continue
        assert isinstance(result, tuple)
        identity, text, rest = result
        out.ids.append(
            identity if identity is not None else f"{block.topic}/{block.partition}#{offset}"
        )
        out.texts.append(text)
        out.places.append(offset)
        records.append({name: value for name, value in rest.items() if name not in own})
        raws.append(raw or b"")
    out.fields = fields.stage(records, raws)
    return out


def _document(check: Checker, key: bytes | None, raw: bytes | None, values: Values) -> Result:
    """Parse a record's value, and its key where the value is a text."""
    if raw is None:
        raise UnusableError("no value", "the record has no value (a tombstone)")
    if values == "json":
        result = check.json(raw)
        if result is None:
            raise UnusableError("not JSON", "not JSON: the value is blank")
        return result
    try:
        return (
            check.identity(None if key is None else key.decode("utf-8")),
            check.text(raw.decode("utf-8")),
            {},
        )
    except UnicodeDecodeError as error:
        raise UnusableError(
            "invalid UTF-8", f"invalid UTF-8 in key or value at byte {error.start}"
        ) from error


def lost(item: Lost) -> dict[str, Any]:
    """Describe a range of lost offsets as one dead letter.

    Args:
        item: The range.

    Returns:
        The dead letter; `bytes` is 0, and `records` is the number of offsets.
    """
    letter = dead_letter(source(item.topic, item.partition), item.start, str(item), b"")
    return letter | {"records": item.next - item.start}


def _text(raw: bytes) -> str:
    """Encode bytes as Base64."""
    return base64.b64encode(raw).decode()
