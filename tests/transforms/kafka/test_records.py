"""Documents and dead letters from a block of Kafka records."""

import base64
from typing import Any

import pytest

from evenflow.schemas.config import load
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.record_parser import UnusableError
from evenflow.transforms.io.records import Documents
from evenflow.transforms.io.records import validate as validate_lines
from evenflow.transforms.kafka.blocks import PartitionBlock
from evenflow.transforms.kafka.panes import PaneId, Point
from evenflow.transforms.kafka.records import Values, validate

CONFIG = load(None, {})
PANE = PaneId(0, 0)


def documents(
    values: list[bytes | None],
    keys: list[bytes | None] | None = None,
    kind: Values = "json",
    **others: Any,
) -> Documents:
    """Validate a block of records whose offsets begin at 5."""
    n = len(values)
    keys = keys or [None] * n
    offsets, headers = list(range(5, 5 + n)), [(("h", None), ("g", b"\xff"))] * n
    block = PartitionBlock(
        "t", 3, PANE, 5, 5 + n, offsets, [70] * n, keys, values, headers, 0, Point(0, PANE, 0)
    )
    return validate(block, CONFIG, frozenset({"dr"}), kind, others.get("spoilt", {}))


def test_json_values_are_read_as_lines_are() -> None:
    raws = [
        b'{"id":7,"text":"a","n":1,"dr":0.5}',
        b'{"text":"b","n":' + b"9" * 20 + b"}",
        b'{"text":5}',
        b"cut",
        b'{"text":"\xff"}',
    ]
    found = documents(list(raws))
    lines = validate_lines(Block("in.jsonl", 0, raws, 0), CONFIG, frozenset({"dr"}))
    assert found.texts == lines.texts and found.reasons == lines.reasons
    assert found.fields == lines.fields and len(found.fields) == 1
    assert found.ids == ["7", "t/3#6"] and found.places == [5, 6]


def test_a_dead_letter_has_offset_key_and_headers() -> None:
    [letter] = documents([b"[1]"], [b"k"]).dead
    assert letter == {
        "file": "kafka:t/3",
        "ordinal": 5,
        "reason": "a JSON object was expected, not a list",
        "bytes": 3,
        "raw_base64": base64.b64encode(b"[1]").decode(),
        "timestamp": 70,
        "key_base64": base64.b64encode(b"k").decode(),
        "headers": [["h", None], ["g", base64.b64encode(b"\xff").decode()]],
    }


@pytest.mark.parametrize(
    ("value", "kind"), [(None, "no value"), (b"", "not JSON"), (b" \n", "not JSON")]
)
def test_a_record_without_a_value_is_a_dead_letter(value: bytes | None, kind: str) -> None:
    assert documents([value]).reasons == {kind: 1}


def test_a_text_has_its_key_as_id() -> None:
    found = documents([b"one", b"two", b"three", b" "], [b"k", None, b"\xff", b"e"], "text")
    assert found.ids == ["k", "t/3#6"] and found.texts == ["one", "two"] and not found.fields
    assert found.reasons == {"invalid UTF-8": 1, "text empty": 1}


def test_a_faulty_record_is_not_parsed() -> None:
    spoilt = {0: UnusableError("unforeseen error", "x")}
    found = documents([b'{"text":"a"}', b'{"text":"b"}'], spoilt=spoilt)
    assert found.texts == ["b"] and found.reasons == {"unforeseen error": 1}
