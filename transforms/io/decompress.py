"""Decompresses files while they are read, and notices when they are cut off."""

from __future__ import annotations

import zlib
from typing import BinaryIO

import pyarrow as pa

from evenflow.transforms.io.parquet import broken_data


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


class Unzstd:
    """A Zstandard stream of one or more frames; a truncated end is an error.

    Memory is bounded by what is asked for.
    """

    def __init__(self, raw: BinaryIO):
        self._stream = pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")

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
        with broken_data():
            return self._stream.read(size)
