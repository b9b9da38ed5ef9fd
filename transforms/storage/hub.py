"""Files of the Hugging Face Hub (hf://datasets/OWNER/NAME/…), by its own file system; read only.

Keys come from the environment, as the Hub's own tools read them (HF_TOKEN, HF_ENDPOINT).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, BinaryIO, NoReturn

from evenflow.transforms.storage.storage import Storage, StorageError, Stored

SCHEME = "hf://"


@cache
def _system() -> Any:
    """The Hub's file system; its package comes with `tokenizers`, and takes long to import."""
    from huggingface_hub import HfFileSystem  # pyright: ignore[reportMissingTypeStubs]

    return HfFileSystem()


class HubStorage(Storage):
    """Files below an address of the Hub.

    Args:
        url: hf://datasets/OWNER/NAME or a part of it; OWNER/NAME@REVISION names a revision.
    """

    def __init__(self, url: str):
        self.url = url.rstrip("/")
        self._root = self.url.removeprefix(SCHEME).strip("/")

    def __reduce__(self) -> tuple[type[HubStorage], tuple[str]]:
        return HubStorage, (self.url,)

    def below(self, name: str) -> HubStorage:
        """Return the tree below a folder."""
        return HubStorage(self.address(name))

    def read(self, name: str) -> bytes:
        """Read a file."""
        with self.open(name) as file:
            return file.read()

    def stat(self, name: str) -> Stored | None:
        """Return the facts about a file; None if there is no such file."""
        try:
            with self._explained(name):
                found = _system().info(self._path(name))
        except FileNotFoundError:
            return None
        return self._stored(found) if found["type"] == "file" else None

    def names(self, folder: str) -> list[str]:
        """List the files of a folder, without those in its folders."""
        every = (each.name.removeprefix(f"{folder}/") for each in self.tree(folder))
        return sorted(name for name in every if "/" not in name)

    def tree(self, folder: str = "") -> Iterator[Stored]:
        """List all files of a folder and of the folders below it."""
        with self._explained(folder):
            found = _system().find(self._path(folder), detail=True)
        yield from map(self._stored, found.values())

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""
        with self._explained(name):
            return _system().open(self._path(name), "rb")

    def write(self, name: str, data: bytes) -> NoReturn:
        """Refuse to write."""
        raise StorageError(f"{self.address(name)}: the Hub is read only here; give another output")

    def create(self, name: str, data: bytes, durable: bool = True) -> NoReturn:
        """Refuse to write."""
        self.write(name, data)

    def remove(self, names: Iterable[str]) -> NoReturn:
        """Refuse to delete."""
        self.write("", b"")

    def remove_tree(self, folder: str) -> NoReturn:
        """Refuse to delete."""
        self.write(folder, b"")

    def place(self, moves: Iterable[tuple[str, str]]) -> NoReturn:
        """Refuse to copy."""
        self.write("", b"")

    def _path(self, name: str) -> str:
        """A file's path as the file system has it."""
        return f"{self._root}/{name}".strip("/")

    def _stored(self, found: dict[str, Any]) -> Stored:
        """A file's facts. The Hub's name of its content changes with it."""
        name = str(found["name"]).lstrip("/").removeprefix(f"{self._root}/")
        return Stored(name, found["size"], None, found.get("blob_id"))

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        """Turn the errors of the Hub's client into a sentence with the address."""
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:  # those of its client of HTTP share no class
            said = " ".join(str(error).split()) or type(error).__name__
            raise StorageError(f"{self.address(name)}: cannot be read: {said}") from error
