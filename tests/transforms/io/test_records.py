"""A record becomes a document, or a dead letter with its reason."""

import base64
import json

import pyarrow as pa
import pytest

from evenflow.schemas.config import load
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.records import Documents, validate

CONFIG = load(None, {"max_text_mib": 1})
NONE: frozenset[str] = frozenset()


def lines(*raws: bytes, file: str = "in.jsonl") -> Documents:
    """Validate raw lines of one block."""
    return validate(Block(file, 0, list(raws), 0), CONFIG, NONE)


@pytest.mark.parametrize(
    ("raw", "kind", "reason"),
    [
        (b"nonsense", "not JSON", "not JSON"),
        (b'{"text":"cut o', "not JSON", "not JSON"),
        (b'{"text":"\\ud800 alone"}', "not JSON", "surrogate"),
        (b"[1]", "not an object", "a list"),
        (b"null", "not an object", "null"),
        (b'"text"', "not an object", "text"),
        (b'{"id":"a"}', "text missing", "'text' is missing"),
        (b'{"text":null}', "text not a string", "null"),
        (b'{"text":7}', "text not a string", "a number"),
        (b'{"text":["a"]}', "text not a string", "a list"),
        (b'{"text":""}', "text empty", "empty"),
        (b'{"text":" \\n\\u00a0"}', "text empty", "empty"),
        (b'{"text":"\xff"}', "invalid UTF-8", "byte 9"),
        (b'{"text":"a","id":[1]}', "id unusable", "a list"),
        (b'{"text":"a","id":true}', "id unusable", "true or false"),
        (
            b'{"text":"a","more":' + b"[" * 201 + b"]" * 201 + b"}",
            "nested too deeply",
            "200 levels",
        ),
        # orjson before 3.9.15 ends with a segmentation fault
        (b'{"text":"a","more":' + b"[" * 500_000 + b"]" * 500_000 + b"}", "not JSON", ""),
        (b'{"text":"a","more":[' + b"1," * (1 << 20) + b"1]}", "too many values", "values"),
        (b'{"text":"' + b"x" * (1 << 20) + b'y"}', "text too long", "1048577 characters"),
    ],
)
def test_dead_letters(raw: bytes, kind: str, reason: str) -> None:
    found = lines(b'{"text":"before"}', raw, b'{"text":"after"}')
    assert found.texts == ["before", "after"] and found.places == [0, 2]
    assert found.reasons == {kind: 1}
    [letter] = found.dead
    assert reason in letter["reason"]
    assert (letter["file"], letter["ordinal"], letter["bytes"]) == ("in.jsonl", 1, len(raw))
    assert base64.b64decode(letter["raw_base64"]) == raw
    json.dumps(letter)


@pytest.mark.parametrize(
    "text", ["\0" * 50, "a\u202eb\u2066c", "🙂", "x" * (1 << 20), "a\r\nb", "\\u0041"]
)
def test_odd_text_is_text(text: str) -> None:
    found = lines(json.dumps({"text": text, "id": "a"}).encode())
    assert found.texts == [text] and not found.dead


def test_ids_are_kept_or_made() -> None:
    raws = [
        b'{"text":"a","id":"x"}',
        b'{"text":"a","id":7}',
        b'{"text":"a"}',
        b'{"text":"a","id":null}',
        b'{"text":"a","id":""}',
    ]
    assert lines(*raws, file="folder/in.jsonl").ids == [
        "x",
        "7",
        "in.jsonl#2",
        "in.jsonl#3",
        "in.jsonl#4",
    ]


def test_blank_lines_and_a_byte_order_mark_are_no_records() -> None:
    found = lines(b'\xef\xbb\xbf{"text":"a"}\r', b"", b" \r", b'\xef\xbb\xbf{"text":"b"}')
    assert (found.texts, found.places, found.dead) == (["a", "b"], [0, 3], [])


def test_own_columns_are_computed_anew_and_others_kept() -> None:
    block = Block("a.jsonl", 0, [b'{"text":"a","mentions_x_y":3,"url":"u"}'], 0)
    found = validate(block, CONFIG, frozenset({"mentions_x_y"}))
    assert [column.name for column in found.fields] == ["url", "input_mentions_x_y"]


def test_configured_names() -> None:
    config = load(None, {"fields.text": "body", "fields.id": "key"})
    found = validate(
        Block("a.jsonl", 0, [b'{"body":"a","key":"k","text":"other","id":3}'], 0), config, NONE
    )
    assert (found.ids, found.texts) == (["k"], ["a"])
    assert {column.name: values.to_pylist() for column, values in found.fields.items()} == {
        "text": ["other"],
        "id": [3],
    }


def test_a_text_file_is_a_document() -> None:
    assert lines(b"all of\nit\n", file="a.txt").texts == ["all of\nit\n"]
    assert lines(b"\xe4", file="a.txt").reasons == {"invalid UTF-8": 1}


def test_a_record_too_long_for_memory() -> None:
    found = validate(Block("a.jsonl", 5, [b"begin"], 0, cut={0: 10**9}), CONFIG, NONE)
    assert found.reasons == {"too long": 1} and found.dead[0]["bytes"] == 10**9


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
def test_parquet_rows(kind: pa.DataType) -> None:
    rows = pa.table(
        {
            "text": pa.array(["a", None, "", "b"]).cast(kind),
            "id": [1, 2, 3, 4],
            "url": pa.array(list("wxyz")).cast(kind),
        }
    )
    found = validate(Block("a.parquet", 10, [], 0, rows=rows), CONFIG, NONE)
    assert (found.texts, found.ids, found.places) == (["a", "b"], ["1", "4"], [10, 13])
    assert found.reasons == {"text not a string": 1, "text empty": 1}
    assert json.loads(base64.b64decode(found.dead[0]["raw_base64"])) == {
        "text": None,
        "id": 2,
        "url": "x",
    }
    assert {column.name: values.to_pylist() for column, values in found.fields.items()} == {
        "url": ["w", "z"]
    }


def test_parquet_without_text_or_with_broken_utf8() -> None:
    assert validate(
        Block("a.parquet", 0, [], 0, rows=pa.table({"x": [1, 2]})), CONFIG, NONE
    ).reasons == {"text missing": 2}
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff")]
    )
    found = validate(Block("a.parquet", 0, [], 0, rows=pa.table({"text": broken})), CONFIG, NONE)
    assert found.texts == ["a"] and found.reasons == {"invalid UTF-8": 1}
    numbers = validate(Block("a.parquet", 0, [], 0, rows=pa.table({"text": [1]})), CONFIG, NONE)
    assert numbers.reasons == {"text not a string": 1}
