"""Takes a sample of the input's documents, from places that are spread over its files.

Plain JSON lines are read at several offsets of a file, other formats at the beginning of each file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from evenflow.transforms.io import files, formats
from evenflow.transforms.io.blocks import BLOCK_BYTES, Block, read_blocks
from evenflow.transforms.io.files import RECORD_BYTES

PLACES = 32  # from which documents are taken: enough to see that parts of an input differ
CHUNK = 256 << 10  # bytes that are read at a time at a place: most often the lines that are wanted
HELD_BYTES = 64 << 20  # of the records that are kept of files' beginnings, but for one of each
LOOKED_AHEAD = 4 << 20  # bytes of a compressed file, enough to see how well it is compressed


def sample_blocks(
    found: Mapping[str, int], documents: int, most: int = PLACES
) -> Iterator[tuple[Block, float]]:
    """Take blocks from places spread over the input.

    Args:
        found: The stored bytes of each file, by its name.
        documents: About how many documents are wanted in all.
        most: From how many places they are taken.

    Yields:
        Each block, with the stored bytes that it stands for.

    Raises:
        OSError: A file cannot be read.
    """
    names = [name for name in found if found[name]]
    # A file of text is one document
    files_most = documents if all(formats.of(name).is_text for name in names) else most
    names = names[:: -(-len(names) // files_most) or 1]
    a_file = max(1, most // max(1, len(names)))
    for name in names:
        is_plain = formats.of(name).is_plain
        places = a_file if is_plain else 1
        for place in range(places):
            wanted = max(1, documents // (len(names) * places))
            if is_plain:
                yield from _lines(
                    name, found[name] * place // places, found[name] * (place + 1) // places, wanted
                )
            else:
                yield from _beginning(name, found[name], wanted, HELD_BYTES // len(names))


def _lines(name: str, start: int, end: int, wanted: int) -> Iterator[tuple[Block, float]]:
    """Up to so many lines of a file that begin at byte `start` or later, and before byte `end`."""
    with files.open_file(name) as raw:
        if start:
            raw.seek(start - 1)
            # No further than the end: else each place within a giant line would read all of it
            start += len(raw.readline(min(RECORD_BYTES, end - start + 1))) - 1
    at = start
    for block in read_blocks(name, 1, start, chunk=CHUNK) if start < end else ():
        begins = np.cumsum([0, *(weight + 1 for weight in block.weights())]) + at
        count = min(wanted, block.size, int(np.count_nonzero(begins[:-1] < end)))
        part = block.clip(block.first, block.first + count - 1) if count else None
        if part is None:
            return
        yield part, float(begins[count] - at)
        wanted, at = wanted - count, int(begins[count])
        if not wanted or count < block.size or block.cut or at - start >= BLOCK_BYTES:
            return


def _beginning(name: str, size: int, wanted: int, most: int) -> Iterator[tuple[Block, float]]:
    """Up to so many of a file's first records, and the stored bytes that they stand for.

    No more are taken once they have `most` bytes: a few kilobytes can hold a gigabyte of records.

    A compressed file has fewer stored bytes than its records have.
    """
    parts: list[Block] = []
    weight = before = 0
    known = (0, 0)  # bytes of records, and the stored bytes that they came from
    for block in read_blocks(name):
        # A block says how far the file was read, which is further than the end of its last record.
        # But once the reader has to read on, all that it read before has been given out.
        if block.stored > before and weight:
            known = (weight, before)
        before = block.stored
        weight += sum(block.weights())
        part = block.clip(block.first, block.first + wanted - 1) if wanted else None
        if part is not None and part.size:
            parts.append(part)
            most -= sum(part.weights())
            wanted = wanted - part.size if most > 0 else 0
        if not wanted and known[1] >= LOOKED_AHEAD:
            break
    else:
        known = (weight, size)
    for part in parts:
        yield part, known[1] * sum(part.weights()) / max(1, known[0])
