"""What tells that a file has changed, and how much of a file that grows can be read.

A copy that keeps sizes and times (`cp -p`) changes inode and time of change (ctime), where the file
system has them. Elsewhere a sample of the bytes tells. An object of a store has an etag.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from evenflow.transforms.io.files import open_file
from evenflow.transforms.storage.storage import Stored

SAMPLE_BYTES = 16 << 10  # of the beginning, the middle and the end: little for 100,000 files
DIGITS = 16  # hexadecimal digits of a sample's digest
BACKWARDS = 64 << 10  # how much is read at a time in search of the last line's end


class Facts(NamedTuple):
    """What a file was like when it was looked at.

    Attributes:
        bytes: Its size, in bytes.
        modified: When it was changed, in nanoseconds since 1970; None if its store does not say.
        identity: As `Stored` has it.
        sample: Digest of some of these bytes; None where an etag tells more.
    """

    bytes: int
    modified: int | None
    identity: str | None
    sample: str | None

    def hold(self, name: str, now: Stored) -> bool:
        """Whether a file is as it was.

        Args:
            name: The file's name.
            now: What it is like now.

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

    Args:
        name: Its name.
        stored: What its storage says of it.

    Returns:
        What it is like.

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
        name: A file of lines.
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
