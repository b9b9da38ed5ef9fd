"""Decompresses batches of records with a bound on the memory that they take.

kafka-python decompresses a batch whole, and a batch of a MB may hold 30 GB. Here it is counted
while it is decompressed. A batch that is too large for its poll is read record by record. pyarrow
decompresses lz4 and snappy, so that reading them needs no further package.
"""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import pyarrow as pa
import zstandard
from kafka import errors as kafka_errors
from kafka.record.default_records import DefaultRecordBatch
from kafka.record.legacy_records import LegacyRecordBatch
from kafka.record.util import decode_varint

from evenflow.transforms.io.blocks import KEPT_BYTES

# Of the batches of a poll, and of one record. A record of 32 MiB is the largest that becomes a
# document; batches of producers have 16 kB to some MB
BATCH_BYTES = 128 << 20
STEP_BYTES = 1 << 20  # decompressed at a time
HEAD_BYTES = KEPT_BYTES + 1024  # of a record that is cut: its times, a short key, its value's begin
XERIAL = b"\x82SNAPPY\x00"  # begins snappy in blocks, as Java's clients write it
XERIAL_BYTES = 16  # that, and two versions
SNAPPY_LENGTH_BYTES = 5  # most bytes of the length that a block of snappy begins with
# What the decompressors raise for bytes that are not theirs
DAMAGED = (OSError, EOFError, ValueError, IndexError, zlib.error, zstandard.ZstdError)

# Bytes that the batches of this poll may still take; None: BATCH_BYTES for each batch
_LEFT: ContextVar[int | None] = ContextVar("bytes of a poll", default=None)


class BatchTooLargeError(Exception):
    """Records of a batch cannot be read within BATCH_BYTES, not even one by one."""

    def __init__(self, following: int):
        super().__init__(f"a batch of records before offset {following} is too large")
        self.next = following


class LargeBatchError(Exception):
    """A batch has to be read record by record."""

    def __init__(self, batch: LargeBatch):
        super().__init__(f"a batch of records before offset {batch.next} is large")
        self.batch = batch


class CutValue(bytes):
    """The beginning of a value whose record holds more than BATCH_BYTES.

    `length`: The value's length in bytes.
    """

    length: int


class Record(NamedTuple):
    """A record, with the names that kafka-python's records have."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


class _Snappy:
    """Decompresses snappy: blocks as Java's clients write them, or one block alone.

    `raw`: The compressed bytes.
    """

    def __init__(self, raw: memoryview):
        self._raw = raw
        self._blocks = raw[: len(XERIAL)] == XERIAL
        self._at = XERIAL_BYTES if self._blocks else 0

    def read(self, _: int) -> bytes:
        """Decompress the next block, whatever its size; nothing at the end."""
        raw, begin, end = self._raw, self._at, len(self._raw)
        if begin >= end:
            return b""
        if self._blocks:
            (size,) = struct.unpack_from(">i", raw, begin)
            begin, end = begin + 4, begin + 4 + size
            if not begin < end <= len(raw):
                raise ValueError("a block of snappy is not whole")
        self._at = end
        size = _unsigned(raw[begin : begin + SNAPPY_LENGTH_BYTES])
        if size > BATCH_BYTES:
            raise _BlockError
        return pa.Codec("snappy").decompress(raw[begin:end], decompressed_size=size, asbytes=True)

    def close(self) -> None:
        """Nothing is open."""


class _BlockError(Exception):
    """A block that is decompressed at once is larger than BATCH_BYTES."""


def _unsigned(raw: memoryview) -> int:
    """Read the variable-length number that bytes begin with."""
    value = 0
    for number, byte in enumerate(raw):
        value |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            return value
    raise ValueError("a length in snappy has no end")


OPENERS: dict[int, Callable[[memoryview], Any]] = {
    DefaultRecordBatch.CODEC_GZIP: lambda raw: gzip.GzipFile(fileobj=io.BytesIO(raw)),
    DefaultRecordBatch.CODEC_SNAPPY: _Snappy,
    DefaultRecordBatch.CODEC_LZ4: lambda raw: pa.CompressedInputStream(pa.py_buffer(raw), "lz4"),
    DefaultRecordBatch.CODEC_ZSTD: lambda raw: zstandard.ZstdDecompressor().stream_reader(
        io.BytesIO(raw), read_across_frames=True
    ),
}


def codecs() -> list[str]:
    """Name the codecs of records that are read here: those that pyarrow was built with, and two."""
    return ["gzip", "zstd", *(name for name in ("lz4", "snappy") if pa.Codec.is_available(name))]


class _Window:
    """Takes pieces of any length from a stream of decompressed bytes."""

    def __init__(self, stream: Any):
        self._stream, self._held, self._at = stream, b"", 0

    def take(self, size: int) -> bytes:
        """Take so many bytes. Raises EOFError where the stream ends before."""
        parts: list[bytes] = []
        while size:
            if self._at == len(self._held):
                self._held, self._at = bytes(self._stream.read(STEP_BYTES)), 0
                if not self._held:
                    raise EOFError("a record is not whole")
            parts.append(self._held[self._at : self._at + size])
            self._at += len(parts[-1])
            size -= len(parts[-1])
        return b"".join(parts)

    def skip(self, size: int) -> None:
        """Leave so many bytes out. Raises EOFError where the stream ends before."""
        while size:
            size -= len(self.take(min(size, STEP_BYTES)))

    def length(self) -> tuple[int, bytes]:
        """Take the length that a record begins with, and its bytes."""
        raw = b""
        while not raw or raw[-1] >= 0x80:
            raw += self.take(1)
        return decode_varint(raw, 0)[0], raw


class LargeBatch:
    """A batch that is read record by record."""

    def __init__(self, batch: Any):
        self._batch, self.next = batch, batch.next_offset
        self._raw = memoryview(batch._buffer)[batch._pos :]

    def records(self, topic: str, partition: int, first: int) -> Iterator[Record]:
        """Read the records from an offset on, one after the other.

        Of a record of more than BATCH_BYTES the value's beginning is there (`CutValue`), and no
        header.
        """
        batch = self._batch
        with _damage(batch), closing(OPENERS[batch.compression_type](self._raw)) as stream:
            window = _Window(stream)
            for _ in range(batch.records_count):
                length, raw = window.length()
                if length > BATCH_BYTES:
                    head = window.take(HEAD_BYTES)
                    window.skip(length - HEAD_BYTES)
                    record = _cut(batch, head, length)
                else:
                    batch._buffer, batch._pos = raw + window.take(length), 0
                    record = batch._read_msg()
                if record.offset >= first:
                    yield Record(
                        topic,
                        partition,
                        record.offset,
                        record.timestamp,
                        record.key,
                        record.value,
                        record.headers,
                    )


def _cut(batch: Any, head: bytes, length: int) -> Record:
    """Read the beginning of a record that is too long to be held."""
    later, at = decode_varint(head, 1)  # the first byte has the record's attributes
    delta, at = decode_varint(head, at)
    size, at = decode_varint(head, at)
    key = head[at : at + size] if 0 <= size <= 1000 else None
    at += max(size, 0)
    value = CutValue(b"")
    value.length = length
    if at + SNAPPY_LENGTH_BYTES < len(head):
        size, at = decode_varint(head, at)
        value = CutValue(head[at : at + KEPT_BYTES])
        value.length = max(size, 0)
    time = batch.max_timestamp if batch.timestamp_type else batch.first_timestamp + later
    return Record("", 0, batch.base_offset + delta, time, key, value, [])


@contextmanager
def _damage(batch: Any) -> Iterator[None]:
    """Say which batch it is where its bytes cannot be decompressed, or are too large."""
    try:
        yield
    except _BlockError:
        raise BatchTooLargeError(_next(batch)) from None
    except DAMAGED as error:
        raise kafka_errors.CorruptRecordError(
            f"the records before offset {_next(batch)} cannot be decompressed: {error}"
        ) from error


def _next(batch: Any) -> int:
    """The offset after a batch's last record; one of old form has that record's offset."""
    return batch.base_offset + 1 if isinstance(batch, LegacyRecordBatch) else batch.next_offset


@contextmanager
def one_poll() -> Iterator[None]:
    """Let all batches that are decompressed within the block take BATCH_BYTES together."""
    token = _LEFT.set(BATCH_BYTES)
    try:
        yield
    finally:
        _LEFT.reset(token)


def _decompressed(batch: Any, raw: memoryview) -> bytearray | None:
    """Decompress a batch; None where it is larger than this poll may still take."""
    left = _LEFT.get()
    most = BATCH_BYTES if left is None else left
    data = bytearray()
    try:
        with _damage(batch), closing(OPENERS[batch.compression_type](raw)) as stream:
            while piece := stream.read(STEP_BYTES):
                data += piece
                if len(data) > most:
                    return None
    except BatchTooLargeError:
        return None
    if left is not None:
        _LEFT.set(left - len(data))
    return data


class _Name(bytes):
    """Bytes of which any text can be made."""

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Decode, with an escape for each byte that is not of the encoding."""
        return super().decode(encoding, "backslashreplace")


class _Lenient:
    """A batch's bytes, of whose pieces any text can be made.

    `raw`: The bytes.
    """

    def __init__(self, raw: Any):
        self._raw = raw

    def __getitem__(self, place: int | slice) -> Any:
        taken = self._raw[place]
        return taken if isinstance(place, int) else _Name(taken)


def bound() -> None:
    """Bound what kafka-python makes of batches, in this process from now on.

    A batch that holds too much raises LargeBatchError; one of the form before Kafka 0.11
    BatchTooLargeError. A header's name may be any bytes: other clients send such, kafka-python
    takes the whole batch for corrupt, and no reader would ever get beyond it.
    """
    kind: Any = DefaultRecordBatch  # its types are those of kafka-python 2
    whole = kind._maybe_uncompress
    if whole.__module__ == __name__:
        return

    def bounded(batch: Any) -> None:
        if batch._decompressed or batch.compression_type not in OPENERS:
            whole(batch)
            return
        data = _decompressed(batch, memoryview(batch._buffer)[batch._pos :])
        if data is None:
            raise LargeBatchError(LargeBatch(batch))
        batch._buffer, batch._pos, batch._decompressed = data, 0, True

    kind._maybe_uncompress = bounded
    read = kind._read_msg

    def lenient(batch: Any) -> Any:
        try:
            return read(batch)
        except UnicodeDecodeError:
            raw = batch._buffer
            batch._buffer = _Lenient(raw)
            try:
                return read(batch)
            finally:
                batch._buffer = raw

    kind._read_msg = lenient
    old: Any = LegacyRecordBatch
    before = old._decompress

    def bounded_old(batch: Any, key_offset: int) -> Any:
        if batch.compression_type not in OPENERS:
            return before(batch, key_offset)
        at = key_offset
        for _ in ("key", "value"):  # the batch is the value
            (size,) = struct.unpack_from(">i", batch._buffer, at)
            begin, at = at + 4, at + 4 + max(size, 0)
        data = _decompressed(batch, batch._buffer[begin:at])
        if data is None:
            raise BatchTooLargeError(_next(batch))
        return data

    old._decompress = bounded_old
