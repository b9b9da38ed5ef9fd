"""CSV and WARC files as records: cutting, parsing, dead letters, and beginning in the middle."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from evenflow.schemas.config import load
from evenflow.transforms.io import blocks
from evenflow.transforms.io.blocks import FileReader, read_blocks
from evenflow.transforms.io.growth import whole_records
from evenflow.transforms.io.records import UNREADABLE, Documents, validate
from evenflow.transforms.io.scan import Scanned, scan, split

ROWS = ["id,text,source", 'a,"She said ""no"".\nHe slept.",web', "b,He met her.,", ",They met.,x"]


def documents(path: Path) -> list[Documents]:
    return [validate(block, load(None), frozenset()) for block in read_blocks(str(path))]


def scanned(path: Path) -> list[Scanned]:
    return [found for part in split(str(path), path.stat().st_size, 8) for found in scan(part)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_line_of_csv_is_a_document(tmp_path: Path, end: str, bom: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(bom + end.join(ROWS) + end, encoding="utf-8", newline="")
    (found,) = documents(path)
    assert found.ids == ["a", "b", "a.csv#2"]
    assert found.texts == ['She said "no".\nHe slept.', "He met her.", "They met."]
    assert [each.name for each in found.fields] == ["source"]
    assert next(iter(found.fields.values())).to_pylist() == ["web", None, "x"]
    assert not found.dead


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"a,b", "2 fields, where the first line has 3"),
        (b'a,"b"c,d', "not CSV"),
        (b"a,\xff,d", "invalid UTF-8 at byte 2"),
        (b"a,,d", "the text is empty"),
    ],
)
def test_a_broken_line_is_a_dead_letter(tmp_path: Path, line: bytes, reason: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,text,source\n" + line + b"\n\nb,He met her.,x\n")
    (found,) = documents(path)
    (letter,) = found.dead
    assert reason in letter["reason"]
    assert letter["ordinal"] == 0
    assert (found.ids, found.places) == (["b"], [2])


@pytest.mark.parametrize("end", [".csv", ".csv.gz"])
def test_lines_that_a_stray_quote_joins_count_as_lost(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"a{end}"
    rows = ["id,text", 'a,"She slept', *["b,He met her."] * 8, 'c,"Yes" she said', 'd,"They met']
    with gzip.open(path, "wt") if end == ".csv.gz" else path.open("w") as file:
        file.write("\n".join([*rows, *["e,He left."] * 5]) + "\n")
    found = documents(path)
    assert sum((each.reasons for each in found), Counter[str]()) == {"not CSV": 17, UNREADABLE: 1}
    assert "a quote joins 10 lines" in found[0].dead[0]["reason"]
    assert "lacks the end of a field in quotes" in found[-1].dead[0]["reason"]


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (b"id,text,text", "the first line names a field twice"),
        (b"id,body,c", "field 'text' is missing"),
    ],
)
def test_without_one_field_of_the_text_each_line_is_a_dead_letter(
    tmp_path: Path, header: bytes, reason: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(header + b"\n" + b"a,b,c\n" * 2)
    (found,) = documents(path)
    assert [letter["reason"] for letter in found.dead] == [reason] * 2


@pytest.mark.parametrize("data", [b"", b"id,text", b"id,text\n"])
def test_a_file_without_lines_has_no_records(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    assert sum(block.size for block in read_blocks(str(path))) == 0
    assert sum(len(each.lengths) for each in scanned(path)) == 0


def test_reading_begins_at_any_line_that_a_scan_has_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 64)
    path = tmp_path / "a.csv"
    rows = [f'{number},"text {number}\nof two ""lines"""' for number in range(40)]
    path.write_text("\n".join(["id,text", *rows]) + "\n")
    every = [raw for block in read_blocks(str(path)) for raw in block.records]
    assert [raw.decode() for raw in every] == rows
    at = 0
    for piece in scanned(path):
        for index in range(len(piece.lengths)):
            source = FileReader().segment(str(path), at, 39, *piece.start(index))
            read = [(block.header, raw) for block in source for raw in block.records]
            assert read == [(b"id,text", raw) for raw in every[at:]]
            at += 1
    assert at == 40


def record(kind: str, content_type: str, body: bytes, name: str) -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <{name}>\r\nWARC-Target-URI: http://x/{name}"
        f"\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n\r\n"


RECORDS = [
    record("warcinfo", "application/warc-fields", b"software: x", "info"),
    record("conversion", "text/plain", "Sie schl\u00e4ft. She slept.".encode(), "a"),
    record("conversion", "text/plain", b"\xff\xfe", "b"),
    record("response", "application/http; msgtype=response", b"HTTP/1.1 200 OK\r\n\r\n<p>", "c"),
    record("conversion", "text/plain; charset=utf-8", b"He slept.", "d"),
]


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_a_record_of_plain_text_is_a_document(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"".join(map(gzip.compress, RECORDS) if name.endswith(".gz") else RECORDS))
    (found,) = documents(path)
    assert found.ids == ["<a>", "<d>"]
    assert found.texts == ["Sie schl\u00e4ft. She slept.", "He slept."]
    assert {each.name: values.to_pylist() for each, values in found.fields.items()} == {
        "url": ["http://x/a", "http://x/d"],
        "date": ["2020-01-01T00:00:00Z"] * 2,
    }
    assert [letter["reason"] for letter in found.dead] == [
        "invalid UTF-8 at byte 76",
        "field 'text' is missing",
    ]
    (piece,) = scanned(path)
    assert len(piece.lengths) == 4 and piece.begin is None


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_a_file_that_is_cut_off_gives_what_is_before(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    data = [gzip.compress(each) if name.endswith(".gz") else each for each in RECORDS]
    path.write_bytes(b"".join(data)[: -len(data[-1]) // 4])
    found = documents(path)
    assert [identity for each in found for identity in each.ids] == ["<a>"]
    assert found[-1].dead[-1]["reason"].startswith("cannot be read further")
    assert scanned(path)[-1].fault


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_first_line_that_is_too_long_for_its_names_is_a_fault(tmp_path: Path, name: str) -> None:
    """Cut, its last fields would have no name, and their values would be lost without a word."""
    path, most = tmp_path / name, 2 << 20
    pack = gzip.compress if name.endswith(".gz") else bytes
    for length, fault in ((most, None), (most + 1, "its first line is longer than 2 MiB")):
        path.write_bytes(pack(b"id,text,".ljust(length, b"x") + b"\n1,a,b\n"))
        *_, last = read_blocks(str(path))
        assert (last.fault or "None").endswith(str(fault))
        (part,) = split(str(path), path.stat().st_size, 1 << 20)
        assert [each.fault for each in scan(part)][-1] == bool(fault)
        if name == "a.csv":
            assert whole_records(str(path), path.stat().st_size) == path.stat().st_size
    path.write_bytes(pack(b"id,text\ra,He met her.\rb,She ran.\r"))
    (only,) = read_blocks(str(path))
    assert str(only.fault).endswith("must end them")
