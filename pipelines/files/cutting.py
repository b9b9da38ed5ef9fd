"""Cuts the input into panes, and sees that what committed panes have read is still the same."""

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
    """Records first..last of a file, as part of a pane; order is its place there.

    offset: the byte of the file where the first one begins; None where a reader may not begin
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

    size: bytes of its records. stored: bytes of all files, as stored, up to its end.
    """

    number: int
    segments: tuple[Segment, ...]
    size: int
    stored: int


class ChangedError(RuntimeError):
    """A file that is not what a committed pane has read of it; the message names it."""

    def __init__(self, source: SourceRange, pane: int):
        super().__init__(
            f"{source.file}: changed since pane {pane} read it (its records {source.first} to"
            f" {source.last} are others now); put the file back as it was and run the same command"
            " again, or begin in another --output"
        )


def cut(names: Mapping[str, int], config: Config, after: PaneEntry | None = None) -> Iterator[Pane]:
    """The panes of files (with their stored sizes), by documents and MiB of input; those behind a
    committed one, if it is given.

    A record larger than a pane makes a pane of its own. Raises OSError, ChangedError where the last
    file that the committed pane has read is another now.
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
            source, first = _behind(file, last, after.pane), last.last + 1
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


def _behind(file: str, last: SourceRange, pane: int) -> Iterator[Block]:
    """The blocks of a file behind a range, once that was seen to be what a pane has read. Raises
    ChangedError, OSError.
    """
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
    return [Segment(file, first, until - 1, order, offset)] if until > first else []


def see_unchanged(changed: Collection[str], entries: Iterable[PaneEntry]) -> None:
    """Read again what panes have read of some files. Raises ChangedError where it is something else
    now, OSError.
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
