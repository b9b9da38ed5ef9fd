"""Cuts the input into panes, and checks that what committed panes have read is unchanged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from evenflow.schemas.config import Config
from evenflow.schemas.ledger import PaneEntry, SourceRange
from evenflow.transforms.io import files
from evenflow.transforms.io.blocks import Block, FileReader, read_blocks
from evenflow.transforms.io.record_digest import RecordDigest


@dataclass(frozen=True)
class Segment:
    """Records of a file that are part of a pane.

    Attributes:
        file: The file's path.
        first: Number of the first record in the file, from 0.
        last: Number of the last record, included.
        order: The segment's number in its pane.
        offset: Byte of the file where the first record begins; None where a reader cannot begin
            there.
    """

    file: str
    first: int
    last: int
    order: int
    offset: int | None = None


@dataclass(frozen=True)
class Pane:
    """A pane as cut from the input; the same input and configuration cut the same panes.

    Attributes:
        number: The pane's number, from 0.
        segments: Its records.
        size: Bytes of its records.
        stored: Bytes of all files, as stored, up to its end.
    """

    number: int
    segments: tuple[Segment, ...]
    size: int
    stored: int


class ChangedError(RuntimeError):
    """A file has changed since a committed pane read it; the message names the file.

    Args:
        source: What the pane read.
        pane: The pane's number.
    """

    def __init__(self, source: SourceRange, pane: int):
        super().__init__(
            f"{source.file}: changed since pane {pane} read it (its records {source.first} to"
            f" {source.last} are others now); put the file back as it was and run the same command"
            " again, or begin in another --output"
        )


def cut(names: Mapping[str, int], config: Config, after: PaneEntry | None = None) -> Iterator[Pane]:
    """Cut files into panes by documents and MiB of input.

    A record larger than a pane makes a pane of its own.

    Args:
        names: Paths of the files, in order, with their stored sizes in bytes.
        config: Says how large a pane is.
        after: A committed pane; only the panes after it are cut.

    Yields:
        The panes in order.

    Raises:
        ChangedError: The last file that the committed pane read has changed.
        OSError: A file cannot be read.
    """
    limit_docs = config.pane.docs or (1 << 62)
    limit_bytes = config.pane.mib << 20
    last = after.source[-1] if after is not None and after.source else None
    number = 0 if after is None else after.pane + 1
    docs = size = before = 0
    segments: list[Segment] = []
    for file, stored in names.items():
        if last is not None and files.printable(file) != last.file:
            before += stored
            continue
        source = read_blocks(file)
        first = at = 0
        offset = 0 if file.endswith(files.SEEKABLE) else None
        if last is not None and after is not None:
            source, first = _after(file, last, after.pane), last.last + 1
            at, offset, last = first, None, None
        seen = 0
        for block in source:
            seen = block.stored
            if at == first and first:
                offset = block.byte(0)
            for index, weight in enumerate(block.weights()):
                if docs and (docs >= limit_docs or size + weight > limit_bytes):
                    segments += _segment(file, first, at, offset, len(segments))
                    yield Pane(number, tuple(segments), size, before + seen)
                    number, docs, size, segments, first, offset = (
                        number + 1,
                        0,
                        0,
                        [],
                        at,
                        block.byte(index),
                    )
                at += 1
                docs += 1
                size += weight
            if block.fault is not None:
                at += 1  # the fault stands where the next record would
                docs += 1
        segments += _segment(file, first, at, offset, len(segments))
        before += stored
    if segments:
        yield Pane(number, tuple(segments), size, before)


def _after(file: str, last: SourceRange, pane: int) -> Iterator[Block]:
    """The blocks of a file after a range that a pane has read. Raises ChangedError, OSError."""
    digest = RecordDigest()
    rest: list[Block] = []
    source = (
        read_blocks(file) if last.offset is None else read_blocks(file, last.first, last.offset)
    )
    for block in source:
        if part := block.clip(last.first, last.last):
            digest.add(part)
        if part := block.clip(last.last + 1, block.last):
            rest.append(part)
            break
    if last.sha256 is not None and digest.hexdigest() != last.sha256:
        raise ChangedError(last, pane)
    yield from rest
    yield from source


def _segment(file: str, first: int, until: int, offset: int | None, order: int) -> list[Segment]:
    """Records first..until (excluded) as a segment; none where there are no records."""
    return [Segment(file, first, until - 1, order, offset)] if until > first else []


def check_unchanged(changed: Collection[str], entries: Iterable[PaneEntry]) -> None:
    """Read again what panes have read of some files.

    Args:
        changed: Paths of the files.
        entries: The panes of the ledger.

    Raises:
        ChangedError: What a pane read has changed.
        OSError: A file cannot be read.
    """
    reader = FileReader()
    names = {files.printable(name): name for name in changed}
    for entry in entries if changed else ():
        for source in entry.source:
            if source.file in names and source.sha256 is not None:
                digest = RecordDigest()
                for block in reader.segment(
                    names[source.file], source.first, source.last, source.offset
                ):
                    digest.add(block)
                if digest.hexdigest() != source.sha256:
                    raise ChangedError(source, entry.pane)
