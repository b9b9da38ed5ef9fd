"""A digest of a range of records that does not depend on how they were cut into blocks.

It is a SHA-256. Of lines it covers the bytes. Of a table it covers the columns' values, so that two
writers of the same values get the same digest.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa

from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.fields import to_python


class RecordDigest:
    """Computes the digest of blocks that are added in their order."""

    def __init__(self) -> None:
        self._lines = hashlib.sha256()
        self._columns: dict[tuple[str, str], hashlib._Hash] = {}
        self._header: bytes | None = None

    def add(self, block: Block) -> None:
        """Add the next records of the range.

        Args:
            block: The block that follows those added before.
        """
        if block.rows is not None:
            # The number keeps apart two columns of one name
            for number, name in enumerate(block.rows.column_names):
                self._column(f"{number} {name}", block.rows.column(number).combine_chunks())
        elif block.records:
            if block.header is not None and self._header is None:  # it says what values are
                self._header = block.header
                self._lines.update(block.header + b"\n")
            self._lines.update(b"\n".join(block.records) + b"\n")
            self._lines.update(
                "".join(
                    f"{block.first + at}:{length}\n" for at, length in sorted(block.cut.items())
                ).encode()
            )
        if block.fault is not None:
            # The fault's text is left out, because a library may change it
            self._lines.update(b"\0")

    def hexdigest(self) -> str:
        """Return the digest of all records so far, in hexadecimal."""
        whole = self._lines.copy()
        for (name, part), each in sorted(self._columns.items()):
            whole.update(f"{name}\0{part}\0{each.hexdigest()}\n".encode())
        return whole.hexdigest()

    def _column(self, name: str, values: pa.Array) -> None:
        """Digest which values are null, then the others: each part grows only with each block."""
        kind = values.type
        self._update(
            name,
            "valid",
            values.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8).tobytes(),
        )
        present = values.drop_null()
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            self._update(name, str(kind), present.to_numpy(zero_copy_only=False).tobytes())
            return
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            # A string that is not UTF-8 has bytes too, although it becomes a dead letter
            present = present.cast(pa.large_binary())
        try:
            parts = [
                each if isinstance(each, bytes) else repr(each).encode()
                for each in to_python(present)
            ]
        except UnicodeDecodeError:  # a text within a list or an object is not UTF-8
            parts = [each.to_pybytes() for each in present.buffers() if each is not None]
        self._update(name, "lengths", np.fromiter(map(len, parts), np.int64, len(parts)).tobytes())
        self._update(name, "bytes", b"".join(parts))

    def _update(self, name: str, part: str, data: bytes) -> None:
        """Add bytes to the digest of one part of a column."""
        self._columns.setdefault((name, part), hashlib.sha256()).update(data)
