"""Documents and dead letters from a block of Kafka records."""

import base64
from typing import Any

import pytest

from evenflow.schemas.config import load
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.record_parser import UnusableError
from evenflow.transforms.io.records import Documents
from evenflow.transforms.io.records import validate as validate_lines
from evenflow.transforms.kafka import records
from evenflow.transforms.kafka.batches import CutValue
from evenflow.transforms.kafka.blocks import PartitionBlock
from evenflow.transforms.kafka.records import Values, validate

CONFIG = load(None, {})


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
    block = PartitionBlock("t", 3, 5, 5 + n, offsets, [70] * n, keys, values, headers)
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
    assert found.fields == lines.fields and len(found.fields) == 2
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


@pytest.mark.parametrize("values", ["json", "text"])
@pytest.mark.parametrize("key", [None, b"", b"k"])
@pytest.mark.parametrize("value", [None, b"", b" \n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_record_without_a_value_is_a_deletion(
    value: bytes | None, key: bytes | None, values: Any
) -> None:
    found = documents([value, value], [key, key], values)
    assert (found.texts, found.dead, found.deleted) == ([], [], 2)


def test_the_null_of_json_is_a_deletion_and_a_text_of_that_word_is_none() -> None:
    assert documents([b" null\n"], [b"k"]).deleted == 1
    assert documents([b"null"], [b"k"], "text").texts == ["null"]


def test_a_value_may_begin_with_a_byte_order_mark() -> None:
    found = documents([b'\xef\xbb\xbf{"text": "a", "n": 1}'])
    assert (found.texts, found.dead) == (["a"], [])
    assert documents([b"\xef\xbb\xbfone"], [b"k"], "text").texts == ["one"]


def test_a_text_has_its_key_as_id() -> None:
    found = documents([b"one", b"two", b"three", b" "], [b"k", None, b"\xff", b"e"], "text")
    assert found.ids == ["k", "t/3#6"] and found.texts == ["one", "two"] and not found.fields
    assert (found.reasons, found.deleted) == ({"invalid UTF-8": 1}, 1)


def test_a_faulty_record_is_not_parsed() -> None:
    spoilt = {0: UnusableError("unforeseen error", "x")}
    found = documents([b'{"text":"a"}', b'{"text":"b"}'], spoilt=spoilt)
    assert found.texts == ["b"] and found.reasons == {"unforeseen error": 1}


def test_of_a_value_that_is_too_long_the_beginning_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it was read whole or not, and whatever a value is."""
    monkeypatch.setattr(records, "RECORD_BYTES", 100)
    monkeypatch.setattr(records, "KEPT_BYTES", 10)
    whole, cut = b"a" * 101, CutValue(b"a" * 10)
    cut.length = 101
    kinds: tuple[Values, ...] = ("json", "text")
    for kind in kinds:
        found = documents([whole, cut, b'{"text": "b"}'], kind=kind)
        assert len(found.ids) == 1 and found.reasons == {"too long": 2}
        for letter in found.dead:
            assert (letter["bytes"], letter["raw_base64"]) == (101, "YWFhYWFhYWFhYQ==")
