"""Keeps what a record came with, so that its document is published as the record came.

The column ORIGINAL of the shards has the record's key, headers and time, and its value around the
text. The text itself is in its own column. Where it was not changed, the value has the same bytes
again; where it was, only the text differs. It is kept where accepted documents are published.
`fields.kafka` asks for key, headers and time as columns of their own.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from json.decoder import scanstring  # pyright: ignore
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
import pyarrow as pa

if TYPE_CHECKING:  # a run on files has this module, and needs no Kafka
    from evenflow.transforms.kafka.blocks import Headers, PartitionBlock

ORIGINAL = pa.field("_kafka", pa.string())
COLUMNS = {
    "key": pa.field("kafka_key", pa.binary()),
    "headers": pa.field(
        "kafka_headers", pa.list_(pa.struct([("name", pa.string()), ("value", pa.binary())]))
    ),
    "time": pa.field("kafka_time", pa.timestamp("ms", "UTC")),
}
LAST_MS = 253_402_300_799_999  # the end of the year 9999: few tools read later times
BLANKS = " \t\n\r\ufeff"  # with the mark that may begin a value
# How a text was written: with all its characters, or with escapes for all that are not ASCII
PLAIN, ASCII = "plain", "ascii"
# Numbers stay text: they are only passed over, and Python refuses to read very long ones
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


class Original(NamedTuple):
    """A record as it is published: key, value, headers, and time in milliseconds since 1970."""

    key: bytes | None
    value: bytes
    headers: Headers
    time: int | None


def names(wanted: Sequence[str], publishes: bool) -> frozenset[str]:
    """The names of the columns that are kept, which no field of a record may have."""
    own = {COLUMNS[each].name for each in wanted}
    return frozenset(own | {ORIGINAL.name} if publishes else own)


def columns(
    block: PartitionBlock,
    kept: Sequence[int],
    ids: Sequence[str],
    texts: Sequence[str],
    wanted: Sequence[str],
    field: str | None,
    publishes: bool,
) -> dict[pa.Field, pa.Array]:
    """Build the columns of records that became documents.

    `kept`: The indices of those that became documents (D,). `ids`: The documents' ids (D,).
    `texts`: The documents' texts (D,).

    Returns the columns (D,) by their field.
    """
    given: dict[str, list[Any]] = {
        "key": [block.keys[index] for index in kept],
        "headers": [
            [{"name": name, "value": value} for name, value in block.headers[index]]
            for index in kept
        ],
        "time": [
            time if (time := _time(block.timestamps[index])) is None or time <= LAST_MS else None
            for index in kept
        ],
    }
    found = {COLUMNS[each]: pa.array(given[each], COLUMNS[each].type) for each in wanted}
    if publishes:
        noted = [
            _note(block, index, identity, text, field)
            for index, identity, text in zip(kept, ids, texts, strict=True)
        ]
        found[ORIGINAL] = pa.array(noted, ORIGINAL.type)
    return found


def _note(block: PartitionBlock, index: int, identity: str, text: str, field: str | None) -> str:
    """Write what is kept of a record, as JSON."""
    around = None
    if field is not None:
        raw = (block.values[index] or b"").decode()
        begin, end = _span(raw, field)
        literal = raw[begin:end]
        if literal == json.dumps(text, ensure_ascii=False):
            literal = PLAIN
        elif literal == json.dumps(text):
            literal = ASCII
        around = [raw[:begin], literal, raw[end:]]
    noted = {
        "id": identity,
        "key": _base64(block.keys[index]),
        "headers": [[name, _base64(value)] for name, value in block.headers[index]],
        "time": _time(block.timestamps[index]),
        "value": around,
    }
    return orjson.dumps(noted).decode()


def restore(noted: str, identity: str, text: str, rebuilt: bytes) -> Original:
    """Rebuild the record of a document.

    Args:
        identity: The document's id. A copy of a document has another one than its record.
        rebuilt: The document as the shard has it. A copy is published so, with its id as key: more
            fields than the text may differ.
    """
    data = json.loads(noted)
    headers = tuple((name, _bytes(each)) for name, each in data["headers"])
    if identity != data["id"]:
        value = text.encode() if data["value"] is None else rebuilt
        return Original(identity.encode(), value, headers, data["time"])
    value = text
    if data["value"] is not None:
        before, literal, after = data["value"]
        value = before + _literal(literal, text) + after
    return Original(_bytes(data["key"]), value.encode(), headers, data["time"])


def letter(original: Original) -> dict[str, Any]:
    """What a dead letter has of a record beside its value."""
    return {
        "timestamp": -1 if original.time is None else original.time,
        "key_base64": _base64(original.key),
        "headers": [[name, _base64(value)] for name, value in original.headers],
    }


def _base64(raw: bytes | None) -> str | None:
    return None if raw is None else base64.b64encode(raw).decode()


def _bytes(encoded: str | None) -> bytes | None:
    return None if encoded is None else base64.b64decode(encoded)


def _literal(literal: str, text: str) -> str:
    """Write a text as its record wrote it."""
    if literal not in (PLAIN, ASCII) and json.loads(literal) == text:
        return literal
    return json.dumps(text, ensure_ascii=literal != PLAIN and literal.isascii())


def _span(raw: str, field: str) -> tuple[int, int]:
    """Find where a JSON object has the value of a field, of several the last; (0, 0): nowhere."""
    found, at = (0, 0), _skip(raw, 0)
    while raw[at] in "{,":
        at = _skip(raw, at + 1)
        if raw[at] == "}":  # an empty object
            break
        name, at = scanstring(raw, at + 1)
        begin = _skip(raw, _skip(raw, at) + 1)  # behind the colon
        _, end = _DECODER.raw_decode(raw, begin)
        if name == field:
            found = begin, end
        at = _skip(raw, end)
    return found


def _skip(raw: str, at: int) -> int:
    """Pass over blanks."""
    while raw[at] in BLANKS:
        at += 1
    return at


def _time(timestamp: int) -> int | None:
    """A record's time; None where it has none."""
    return None if timestamp < 0 else timestamp
