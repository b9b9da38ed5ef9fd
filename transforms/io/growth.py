"""What tells that a file has changed, and how much of a file that grows can be read.

A copy that keeps sizes and times (`cp -p`) changes inode and time of change (ctime), where the file
system has them. Elsewhere a sample of the bytes tells. An object of a store has an etag.
"""

from __future__ import annotations

import csv
import hashlib
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import orjson

from evenflow.transforms.io import formats, lines
from evenflow.transforms.io.blocks import BLOCK_BYTES, FAULTS, csv_header, read_lengths
from evenflow.transforms.io.decompress import Beginning, Frames
from evenflow.transforms.io.files import RECORD_BYTES, open_file
from evenflow.transforms.io.lines import PlainLines
from evenflow.transforms.storage.storage import Stored

SAMPLE_BYTES = 16 << 10  # of the beginning, the middle and the end: little for 100,000 files
DIGITS = 16  # hexadecimal digits of a sample's digest
BACKWARDS = 64 << 10  # how much is read at a time in search of the last line's end


class Facts(NamedTuple):
    """What a file was like when it was looked at.

    Attributes:
        bytes: Its size, in bytes.
        modified: When it was changed, in nanoseconds since 1970; None if its store does not say.
        sample: Digest of some of these bytes; None where an etag tells more.
    """

    bytes: int
    modified: int | None
    identity: str | None
    sample: str | None

    def hold(self, name: str, now: Stored) -> bool:
        """Whether a file is as it was.

        Returns:
            Whether size, times and sample are the same.

        Raises:
            OSError: The file cannot be read.
        """
        return now[1:] == self[:3] and self.sampled(name)

    def sampled(self, name: str) -> bool:
        """Whether a file's sample is the same, also of one that has grown. Raises OSError."""
        return self.sample is None or sample(name, self.bytes) == self.sample


def facts(name: str, stored: Stored) -> Facts:
    """Look at a file.

    Raises:
        OSError: It cannot be read.
    """
    has_etag = "://" in name and stored.identity is not None
    return Facts(*stored[1:], None if has_etag else sample(name, stored.bytes))


def sample(name: str, size: int) -> str:
    """Compute a digest of some of a file's first `size` bytes. Raises OSError."""
    digest = hashlib.sha256()
    with open_file(name) as file:
        for at in sorted({0, size // 2, max(size - SAMPLE_BYTES, 0)}):
            file.seek(at)
            digest.update(file.read(min(SAMPLE_BYTES, size - at)))
    return digest.hexdigest()[:DIGITS]


def whole_lines(name: str, size: int) -> int:
    """Find where the last line that has an end ends.

    Args:
        size: How many of its bytes count.

    Returns:
        The byte behind that end; 0 without a whole line.

    Raises:
        OSError: The file cannot be read.
    """
    with open_file(name) as file:
        while size:
            begin = max(size - BACKWARDS, 0)
            file.seek(begin)
            found = file.read(size - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            size = begin
    return 0


def whole_records(name: str, size: int) -> int:
    """Find where the last whole record of a file of lines ends.

    A last line that has no end is whole where it is a JSON object, or has a CSV file's fields. Of
    CSV a line does not end within quotes.

    Args:
        size: How many of its bytes count.

    Returns:
        The byte behind that record; `size` where a line's end, or a whole record, is the last.

    Raises:
        OSError: The file cannot be read.
    """
    with open_file(name) as file:
        own = formats.of(name)
        is_csv = own.has_header  # where a line break may be within quotes
        file.seek(max(size - 1, 0))
        if not size or (file.read(1) == b"\n" and not is_csv):
            return size
        try:
            header = csv_header(file, own) if is_csv else b""
        except FAULTS:
            return size  # who reads the file meets the fault
        end = _whole_rows(name, len(header) + 1, size) if is_csv else whole_lines(name, size)
        if size - end > RECORD_BYTES:
            return end
        file.seek(end)
        last = file.read(size - end).removeprefix(b"" if end else lines.BOM)
    whole = _is_row(header, last, own.delimiter) if is_csv else _is_object(last)
    return size if whole else end


def whole_frames(name: str, size: int) -> int:
    """Find where the last whole frame of a compressed file ends, of those that end a line.

    Args:
        size: How many of its bytes count.

    Returns:
        The byte behind that frame; 0 without one, and of JSON that may be an array; `size` where
        the file does not end within a frame. Data that are broken are no half frame.

    Raises:
        OSError: The file cannot be read.
    """
    own = formats.of(name)
    lines_of = PlainLines() if own.lines is None or own.is_json else own.lines()
    with open_file(name) as raw:
        stream: Frames = own.stream(Beginning(raw, size))
        whole, done, last = 0, 0, -1  # last: where the last line of what was read ends
        while True:
            fault = False
            try:
                data = stream.read(BLOCK_BYTES)
            except FAULTS:
                data, fault = b"", True
            ends = np.append(last, lines_of.ends(data) + done)
            before = [given - 1 for _, given in stream.starts]
            found = np.isin(before, ends).nonzero()[0]
            whole = stream.starts[int(found[-1])][0] if len(found) else whole
            if not data:
                cut_off = fault and stream.is_cut_off
                return (0 if own.is_json else whole) if cut_off else size
            done, last = done + len(data), int(ends[-1])


def goes_on(name: str, size: int) -> bool:
    """Whether a line had no end at a size of its file, and goes on there. Raises OSError."""
    with open_file(name) as file:
        file.seek(max(size - 1, 0))
        around = file.read(2)
    return size > 0 and len(around) == 2 and b"\n" not in around


def _whole_rows(name: str, begin: int, size: int) -> int:
    """The byte behind the last line of CSV that has an end; lines begin at a byte."""
    end = min(begin, size)
    for lengths, *_ in read_lengths(name, begin):
        ends = begin + np.cumsum(lengths + 1)
        end = max(end, int(ends[ends <= size].max(initial=end)))
        begin = int(ends[-1])
        if begin > size:
            break
    return end


def _is_object(line: bytes) -> bool:
    """Whether a line is a JSON object."""
    with suppress(orjson.JSONDecodeError):
        return isinstance(orjson.loads(line), dict)
    return False


def _is_row(header: bytes, line: bytes, delimiter: str) -> bool:
    """Whether a line of CSV has as many fields as the first one. Only a first line is one too."""
    with suppress(UnicodeDecodeError, csv.Error):
        count = len(lines.header_fields(header, delimiter))
        return not line or len(lines.fields(line, delimiter)) == count
    return False
