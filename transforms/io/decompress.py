"""Decompresses files while they are read, notices where one is cut off, and where frames begin.

A gzip file consists of members, one of Zstandard of frames, others of streams; here all are frames.
Each can be read alone.
"""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO

import pyarrow as pa

from evenflow.transforms.io.parquet import broken_data

FAULTS = (EOFError, zlib.error, lzma.LZMAError)
LZMA_BYTES = 192 << 20  # the most memory of a decompressor: xz -9 takes 65 MiB
CUT_OFF = re.compile("cut off|Truncated")  # in our errors, and in Arrow's
STEP = 1 << 12  # bytes of a read that looks for a fault; the last of these are read one by one


class Beginning:
    """An open file up to a byte, as if it ended there."""

    def __init__(self, raw: BinaryIO, end: int):
        self._raw, self._end = raw, end
        self.seek, self.tell = raw.seek, raw.tell

    def read(self, size: int) -> bytes:
        """Read bytes; none at the end."""
        return self._raw.read(max(0, min(size, self._end - self._raw.tell())))


class Frames(ABC):
    """Compressed frames of a file that follow each other; a truncated end is an error."""

    def __init__(self, raw: BinaryIO | Beginning):
        self._raw = raw
        self.starts = [(raw.tell(), 0)]
        self._given = 0
        self._fault: Exception | None = None

    def read(self, size: int) -> bytes:
        """Read decompressed bytes.

        `size`: The most bytes to return, or at a fault a few more.

        Returns as many bytes as there are; none at the stream's end.
        """
        del self.starts[:-1]
        parts = list[bytes]()
        while size > 0 and self._fault is None:
            try:
                data = self._some(size)
            except FAULTS as error:
                self._fault, data = error, self._up_to_fault()
            else:
                if not data:
                    break
            parts.append(data)
            self._given += len(data)
            size -= len(data)
        if self._fault is not None and not any(parts):
            raise self._fault
        return b"".join(parts)

    @property
    def is_cut_off(self) -> bool:
        """Whether what ended the reading is that the file ends within a frame."""
        return isinstance(self._fault, EOFError) and CUT_OFF.search(str(self._fault)) is not None

    def start(self, position: int) -> tuple[int, int]:
        """Find where to begin reading for a byte of what is decompressed.

        Returns the byte of the file where its frame begins, and how many decompressed bytes to
        leave.
        """
        stored, begin = [each for each in self.starts if each[1] <= position][-1]
        return stored, position - begin

    @abstractmethod
    def tell(self) -> int:
        """Return how many bytes as stored were decompressed."""

    @abstractmethod
    def _some(self, size: int) -> bytes:
        """Some decompressed bytes, size at most; none at the end."""

    def _up_to_fault(self) -> bytes:
        """The bytes before a fault that `_some` has not given."""
        return b""

    def _begin(self, stored: int) -> None:
        """Note that a frame begins at a byte of the file."""
        self.starts.append((stored, self._given))


class Gunzip(Frames):
    """A gzip stream of one or more members."""

    def __init__(self, raw: BinaryIO | Beginning):
        super().__init__(raw)
        self._unzip = zlib.decompressobj(wbits=31)
        self._begun = False

    def _some(self, size: int) -> bytes:
        while True:
            data = self._unzip.unconsumed_tail or self._unzip.unused_data or self._raw.read(1 << 20)
            if self._unzip.eof:
                data = data.lstrip(b"\0")  # some writers pad the file with zeros
                if not data:
                    return b""
                self._begin(self._raw.tell() - len(data))
                self._unzip = zlib.decompressobj(wbits=31)
            elif not data:
                if self._begun:
                    raise EOFError("the gzip stream is cut off")
                return b""
            self._begun = True
            if out := self._unzip.decompress(data, size):
                return out

    def tell(self) -> int:
        """Return how many bytes as stored were decompressed."""
        left = self._unzip.unconsumed_tail or self._unzip.unused_data.lstrip(b"\0")
        return self._raw.tell() - len(left)


class Streams(Frames):
    """Streams of bzip2 or xz, each by a decompressor of Python's own."""

    def __init__(self, make: Callable[[], Any], raw: BinaryIO | Beginning):
        super().__init__(raw)
        self._make, self._one = make, make()
        self._begun = False

    def _some(self, size: int) -> bytes:
        while True:
            one, data = self._one, b""
            if one.eof or one.needs_input:
                data = one.unused_data if one.eof else b""
                data = data or self._raw.read(1 << 16)
                if one.eof:
                    data = data.lstrip(b"\0")  # xz pads its streams with zeros
                if not data:
                    if self._begun and not one.eof:
                        raise EOFError("the compressed stream is cut off")
                    return b""
            if one.eof:
                self._begin(self._raw.tell() - len(data))
                self._one = one = self._make()
            self._begun = True
            with broken_data():
                if out := one.decompress(data, size):
                    return out

    def tell(self) -> int:
        """Return how many bytes as stored were read."""
        return self._raw.tell()


class _ZstdFrame:
    """A frame of an open Zstandard file, as a file that ends with it (RFC 8878, 3.1).

    What is no frame is handed out as it is, up to the file's end: the decompressor says what it is.
    """

    closed = False

    def __init__(self, raw: BinaryIO | Beginning):
        self._raw = raw
        head = self._ahead(18)
        self._is_last, self._tail, self._left = True, 0, 1 << 62
        self.is_skipped = head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5
        if self.is_skipped:
            self._left = 8 + int.from_bytes(head[4:8], "little")
        elif head[:4] == b"\x28\xb5\x2f\xfd" and len(head) > 4:
            single = head[4] >> 5 & 1
            sizes = (1 - single, (0, 1, 2, 4)[head[4] & 3], (single, 2, 4, 8)[head[4] >> 6])
            self._is_last, self._tail, self._left = False, head[4] & 4, 5 + sum(sizes)

    def _ahead(self, size: int) -> bytes:
        data = self._raw.read(size)
        self._raw.seek(-len(data), 1)
        return data

    def read(self, size: int) -> bytes:
        """Read bytes of the frame; none at its end."""
        if not self._left and not self._is_last:
            head = int.from_bytes(self._ahead(3), "little")
            self._is_last = bool(head & 1)
            stored = 1 if head >> 1 & 3 == 1 else head >> 3  # of a byte that is repeated, one
            self._left = 3 + stored + self._tail * self._is_last
        data = self._raw.read(min(size, self._left))
        self._left -= len(data)
        return data

    def close(self) -> None:
        """Leave the file open for the next frame."""


class Unzstd(Frames):
    """A Zstandard stream of one or more frames, or one of another codec of Arrow's.

    Memory is bounded by what is asked for. Arrow drops what it had decompressed when a read fails,
    so the frame is read again in small steps up to the fault.
    """

    def __init__(self, raw: BinaryIO | Beginning, codec: str = "zstd"):
        super().__init__(raw)
        self._codec = codec
        self._stream = self._open()

    def tell(self) -> int:
        """Return how many bytes as stored were read."""
        return self._raw.tell()

    def _some(self, size: int) -> bytes:
        while True:
            with broken_data():
                if data := self._stream.read(size):
                    return data
            if not self._raw.read(1):
                return b""
            self._raw.seek(-1, 1)
            self._begin(self._raw.tell())
            self._stream = self._open()

    def _up_to_fault(self) -> bytes:
        stored, begin = self.starts[-1]
        found = b""
        for step in (STEP, 1):
            self._raw.seek(stored)
            stream, parts, left = self._open(), list[bytes](), self._given - begin + len(found)
            with suppress(EOFError), broken_data():
                while left:
                    left -= len(stream.read(min(left, 1 << 20)))
                while part := stream.read(step):
                    parts.append(part)
            found += b"".join(parts)
        return found

    def _open(self) -> Any:
        """A reader of the frame that begins where the file stands."""
        while (frame := _ZstdFrame(self._raw)).is_skipped:
            while frame.read(1 << 20):
                pass
        return pa.CompressedInputStream(pa.PythonFile(frame, "r"), self._codec)


CODECS: dict[str, Callable[[BinaryIO | Beginning], Frames]] = {
    ".gz": Gunzip,
    ".zst": Unzstd,
    ".lz4": partial(Unzstd, codec="lz4"),
    ".bz2": partial(Streams, bz2.BZ2Decompressor),
    ".xz": partial(Streams, partial(lzma.LZMADecompressor, memlimit=LZMA_BYTES)),
}
