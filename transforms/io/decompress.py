"""Decompresses files while they are read, and notices when they are cut off."""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import Any, BinaryIO

import pyarrow as pa

from evenflow.transforms.io.parquet import broken_data

STEP = 1 << 12  # bytes of a read that looks for a fault; the last of these are read one by one


class Gunzip:
    """A gzip stream of one or more members; a truncated end is an error."""

    def __init__(self, raw: BinaryIO):
        self._raw = raw
        self._unzip = zlib.decompressobj(wbits=31)
        self._begun = False

    def read(self, size: int) -> bytes:
        """Read decompressed bytes.

        Args:
            size: The most bytes to return.

        Returns:
            At least one byte; none at the stream's end.

        Raises:
            EOFError: The stream is cut off.
            zlib.error: The data are broken.
        """
        while True:
            data = self._unzip.unconsumed_tail or self._unzip.unused_data or self._raw.read(1 << 20)
            if self._unzip.eof:
                data = data.lstrip(b"\0")  # some writers pad the file with zeros
                if not data:
                    return b""
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


class Unzstd:
    """A Zstandard stream of one or more frames; a truncated end is an error.

    Memory is bounded by what is asked for. Arrow drops what it had decompressed when a read fails,
    so the stream is read again in small steps up to the fault.
    """

    def __init__(self, raw: BinaryIO):
        self._raw = raw
        self.tell = raw.tell
        self._streams: list[Any] = []  # one that is let go of closes the file
        self._begin()
        self._given = 0
        self._fault: EOFError | None = None

    def read(self, size: int) -> bytes:
        """Read decompressed bytes.

        Args:
            size: The most bytes to return.

        Returns:
            At least one byte; none at the stream's end.

        Raises:
            EOFError: The data are broken or cut off.
            OSError: The device fails.
        """
        if self._fault is not None:
            raise self._fault
        try:
            with broken_data():
                data = self._streams[0].read(size)
        except EOFError as error:
            self._fault = error
            data = self._up_to_fault(self._given, STEP)
            data += self._up_to_fault(self._given + len(data), 1)
            if not data:
                raise
        self._given += len(data)
        return data

    def _up_to_fault(self, begin: int, step: int) -> bytes:
        """What can be read in steps from a decompressed byte on."""
        self._raw.seek(0)
        stream, parts = self._begin(), []
        with suppress(EOFError), broken_data():
            while begin:
                begin -= len(stream.read(min(begin, 1 << 20)))
            while part := stream.read(step):
                parts.append(part)
        return b"".join(parts)

    def _begin(self) -> Any:
        """A reader of the stream, from where the file stands."""
        self._streams.append(pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), "zstd"))
        return self._streams[-1]
