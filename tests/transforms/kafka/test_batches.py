"""Batches of records that hold much more than they have bytes."""

from __future__ import annotations

import gzip
import subprocess
import sys
from typing import Any

import pytest
from kafka.record import default_records
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from evenflow.transforms.kafka import batches
from evenflow.transforms.kafka.batches import BatchTooLargeError

CODECS = {
    "none": DefaultRecordBatch.CODEC_NONE,
    "gzip": DefaultRecordBatch.CODEC_GZIP,
    "zstd": DefaultRecordBatch.CODEC_ZSTD,
}


@pytest.fixture(autouse=True)
def _bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_BYTES", 1 << 20)
    whole = getattr(DefaultRecordBatch, "_maybe_uncompress")  # noqa: B009 (unknown to the types)
    monkeypatch.setattr(DefaultRecordBatch, "_maybe_uncompress", whole)  # as it was, afterwards
    read = getattr(DefaultRecordBatch, "_read_msg")  # noqa: B009
    monkeypatch.setattr(DefaultRecordBatch, "_read_msg", read)
    batches.bound()
    batches.bound()


def batch(codec: str, values: list[bytes]) -> Any:
    builder: Any = DefaultRecordBatchBuilder(2, CODECS[codec], False, -1, -1, -1, 1 << 30)
    for offset, value in enumerate(values):
        builder.append(offset, 0, None, value, [])
    return DefaultRecordBatch(builder.build())


@pytest.mark.parametrize("codec", CODECS)
def test_a_batch_is_read_as_before(codec: str) -> None:
    values = [b"a", b"", b"b" * 200_000, *[b"c"] * 300]
    assert [record.value for record in batch(codec, values)] == values


class Name(str):
    """A header's name that other clients send: bytes that are no UTF-8."""

    def encode(self, *_: object) -> bytes:
        return b"\xff" + super().encode()


@pytest.mark.parametrize("codec", CODECS)
def test_a_header_may_have_any_name(codec: str) -> None:
    """kafka-python takes the whole batch for corrupt, so no reader would get beyond it."""
    builder: Any = DefaultRecordBatchBuilder(2, CODECS[codec], False, -1, -1, -1, 1 << 30)
    for offset, name in enumerate(["h", Name("h"), "ü"]):
        builder.append(offset, 0, b"k", b"v", [(name, b"\xff"), (name, None)])
    found = list(DefaultRecordBatch(builder.build()))
    assert [(record.key, record.value) for record in found] == [(b"k", b"v")] * 3
    assert {type(record.value) for record in found} == {bytes}
    names = [[name for name, _ in record.headers] for record in found]
    assert names == [["h", "h"], ["\\xffh", "\\xffh"], ["ü", "ü"]]
    assert found[1].headers[0][1] == b"\xff"


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_a_batch_that_holds_too_much_says_where_the_next_begins(codec: str) -> None:
    with pytest.raises(BatchTooLargeError) as raised:
        next(iter(batch(codec, [bytes(1000)] * 1100)))
    assert raised.value.next == 1100


# A batch of half a MB that holds 512 MiB; prints its bytes, and by how many KiB the peak grew
MEASURE = """
import resource
from evenflow.transforms.kafka import batches
from kafka.record import default_records
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = bytes.fromhex(input())
before = peak()
batches.bound()
try:
    next(iter(default_records.DefaultRecordBatch(data)))
except batches.BatchTooLargeError:
    print(len(data), peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux")
def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    small = gzip.compress(bytes(4 << 20)) * 128
    monkeypatch.setattr(default_records, "gzip_encode", lambda data, *more: small)
    data = batch("gzip", [bytes(10_000)] * 100)._buffer
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], input=data.hex(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    size, grown = map(int, done.stdout.split())
    assert size < 600_000 and grown >> 10 < 200
