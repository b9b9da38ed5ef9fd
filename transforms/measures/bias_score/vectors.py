"""Word vectors: those that ship with the package, and files of GloVe and word2vec.

A file is never held in memory. One pass notes where each word's numbers stand; later they are read
in blocks. So 400,000 words of 300 numbers need the memory of their words.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from evenflow.schemas.errors import UsageError
from evenflow.transforms.models import static

Floats = npt.NDArray[np.float32]

BLOCK = 4096  # vectors that are read at a time: 5 MB of 300 numbers
CHUNK = 1 << 20  # bytes that are read at a time while words are sought
LONGEST = 1000  # bytes of a word; more mean that the file's dimension is not what it says
BYTES = 4  # of a number in a binary file
HEADER = re.compile(rb"(\d+) (\d+)\s*\n")
FASTTEXT_BINARY = (793712314).to_bytes(4, "little")  # its magic number (fastText, fasttext.cc)


class VectorsError(UsageError):
    """Word vectors that cannot be used; the message says why."""


class Vectors:
    """Words with their vectors.

    Args:
        name: What the vectors are called in messages.
        words: The V words in the order of the vectors; bytes are UTF-8.
        digest: A SHA-256 of the words and their vectors.
        read: Reads the vectors from one number up to another, (n, D).

    Attributes:
        words: By word the number of its vector.

    Raises:
        VectorsError: A word stands twice, or there is none.
    """

    def __init__(
        self,
        name: str,
        words: Sequence[str],
        size: int,
        digest: str,
        read: Callable[[int, int], Floats],
    ):
        self.name, self.size, self.digest, self._read = name, size, digest, read
        self.words = {word: number for number, word in enumerate(words)}
        if not words:
            raise VectorsError(f"{name}: there is no vector in it")
        if len(self.words) < len(words):
            twice = next(word for number, word in enumerate(words) if self.words[word] != number)
            raise VectorsError(f"{name}: {twice!r} has two vectors; one was expected")

    def known(self, words: Iterable[str]) -> set[str]:
        """Those of some words that have a vector."""
        return {word for word in words if word in self.words}

    def unit(self, words: Sequence[str]) -> npt.NDArray[np.float64]:
        """The vectors of n known words, each of length 1: (n, D). A vector of zeros stays."""
        rows = [self._read(self.words[word], self.words[word] + 1) for word in words]
        return unit_rows(
            self._checked(np.concatenate(rows or [np.zeros((0, self.size), np.float32)]))
        )

    def blocks(self) -> Iterator[npt.NDArray[np.float64]]:
        """All vectors in order, in blocks (n, D), each vector of length 1."""
        for first in range(0, len(self.words), BLOCK):
            last = min(first + BLOCK, len(self.words))
            yield unit_rows(self._checked(self._read(first, last), first))

    def _checked(self, rows: Floats, first: int = 0) -> Floats:
        """Vectors, unless a number is not finite."""
        if not np.isfinite(rows).all():
            at = first + int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            raise VectorsError(f"{self.name}: vector {at + 1} has a number that is not finite")
        return rows


@cache
def shipped() -> Vectors:
    """The vectors of this package: static embeddings made by its encoder."""
    words, rows, digest = static.word_vectors()
    return Vectors("the shipped vectors", words, rows.shape[1], digest, lambda a, b: rows[a:b])


def load(path: Path | None) -> Vectors:
    """Open word vectors.

    Args:
        path: A file: text of GloVe, text or binary of word2vec (fastText's .vec is such a text).
            The form is recognised by its beginning. None: the shipped vectors.

    Raises:
        VectorsError: The file is none of these, or damaged.
        OSError: The file cannot be read.
    """
    if path is None:
        return shipped()
    with path.open("rb") as file:
        beginning = file.readline(LONGEST)
        if beginning.startswith(FASTTEXT_BINARY):
            raise VectorsError(f"{path}: a binary model of fastText; give its .vec file")
        header = HEADER.fullmatch(beginning)
        if header is None:
            file.seek(0)
            size = len(file.readline().split()) - 1
            if size < 1:
                raise VectorsError(f"{path}: a word and its numbers were expected in line 1")
            file.seek(0)
            return _text(path, file, size, hashlib.sha256())
        count, size = int(header[1]), int(header[2])
        if not count or not size:
            raise VectorsError(f"{path}: its header says {count} words of {size} numbers")
        line = file.readline(LONGEST + 32 * size)
        file.seek(len(beginning))
        if len(line.split()) > 1 and _is_number(line.split()[-1]):
            found = _text(path, file, size, hashlib.sha256(beginning))
            if len(found.words) != count:
                raise VectorsError(
                    f"{path}: its header says {count} words, it has {len(found.words)}"
                )
            return found
        return _binary(path, file, count, size, hashlib.sha256(beginning))


def _text(path: Path, file: BinaryIO, size: int, whole: hashlib._Hash) -> Vectors:
    """Note the words of a text file: a line each, the word and its numbers between blanks."""
    words: list[str] = []
    edges: list[int] = [file.tell()]
    starts: list[int] = []
    for line in file:
        whole.update(line)
        number, here = len(words) + 1, edges[-1]
        edges.append(here + len(line))
        word, _, numbers = line.rstrip().partition(b" ")
        found = numbers.count(b" ") + 1
        if found != size:
            # A few “words” of GloVe hold blanks, none of them a number
            *parts, numbers = line.rstrip().split(b" ", max(found + 1 - size, 0))
            if found < size or any(map(_is_number, parts[1:])):
                raise VectorsError(
                    f"{path}: vector {number} has {found} numbers; {size} were expected"
                )
            word = b" ".join(parts)
        words.append(_decoded(word))
        starts.append(here + len(line.rstrip()) - len(numbers))

    def read(first: int, last: int) -> Floats:
        with path.open("rb") as again:
            raw = os.pread(again.fileno(), edges[last] - edges[first], edges[first])
        base = edges[first]
        lines = [
            raw[a - base : b - base]
            for a, b in zip(starts[first:last], edges[first + 1 : last + 1], strict=True)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                numbers = np.fromstring(b" ".join(lines), np.float32, sep=" ")  # type: ignore[call-overload]
                return numbers.reshape(last - first, size)
            except (ValueError, DeprecationWarning) as error:
                raise VectorsError(
                    f"{path}: vectors {first + 1} to {last} cannot be read as numbers"
                ) from error

    return Vectors(str(path), words, size, whole.hexdigest(), read)


def _binary(path: Path, file: BinaryIO, count: int, size: int, whole: hashlib._Hash) -> Vectors:
    """Note the words of a binary file: each followed by a blank and its numbers, 4 bytes each."""
    words: list[str] = []
    starts: list[int] = []
    width, buffer, at, base = BYTES * size, b"", 0, file.tell()
    while len(words) < count:
        gap = buffer.find(b" ", at)
        if gap < 0 or gap + 1 + width > len(buffer):
            if (gap < 0 and len(buffer) - at > LONGEST) or not (more := file.read(CHUNK)):
                raise VectorsError(
                    f"{path}: word {len(words) + 1} of {count} cannot be found; is each vector of"
                    f" {size} numbers?"
                )
            whole.update(more)
            base, buffer, at = base + at, buffer[at:] + more, 0
            continue
        words.append(_decoded(buffer[at:gap].lstrip(b"\n")))
        starts.append(base + gap + 1)
        at = gap + 1 + width
    if (rest := buffer[at:] + file.read(CHUNK)).strip():
        raise VectorsError(
            f"{path}: something follows word {count}, the last one ({rest[:20]!r}); is each vector"
            f" of {size} numbers?"
        )

    def read(first: int, last: int) -> Floats:
        begin, end = starts[first], starts[last - 1] + width
        with path.open("rb") as again:
            raw = os.pread(again.fileno(), end - begin, begin)
        places = [start - begin for start in starts[first:last]]
        parts = [raw[place : place + width] for place in places]
        return np.frombuffer(b"".join(parts), "<f4").reshape(last - first, size)

    return Vectors(str(path), words, size, whole.hexdigest(), read)


def unit_rows(rows: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Vectors (n, D) of length 1; those of zeros stay."""
    wide = rows.astype(np.float64)
    length = np.sqrt((wide**2).sum(axis=1, keepdims=True))
    return wide / np.where(length > 0, length, 1)


def _decoded(word: bytes) -> str:
    """A word; bytes that are no UTF-8 stay distinct."""
    return word.decode("utf-8", "surrogateescape")


def _is_number(part: bytes) -> bool:
    """Whether float() reads it."""
    try:
        float(part)
    except ValueError:
        return False
    return True
