"""A storage in a local directory, durable against a crash of the machine.

The client of object stores has a local store too. It does not make files durable (fsync), so it is
not used here.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from uuid import uuid4

from evenflow.transforms.storage.storage import Storage, StorageError, Stored

REMOVE_TRIES = 10


class Directory(Storage):
    """A local directory, which need not exist."""

    def __init__(self, path: Path):
        self.path = path
        self.url = str(path)

    def __reduce__(self) -> tuple[type[Directory], tuple[Path]]:
        return Directory, (self.path,)

    @property
    def local(self) -> Path | None:
        """The directory."""
        return self.path

    def below(self, name: str) -> Directory:
        """Return the tree below a folder."""
        return Directory(self.path / name)

    def inside(self, name: str) -> Path:
        """The path of a file or folder.

        Whoever may write to an output may put a link there. None is followed out of it.

        Raises:
            StorageError: It, or a folder above it, is a link that leads elsewhere, or the name is
                of no file below.
        """
        path, parts = str(self.path), PurePosixPath(name).parts
        if ".." in parts or "/" in parts or "\0" in name:
            raise StorageError(f"{name!r}: not the name of a file below {self.path}")
        for part in parts:
            path = os.path.join(path, part)  # noqa: PTH118 - a commit asks for 20 names
            is_link = os.path.islink(path)  # noqa: PTH114
            if is_link and not Path(path).resolve().is_relative_to(self.path.resolve()):
                raise StorageError(f"{path}: a link that leads out of {self.path}; not followed")
        return Path(path)

    def read(self, name: str) -> bytes:
        """Read a file. Raises OSError."""
        return self.inside(name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        """Write a file: a reader, or a start after a crash, sees the old bytes or the new ones."""
        part = self._part(name, data)
        part.replace(self.inside(name))
        _sync(part.parent)

    def write_soon(self, name: str, data: bytes) -> None:
        """Write a file that can be made again, without waiting for the disk."""
        path = self.inside(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def create(self, name: str, data: bytes, durable: bool = True) -> bool:
        """Write a file unless there is one."""
        part = self._part(name, data, durable)
        try:
            os.link(part, self.inside(name))
        except FileExistsError:
            return self.read(name) == data
        finally:
            part.unlink()
        if durable:
            _sync(part.parent)
        return True

    def _part(self, name: str, data: bytes, durable: bool = True) -> Path:
        """Write data to a file beside the one that it will be."""
        path = self.inside(name)
        part = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
        try:
            file = part.open("wb")
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = part.open("wb")
        try:
            with file:
                file.write(data)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return part

    def stat(self, name: str) -> Stored | None:
        """Return the facts about a file; None if there is no such file."""
        try:
            found = self.inside(name).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return Stored(name, found.st_size, found.st_mtime_ns)

    def names(self, folder: str) -> list[str]:
        """List the files of a folder, without those in its folders."""
        try:
            with os.scandir(self.inside(folder)) as found:
                return sorted(
                    each.name
                    for each in found
                    if not (each.name.startswith(".") and each.name.endswith(".part"))
                    and each.is_file()
                )
        except FileNotFoundError:
            return []

    def tree(self, folder: str = "") -> Iterator[Stored]:
        """List all files of a folder and of the folders below it."""
        for path in self.inside(folder).rglob("*"):
            with suppress(FileNotFoundError):  # it was removed meanwhile
                if path.is_file():
                    found = path.stat()
                    name = path.relative_to(self.path).as_posix()
                    yield Stored(name, found.st_size, found.st_mtime_ns)

    def remove(self, names: Iterable[str]) -> None:
        """Delete files; one that is not there is no error."""
        for name in names:
            self.inside(name).unlink(missing_ok=True)

    def remove_tree(self, folder: str) -> None:
        """Delete a folder with all that is in it; it need not exist.

        Others may still write to it for a moment.
        """
        path = self.inside(folder)
        for tries in range(REMOVE_TRIES, -1, -1):
            try:
                shutil.rmtree(path)
                return
            except FileNotFoundError:
                if not path.exists():
                    return
            except OSError as error:
                if error.errno != errno.ENOTEMPTY or not tries:
                    raise

    def place(self, moves: Iterable[tuple[str, str]]) -> None:
        """Rename files, durably."""
        folders: set[Path] = set()
        for source, target in moves:
            path = self.inside(target)
            try:
                self.inside(source).replace(path)
            except FileNotFoundError:
                path.parent.mkdir(parents=True, exist_ok=True)
                self.inside(source).replace(path)
            folders.add(path.parent)
        for folder in folders:
            _sync(folder)

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""
        return self.inside(name).open("rb")

    @contextmanager
    def folder(self, name: str) -> Iterator[Path]:
        """Work in the folder itself; it is made where it does not exist."""
        path = self.inside(name)
        path.mkdir(parents=True, exist_ok=True)
        yield path

    @contextmanager
    def fetched(self, names: Iterable[str]) -> Iterator[list[Path]]:
        """Read the files themselves."""
        yield [self.inside(name) for name in names]


def _sync(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
