"""What tells that a file has changed: size, times, and a sample of the bytes."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from packs import PACKS

from evenflow.transforms.io import growth
from evenflow.transforms.io.growth import (
    BACKWARDS,
    Facts,
    facts,
    goes_on,
    whole_frames,
    whole_lines,
    whole_records,
)
from evenflow.transforms.storage.storage import Stored


def stored(path: Path) -> Stored:
    """What the file system says of a file, without inode and time of change."""
    found = path.stat()
    return Stored(path.name, found.st_size, found.st_mtime_ns, None)


def test_a_file_holds_until_its_time_or_its_bytes_change(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    before = stored(path)
    was = facts(str(path), before)
    assert was.hold(str(path), before)
    assert not was.hold(str(path), before._replace(modified=1))
    path.write_bytes(b"two\n")  # as long, and with the times of before
    assert before.modified is not None
    os.utime(path, ns=(before.modified, before.modified))
    assert stored(path) == before and not was.hold(str(path), stored(path))


def test_a_file_that_has_grown_has_its_sample_but_does_not_hold(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    was = facts(str(path), stored(path))
    path.write_bytes(b"one\ntwo\n")
    assert was.sampled(str(path)) and not was.hold(str(path), stored(path))


def test_an_etag_tells_more_than_a_sample(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    assert facts("memory://bucket/a.jsonl", Stored("a.jsonl", 4, None, "etag")).sample is None
    assert facts(str(path), Stored("a.jsonl", 4, None, "inode")).sample is not None
    assert Facts(4, None, "etag", None).sampled("there is no such file")


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (b"", 0),
        (b"half", 0),
        (b"one\nhalf", 4),
        (b"one\n", 4),
        (b"one\n" + b"x" * 2 * BACKWARDS, 4),
    ],
)
def test_whole_lines_end_behind_the_last_end_of_a_line(
    data: bytes, whole: int, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    assert whole_lines(str(path), len(data)) == whole


@pytest.mark.parametrize(
    ("name", "data", "whole"),
    [
        ("a.jsonl", b"", 0),
        ("a.jsonl", b'{"a": 1', 0),
        ("a.jsonl", b'{"a": 1}', 8),
        ("a.jsonl", b'\xef\xbb\xbf{"a": 1}', 11),
        ("a.jsonl", b"12", 0),  # half of 123
        ("a.jsonl", b"{}\nhalf\n", 8),  # it has an end
        ("a.jsonl", b'{}\n{"a": "b', 3),
        ("a.jsonl", b'{}\n{"a": "b"}', 13),
        ("a.jsonl", b"{}\n\0\0", 3),  # room that a writer has taken
        ("a.jsonl", b"{}\n" + b"[" * 100_000, 3),
        ("a.csv", b"id,te", 5),  # the fields' names alone
        ("a.csv", b"id,text\n1,a\n", 12),
        ("a.csv", b"id,text\n1,a\n2", 12),
        ("a.csv", b"id,text\n1,a\n2,b", 15),
        ("a.csv", b'id,text\n1,"a\n\n', 8),
        ("a.csv", b'id,text\n1,"a\nb"\n2,"c\nd', 16),
        ("a.csv", b'id,text\n1,"a\nb"\n2,"c\nd"', 23),
    ],
)
def test_records_are_whole_up_to_a_line_that_is_half(
    name: str, data: bytes, whole: int, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(data + b"what, came since")
    assert whole_records(str(path), len(data)) == whole


def test_a_last_line_over_the_limit_of_a_record_is_not_taken_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "RECORD_BYTES", 10)
    (tmp_path / "a.jsonl").write_bytes(b'{}\n{"a": "long"}')
    assert whole_records(str(tmp_path / "a.jsonl"), 16) == 3


def test_a_line_goes_on_where_it_had_no_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n{} \n")
    assert [goes_on(str(path), size) for size in range(8)] == [
        *(False, True, False, False, True, True, False, False)
    ]


ONE, TWO = b"one\n", b"two\n" * 99


def lz4(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as out:
        out.write(data)
    return sink.getvalue().to_pybytes()


@PACKS
def test_frames_are_whole_up_to_one_that_is_half(
    kind: str, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / f"a.jsonl.{kind}"
    one, two = pack(ONE), pack(TWO)
    path.write_bytes(one + two + b"what, came since")
    found = [whole_frames(str(path), size) for size in range(len(one + two) + 1)]
    assert found[len(one) + len(two)] == len(one) + len(two)
    assert set(found[8 : len(one)]) == {0} and found[len(one)] == len(one)
    assert set(found[len(one) + 8 : -1]) == {len(one)}


@PACKS
def test_a_frame_that_ends_within_a_line_waits_with_the_next(
    kind: str, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / f"a.jsonl.{kind}"
    parts = [pack(ONE), pack(b"half"), pack(b" a line\n"), pack(TWO)[:-1]]
    path.write_bytes(b"".join(parts))
    assert whole_frames(str(path), len(b"".join(parts[:2])) + 9) == len(parts[0])
    assert whole_frames(str(path), len(b"".join(parts))) == len(b"".join(parts[:3]))


@PACKS
@pytest.mark.parametrize("more", [b"no frame", b"\x1f\x8b and no member", b"\x28\xb5\x2f\xfc" * 9])
def test_broken_data_are_no_half_frame(
    kind: str, pack: Callable[[bytes], bytes], more: bytes, tmp_path: Path
) -> None:
    path = tmp_path / f"a.jsonl.{kind}"
    path.write_bytes(pack(ONE) + more)
    assert whole_frames(str(path), path.stat().st_size) == path.stat().st_size


def test_a_frame_of_csv_that_ends_within_quotes_is_not_whole_without_the_next(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv.gz"
    parts = [gzip.compress(each) for each in (b"id,text\n1,a\n", b'2,"one\n', b'two"\n', TWO)]
    path.write_bytes(b"".join(parts))
    sizes = [sum(map(len, parts[:count])) for count in range(5)]
    found = [whole_frames(str(path), size - 1) for size in sizes[1:]]
    assert found == [0, sizes[1], sizes[1], sizes[3]]


def test_half_an_array_of_json_waits_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'[{"a": 1},\n') + gzip.compress(b'{"a": 2}]')[:-1])
    assert whole_frames(str(path), path.stat().st_size) == 0
