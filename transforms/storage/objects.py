"""A storage under a prefix of an object store: S3, Google Cloud Storage, Azure, or memory.

Addresses and keys come from the environment, as the stores' own tools read them (AWS_REGION,
AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_NAME …).
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, cast

import obstore
from obstore import exceptions, store

from evenflow.transforms.storage.storage import Storage, StorageError, Stored

SCHEMES = ("s3", "gs", "az", "memory")
RETRY_SECONDS = 90  # how long requests are tried again: a store may be away for that long
AT_ONCE = 16  # requests to read
TOGETHER = 1000  # names in a request to delete
# Parts of a large upload; a store charges for each part. UPLOADS of them are in memory.
PART_BYTES = 16 << 20
UPLOADS = 4
READ_BYTES = 8 << 20  # how much of an open file is read at a time


@lru_cache(maxsize=16)
def _client(scheme: str, bucket: str) -> Any:
    """The client of a bucket; a process has one for each."""
    if scheme == "memory":
        return store.MemoryStore()
    options: dict[str, Any] = {
        "client_options": {"timeout": "60s", "connect_timeout": "5s"},
        "retry_config": {
            "max_retries": 30,
            "retry_timeout": timedelta(seconds=RETRY_SECONDS),
            "backoff": {"max_backoff": timedelta(seconds=5)},
        },
    }
    if scheme == "s3":
        # Hashing each upload costs most of its time, and the ledger has the SHA-256 of each shard
        options["config"] = {"unsigned_payload": True}
        if os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"):
            options["client_options"]["allow_http"] = True
    return store.from_url(f"{scheme}://{bucket}", **options)


class ObjectStorage(Storage):
    """Files under a prefix of an object store.

    Args:
        url: scheme://bucket/prefix; the prefix is taken as it is (blanks and % stand for
            themselves).

    Raises:
        StorageError: The scheme or the bucket is missing or cannot be used.
    """

    def __init__(self, url: str):
        scheme, _, rest = url.partition("://")
        bucket, _, prefix = rest.partition("/")
        if scheme not in SCHEMES or not bucket:
            raise StorageError(
                f"{url}: no address of a store; {', '.join(f'{each}://' for each in SCHEMES)} and a"
                " bucket were expected"
            )
        self.url = url.rstrip("/")
        self._prefix = "".join(f"{part}/" for part in prefix.split("/") if part)
        with self._explained(""):
            self._store = _client(scheme, bucket)

    def __reduce__(self) -> tuple[type[ObjectStorage], tuple[str]]:
        return ObjectStorage, (self.url,)

    def below(self, name: str) -> ObjectStorage:
        """Return the tree below a folder."""
        return ObjectStorage(self.address(name))

    def read(self, name: str) -> bytes:
        """Read a file."""
        with self._explained(name):
            return bytes(obstore.get(self._store, self._prefix + name).bytes())

    def read_all(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Read files, AT_ONCE at a time."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield from pool.map(self._read_or_none, names)

    def write(self, name: str, data: bytes | memoryview) -> None:
        """Write a file, in the place of an earlier one."""
        with self._explained(name):
            obstore.put(self._store, self._prefix + name, data, mode="overwrite")

    def create(self, name: str, data: bytes, durable: bool = True) -> bool:
        """Write a file unless there is one."""
        with self._explained(name):
            try:
                obstore.put(
                    self._store, self._prefix + name, data, mode="create", use_multipart=False
                )
                return True
            except (exceptions.AlreadyExistsError, exceptions.PreconditionError):
                return self.read(name) == data

    def stat(self, name: str) -> Stored | None:
        """Return the facts about a file; None if there is no such file."""
        with self._explained(name):
            try:
                return self._stored(obstore.head(self._store, self._prefix + name))
            except FileNotFoundError:
                return None

    def names(self, folder: str) -> list[str]:
        """List the files of a folder, without those in its folders."""
        prefix = self._prefix + (f"{folder.strip('/')}/" if folder else "")
        with self._explained(folder):
            found = obstore.list_with_delimiter(self._store, prefix)
            return sorted(each["path"].removeprefix(prefix) for each in found["objects"])

    def tree(self, folder: str = "") -> Iterator[Stored]:
        """List all files of a folder and of the folders below it."""
        prefix = self._prefix + (f"{folder.strip('/')}/" if folder else "")
        with self._explained(folder):
            for chunk in obstore.list(self._store, prefix):
                for each in chunk:
                    yield self._stored(each)

    def remove(self, names: Iterable[str]) -> None:
        """Delete files; one that is not there is no error."""
        every = [self._prefix + name for name in names]
        with self._explained(every[0] if every else ""):
            for first in range(0, len(every), TOGETHER):
                try:
                    obstore.delete(self._store, every[first : first + TOGETHER])
                except FileNotFoundError:
                    for path in every[first : first + TOGETHER]:
                        self._remove_one(path)

    def _remove_one(self, path: str) -> None:
        """Delete an object that may not be there."""
        try:
            obstore.delete(self._store, path)
        except FileNotFoundError:
            return

    def remove_tree(self, folder: str) -> None:
        """Delete a folder with all that is in it; it need not exist."""
        self.remove([each.name for each in self.tree(folder)])

    def place(self, moves: Iterable[tuple[str, str]]) -> None:
        """Copy objects within the store."""
        for source, target in moves:
            with self._explained(source):
                obstore.copy(self._store, self._prefix + source, self._prefix + target)

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading; a part that breaks off is read again."""
        with self._explained(name):
            found = obstore.open_reader(self._store, self._prefix + name, buffer_size=READ_BYTES)
        return cast(BinaryIO, io.BufferedReader(_Reader(found, self._explained, name), 1 << 20))

    def upload(self, path: Path, name: str) -> None:
        """Write a local file under a name."""
        with self._explained(name):
            obstore.put(
                self._store,
                self._prefix + name,
                path,
                chunk_size=PART_BYTES,
                max_concurrency=UPLOADS,
            )

    def _stored(self, found: Any) -> Stored:
        """An object's facts."""
        return Stored(
            found["path"].removeprefix(self._prefix),
            found["size"],
            round(found["last_modified"].timestamp() * 1e6) * 1000,
            found.get("e_tag"),
        )

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        """Turn the client's errors into OSErrors with a message for people."""
        try:
            yield
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise StorageError(f"{self.url}: there is no such bucket") from error
            raise FileNotFoundError(2, "no such object", self.address(name)) from error
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
            raise PermissionError(
                13, "the store refuses this (keys, or rights of the bucket)", self.address(name)
            ) from error
        except exceptions.NotSupportedError as error:
            raise StorageError(
                f"{self.address(name)}: the store cannot do this: {_first_line(error)}"
            ) from error
        except (exceptions.BaseError, ValueError) as error:
            raise StorageError(f"{self.address(name)}: {_first_line(error)}") from error


class _Reader(io.RawIOBase):
    """An open object."""

    def __init__(self, source: Any, explained: Callable[[str], Any], name: str):
        super().__init__()
        self._source, self._explained, self._name = source, explained, name

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a byte."""
        return self._source.seek(offset, whence)

    def tell(self) -> int:
        """The byte that is read next."""
        return self._source.tell()

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer."""
        with self._explained(self._name):
            data = memoryview(self._source.read(len(buffer)))
        buffer[: len(data)] = data
        return len(data)


def _first_line(error: BaseException) -> str:
    """What an error says, without the client's own notes on its source."""
    return str(error).strip().partition("\n")[0]
