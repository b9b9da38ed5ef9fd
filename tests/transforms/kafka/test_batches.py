"""Batches of records that hold much more than they have bytes."""

from __future__ import annotations

import gzip
import subprocess
import sys
from typing import Any

import kafka_codecs
import pytest
from kafka.errors import CorruptRecordError
from kafka.record import default_records
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from kafka.record.legacy_records import LegacyRecordBatch, LegacyRecordBatchBuilder

from evenflow.transforms.kafka import batches
from evenflow.transforms.kafka.batches import (
    BatchTooLargeError,
    CutValue,
    LargeBatch,
    LargeBatchError,
)

CODECS = {
    "none": DefaultRecordBatch.CODEC_NONE,
    "gzip": DefaultRecordBatch.CODEC_GZIP,
    "snappy": DefaultRecordBatch.CODEC_SNAPPY,
    "snappy_block": DefaultRecordBatch.CODEC_SNAPPY,
    "lz4": DefaultRecordBatch.CODEC_LZ4,
    "zstd": DefaultRecordBatch.CODEC_ZSTD,
}
COMPRESSED = [name for name in CODECS if name != "none"]
STREAMED = [name for name in COMPRESSED if name != "snappy_block"]


@pytest.fixture(autouse=True)
def _bound(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    codec = request.node.callspec.params.get("codec") if hasattr(request.node, "callspec") else ""
    kafka_codecs.use(monkeypatch, getattr(kafka_codecs, codec, kafka_codecs.snappy))
    monkeypatch.setattr(batches, "BATCH_BYTES", 1 << 20)
    for kind, name in (
        (DefaultRecordBatch, "_maybe_uncompress"),
        (DefaultRecordBatch, "_read_msg"),
        (LegacyRecordBatch, "_decompress"),
    ):
        monkeypatch.setattr(kind, name, getattr(kind, name))  # as it was, afterwards
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


def large(found: Any) -> LargeBatch:
    with pytest.raises(LargeBatchError) as raised:
        next(iter(found))
    return raised.value.batch


@pytest.mark.parametrize("codec", STREAMED)
def test_a_batch_that_holds_too_much_is_read_record_by_record(codec: str) -> None:
    values = [b"%d" % number + bytes(1000) for number in range(1100)]
    found = large(batch(codec, values))
    assert found.next == 1100
    assert [each.value for each in found.records("t", 0, 0)] == values
    records = list(found.records("t", 3, 1098))
    assert [(each.partition, each.offset, each.value) for each in records] == [
        (3, 1098, values[1098]),
        (3, 1099, values[1099]),
    ]


@pytest.mark.parametrize("codec", STREAMED)
def test_of_a_record_that_is_too_large_the_beginning_is_read(codec: str) -> None:
    builder: Any = DefaultRecordBatchBuilder(2, CODECS[codec], False, -1, -1, -1, 1 << 30)
    for offset, value in enumerate([b"a", b"b" * (3 << 20), None, b"c"]):
        builder.append(offset, 50 + offset, b"key", value, [("name", b"value")])
    records = list(large(DefaultRecordBatch(builder.build())).records("t", 0, 0))
    assert [each.offset for each in records] == [0, 1, 2, 3]
    assert [each.timestamp for each in records] == [50, 51, 52, 53]
    assert [each.key for each in records] == [b"key"] * 4
    assert [each.value for each in records] == [b"a", b"b" * batches.KEPT_BYTES, None, b"c"]
    assert isinstance(records[1].value, CutValue) and records[1].value.length == 3 << 20
    assert [len(each.headers) for each in records] == [1, 0, 1, 1]


@pytest.mark.parametrize("codec", ["snappy_block"])
def test_a_block_that_is_decompressed_at_once_is_lost(codec: str) -> None:
    with pytest.raises(BatchTooLargeError) as raised:
        next(large(batch(codec, [bytes(1000)] * 1100)).records("t", 0, 0))
    assert raised.value.next == 1100


@pytest.mark.parametrize("codec", ["gzip", "snappy", "snappy_block", "lz4"])
def test_batches_of_before_kafka_0_11_are_bounded_too(codec: str) -> None:
    def old(values: list[bytes]) -> Any:
        builder: Any = LegacyRecordBatchBuilder(1, CODECS[codec], 1 << 30)
        for offset, value in enumerate(values):
            builder.append(offset, 0, None, value)
        return LegacyRecordBatch(builder.build(), 1)

    assert [each.value for each in old([b"a", b"b" * 1000])] == [b"a", b"b" * 1000]
    with pytest.raises(BatchTooLargeError):
        next(iter(old([bytes(1000)] * 1100)))


@pytest.mark.parametrize("codec", COMPRESSED)
def test_all_batches_of_a_poll_are_bounded_together(codec: str) -> None:
    with batches.one_poll():
        for _ in range(2):
            assert len(list(batch(codec, [bytes(1000)] * 400))) == 400
        with pytest.raises(LargeBatchError):
            next(iter(batch(codec, [bytes(1000)] * 400)))
    assert len(list(batch(codec, [bytes(1000)] * 400))) == 400


@pytest.mark.parametrize("codec", COMPRESSED)
def test_a_damaged_batch_is_said(codec: str) -> None:
    found = batch(codec, [b"%d" % number for number in range(1000)])
    del found._buffer[-40:]
    found._buffer[found._pos + 30 : found._pos + 60] = bytes(30)
    with pytest.raises(CorruptRecordError, match=r"cannot be decompressed|invalid record"):
        next(iter(found))


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
except batches.LargeBatchError:
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
