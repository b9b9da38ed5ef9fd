"""What is published of a record is what it came with; only a changed text differs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.schemas.config import load
from evenflow.transforms.kafka import originals
from evenflow.transforms.kafka.blocks import Headers, PartitionBlock
from evenflow.transforms.kafka.originals import ORIGINAL, Original
from evenflow.transforms.kafka.records import Values, validate

HEADERS: Headers = (("trace", b"\xff"), ("none", None), ("trace", b"2"))


def noted(raw: bytes, key: bytes | None = b"k", kind: Values = "json") -> tuple[str, str, str]:
    """What is kept of a record, its document's id and its text."""
    block = PartitionBlock("t", 3, 5, 6, [5], [70], [key], [raw], [HEADERS])
    found = validate(block, load(None, {}), frozenset({"weight"}), kind, {}, True)
    [kept] = found.fields[ORIGINAL].to_pylist()
    return kept, found.ids[0], found.texts[0]


RAWS = [
    b'{"id":"a","text":"She paid.","x":{"a":null,"b":[1]}}',
    b' { "x" : {"text": "no", "b": []}, "text" :\t"a" , "id":7 } ',
    b'{"text":"first","text":"last","z":1,"a":2,"z":3}',
    b'{"id":null,"text":"\\u00e9 \xc3\xa9 \\/ \\u0041","n":1' + b"0" * 200 + b".50E+3}",
    b'{"text":"\\u00e9t\\u00e9 \\ud83d\\ude00","e":"\\u00e9"}',
    '{"text":"été 😀","é":""}'.encode(),
    b'{"te\\u0078t":"escaped name","weight":5,"_kafka":"mine"}',
    b'{"text":"a","deep":' + b"[" * 150 + b"]" * 150 + b"}",
]


@pytest.mark.parametrize("raw", RAWS)
def test_an_unchanged_record_has_its_bytes(raw: bytes) -> None:
    kept, identity, text = noted(raw)
    assert originals.restore(kept, identity, text, b"") == Original(b"k", raw, HEADERS, 70)


def test_a_byte_order_mark_stays() -> None:
    raw = b'\xef\xbb\xbf {"text":"a","n":1}'
    kept, identity, text = noted(raw)
    assert originals.restore(kept, identity, text, b"").value == raw
    assert originals.restore(kept, identity, "b", b"").value == raw.replace(b'"a"', b'"b"')


@pytest.mark.parametrize("raw", RAWS)
@pytest.mark.parametrize("new", ["He paid.", 'été "\\" 😀\n'])
def test_of_a_changed_record_the_text_alone_differs(raw: bytes, new: str) -> None:
    kept, identity, _ = noted(raw)
    value = originals.restore(kept, identity, new, b"").value
    assert orjson.loads(value) == orjson.loads(raw) | {"text": new}
    before, _, after = json.loads(kept)["value"]
    assert value.startswith(before.encode()) and value.endswith(after.encode())


@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        ),
    ),
    st.text(min_size=1).filter(lambda text: not text.isspace()),
    st.booleans(),
    st.sampled_from([None, 2]),
)
def test_any_object_is_restored(
    others: dict[str, Any], text: str, is_ascii: bool, indent: int | None
) -> None:
    others.pop("id", None)
    raw = json.dumps(others | {"text": text}, ensure_ascii=is_ascii, indent=indent).encode()
    kept, identity, _ = noted(raw, None)
    assert originals.restore(kept, identity, text, b"")[:2] == (None, raw)


def test_a_text_is_published_as_a_text() -> None:
    kept, identity, text = noted("été".encode(), b"doc", "text")
    assert originals.restore(kept, identity, text, b"")[:2] == (b"doc", "été".encode())
    assert originals.restore(kept, identity, "hiver", b"")[:2] == (b"doc", b"hiver")
    assert originals.restore(kept, f"{identity}~1", "hiver", b"x")[:2] == (b"doc~1", b"hiver")


def test_a_copy_is_published_as_its_shard_has_it() -> None:
    kept, identity, _ = noted(RAWS[0])
    found = originals.restore(kept, f"{identity}~1", "He paid.", b"{}")
    assert found == Original(b"a~1", b"{}", HEADERS, 70)


def test_key_headers_and_time_are_columns_on_request() -> None:
    config = load(None, {"fields": {"kafka": ["key", "headers", "time"]}})
    times, keys = [1_500, -1, 2**62], [b"k\xff", None, b""]
    raw = b'{"text":"a","kafka_key":"mine"}'
    block = PartitionBlock("t", 3, 5, 8, [5, 6, 7], times, keys, [raw] * 3, [HEADERS] * 3)
    found = validate(block, config, frozenset(), "json", {})
    columns = {field.name: values.to_pylist() for field, values in found.fields.items()}
    assert columns == {
        "input_kafka_key": ["mine"] * 3,
        "kafka_key": [b"k\xff", None, b""],
        "kafka_headers": [[{"name": name, "value": value} for name, value in HEADERS]] * 3,
        "kafka_time": [datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC), None, None],
    }
    assert found.replaced == {"kafka_key": 3}
