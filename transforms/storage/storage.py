"""What a place that holds files can do, wherever it is."""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from evenflow.schemas.errors import EvenflowError

Given = TypeVar("Given")
Found = TypeVar("Found")


class StorageError(EvenflowError, OSError):
    """A store that cannot be used as it is; the message says why and what to do."""


class Stored(NamedTuple):
    """Facts about a file that are known without reading it.

    Attributes:
        name: Its name below the storage it was asked of.
        bytes: Its size as stored, in bytes.
        modified: When it was changed, in nanoseconds since 1970; None if its store does not say.
        identity: What changes with its content: a store's etag; of an input file on this machine
            its inode and the time when its inode changed; None where nothing is known.
    """

    name: str
    bytes: int
    modified: int | None = None
    identity: str | None = None


class Storage(ABC):
    """Files under one root, named by paths relative to it with slashes between their parts.

    A write is whole or not at all, and durable when it returns. An instance can be pickled: it
    holds no more than its address.

    Attributes:
        url: The root: a local path, or an address with a scheme.
    """

    url: str

    def __str__(self) -> str:
        return self.url

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Storage) and self.url == other.url

    def __hash__(self) -> int:
        return hash(self.url)

    def address(self, name: str) -> str:
        """Return the address of a file, for people and for messages."""
        return f"{self.url.rstrip('/')}/{name}"

    @property
    def local(self) -> Path | None:
        """The root as a path of this machine; None for an object store."""
        return None

    @abstractmethod
    def below(self, name: str) -> Storage:
        """Return the tree below a folder."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """Read a file.

        Returns:
            Its bytes.

        Raises:
            FileNotFoundError: There is no such file.
            OSError: It cannot be read.
        """

    def at_once(self, do: Callable[[Given], Found], each: Iterable[Given]) -> Iterator[Found]:
        """Call a function for each thing, several at a time where requests take long.

        Yields what it returns, in order, as it is asked for. Raises what the first that fails
        raises.
        """
        return map(do, each)

    def read_all(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """Read files at once.

        Yields:
            The bytes of each, in order; None where there is no such file.

        Raises:
            OSError: A file cannot be read.
        """
        return self.at_once(self._read_or_none, names)

    def _read_or_none(self, name: str) -> bytes | None:
        """A file's bytes; None if there is no such file."""
        try:
            return self.read(name)
        except FileNotFoundError:
            return None

    @abstractmethod
    def write(self, name: str, data: bytes) -> None:
        """Write a file, in the place of an earlier one.

        Args:
            name: The file; its folders need not exist.
            data: Its bytes.

        Raises:
            OSError: It cannot be written.
        """

    def write_soon(self, name: str, data: bytes) -> None:
        """Write a file that can be made again: a crash of the machine may lose it."""
        self.write(name, data)

    @abstractmethod
    def create(self, name: str, data: bytes, durable: bool = True) -> bool:
        """Write a file unless there is one. Of several writers at once, one succeeds.

        A file that has the same bytes already counts as written here: a request may have been
        carried out although its answer was lost.

        Args:
            data: Its bytes.
            durable: Whether it must outlive a crash of the machine.

        Returns:
            Whether the file has these bytes now.

        Raises:
            OSError: It cannot be written.
        """

    @abstractmethod
    def stat(self, name: str) -> Stored | None:
        """Return the facts about a file; None if there is no such file. Raises OSError."""

    def exists(self, name: str) -> bool:
        """Whether there is such a file. Raises OSError."""
        return self.stat(name) is not None

    @abstractmethod
    def names(self, folder: str) -> list[str]:
        """List the files of a folder, without those in its folders.

        Args:
            folder: The folder; it need not exist.

        Returns:
            Their names in the folder, sorted.

        Raises:
            OSError: The folder cannot be listed.
        """

    @abstractmethod
    def tree(self, folder: str = "") -> Iterator[Stored]:
        """List all files of a folder and of the folders below it.

        Args:
            folder: The folder; it need not exist. Empty for the root.

        Yields:
            The files, named from the root on, in no order.

        Raises:
            OSError: The folder cannot be listed.
        """

    @abstractmethod
    def remove(self, names: Iterable[str]) -> None:
        """Delete files; one that is not there is no error. Raises OSError."""

    @abstractmethod
    def remove_tree(self, folder: str) -> None:
        """Delete a folder with all that is in it; it need not exist. Raises OSError."""

    @abstractmethod
    def place(self, moves: Iterable[tuple[str, str]]) -> None:
        """Give finished files their final names, durably.

        A local file is renamed. In an object store it is copied, and the source stays.

        Raises:
            FileNotFoundError: There is no such source.
            OSError: A file cannot be placed.
        """

    @abstractmethod
    def open(self, name: str) -> BinaryIO:
        """Open a file for reading, with seek.

        Raises:
            OSError: The file cannot be opened, or later read.
        """

    @contextmanager
    def folder(self, name: str) -> Iterator[Path]:
        """Work on the files of a folder as local files.

        In a local directory this is the folder itself. For an object store it is a new folder of
        this machine; what it holds at the end of the block is uploaded, and then the folder is
        deleted. After an error nothing is uploaded.

        Raises:
            OSError: A file cannot be written or uploaded.
        """
        scratch = Path(tempfile.mkdtemp(prefix="evenflow-"))
        try:
            yield scratch
            for path in sorted(scratch.rglob("*")):
                if path.is_file():
                    self.upload(path, f"{name}/{path.relative_to(scratch).as_posix()}")
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    @contextmanager
    def fetched(self, names: Iterable[str]) -> Iterator[list[Path]]:
        """Read files as local files.

        Yields:
            Paths of this machine: the files themselves, or copies for the time of the block.

        Raises:
            OSError: A file cannot be read.
        """
        scratch = Path(tempfile.mkdtemp(prefix="evenflow-"))
        try:
            paths: list[Path] = []
            for name in names:
                paths.append(scratch / name.replace("/", "_"))
                with self.open(name) as source, paths[-1].open("wb") as copy:
                    shutil.copyfileobj(source, copy, 8 << 20)
            yield paths
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def upload(self, path: Path, name: str) -> None:
        """Write a local file under a name; it is durable when this returns. Raises OSError."""
        self.write(name, path.read_bytes())


Place = str | Path | Storage  # where a public function takes a storage or its address


def at(place: Place) -> Storage:
    """Return the storage at an address.

    Args:
        place: A local path, an address with a scheme (s3://bucket/prefix, gs://, az://,
            memory://name for tests), or a storage.

    Raises:
        StorageError: The scheme is not known, or the store cannot be reached with these settings.
    """
    if isinstance(place, Storage):
        return place
    made: Any  # the type checker knows this module under two names
    if "://" not in str(place):
        from evenflow.transforms.storage.directory import Directory

        # pyarrow takes a relative name with a colon for an address
        made = Directory(Path(place).absolute() if ":" in str(place) else Path(place))
        return made
    # The client of object stores takes 50 ms to import
    from evenflow.transforms.storage.objects import ObjectStorage

    made = ObjectStorage(str(place))
    return made
