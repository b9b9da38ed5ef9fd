"""Bounds what a batch of records may take once it is decompressed.

kafka-python decompresses a batch whole, and a batch of a MB may hold 30 GB. The limit counts while
it is decompressed.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from contextlib import closing
from typing import Any

import zstandard
from kafka.record.default_records import DefaultRecordBatch

# A record of 32 MiB is the largest that a topic's reader is tried with; batches of producers have
# 16 kB to some MB
BATCH_BYTES = 128 << 20
STEP_BYTES = 1 << 20  # decompressed at a time
OPENERS: dict[int, Callable[[Any], Any]] = {
    DefaultRecordBatch.CODEC_GZIP: lambda raw: gzip.GzipFile(fileobj=raw),
    DefaultRecordBatch.CODEC_ZSTD: lambda raw: zstandard.ZstdDecompressor().stream_reader(
        raw, read_across_frames=True
    ),
}


class BatchTooLargeError(Exception):
    """A batch holds more than BATCH_BYTES.

    Attributes:
        next: The offset after its last record.
    """

    def __init__(self, following: int):
        super().__init__(f"a batch of records before offset {following} is too large")
        self.next = following


class _Name(bytes):
    """Bytes of which any text can be made."""

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Decode, with an escape for each byte that is not of the encoding."""
        return super().decode(encoding, "backslashreplace")


class _Lenient:
    """A batch's bytes, of whose pieces any text can be made.

    Args:
        raw: The bytes.
    """

    def __init__(self, raw: Any):
        self._raw = raw

    def __getitem__(self, place: int | slice) -> Any:
        found = self._raw[place]
        return found if isinstance(place, int) else _Name(found)


def bound() -> None:
    """Bound what kafka-python makes of batches, in this process from now on.

    A batch that holds too much raises BatchTooLargeError. A header's name may be any bytes: other
    clients send such, kafka-python takes the whole batch for corrupt, and no reader would ever get
    beyond it.
    """
    kind: Any = DefaultRecordBatch  # its types are those of kafka-python 2
    whole = kind._maybe_uncompress
    if whole.__module__ == __name__:
        return

    def bounded(batch: Any) -> None:
        opener = OPENERS.get(batch.compression_type)
        if batch._decompressed or opener is None:
            whole(batch)
            return
        data = bytearray()
        with closing(opener(io.BytesIO(memoryview(batch._buffer)[batch._pos :]))) as stream:
            while piece := stream.read(STEP_BYTES):
                data += piece
                if len(data) > BATCH_BYTES:
                    raise BatchTooLargeError(batch.next_offset)
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
