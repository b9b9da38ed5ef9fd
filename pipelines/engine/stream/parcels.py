"""Brings staged blocks from the workers to the committer.

In a local directory the files lie where they were written. In an object store a block is one
object, a tar archive of its files.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from evenflow.pipelines.engine.stream.marks import BLOCKS, StagedRange
from evenflow.transforms.staging.block import Part, StagedBlock
from evenflow.transforms.storage.storage import Storage


def _folder(piece: StagedRange) -> str:
    """The folder of a block; the names sort in the order of the panes."""
    return f"{BLOCKS}/{piece.pane.span:015d}-{piece.pane.part:012d}"


def _name(piece: StagedRange) -> str:
    """The object of a block."""
    return f"{_folder(piece)}/{piece.stem}.tar"


@contextmanager
def sending(run: Storage, piece: StagedRange) -> Iterator[StagedBlock]:
    """Write the files of a block within a with-block; they are delivered at its end."""
    if run.local is not None:
        folder = run.local / _folder(piece)
        folder.mkdir(parents=True, exist_ok=True)
        yield StagedBlock(folder, piece.stem)
        return
    with TemporaryDirectory(prefix="evenflow-") as scratch:
        yield StagedBlock(Path(scratch), piece.stem)
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w") as archive:
            for path in sorted(Path(scratch).iterdir()):
                archive.add(path, path.name)
        run.write(_name(piece), data.getvalue())


def receive(run: Storage, pieces: Sequence[StagedRange], folder: Path) -> None:
    """Bring the files of blocks into a folder of this machine."""
    if run.local is not None:
        for piece in pieces:
            for part in Part:
                with suppress(FileNotFoundError):  # a block does not have all parts
                    path = run.local / _folder(piece) / f"{piece.stem}{part}"
                    path.rename(folder / path.name)
        for name in {_folder(piece) for piece in pieces}:
            with suppress(OSError):  # another block is in it
                (run.local / name).rmdir()
        return
    for piece, data in zip(pieces, run.read_all([_name(each) for each in pieces]), strict=True):
        if data is None:
            raise FileNotFoundError(2, "no such object", run.address(_name(piece)))
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(folder, filter="data")


def discard(run: Storage, pieces: Iterable[StagedRange]) -> None:
    """Delete blocks that are no longer needed. Raises OSError."""
    local = run.local is not None
    run.remove(
        name
        for piece in pieces
        for name in (
            [f"{_folder(piece)}/{piece.stem}{part}" for part in Part] if local else [_name(piece)]
        )
    )
