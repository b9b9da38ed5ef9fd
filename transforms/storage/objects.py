"""A storage under a prefix of an object store: S3, Google Cloud Storage, Azure, or memory.

Addresses and keys come from the environment, as the stores' own tools read them (AWS_REGION,
AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_NAME …).
"""

from __future__ import annotations

import io
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from evenflow.transforms.storage.explaining import KEYS, METADATA, explained
from evenflow.transforms.storage.storage import Found, Given, Storage, StorageError, Stored

try:
    import obstore
    from obstore import exceptions, store
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}: it is in the extra stores", name=error.name) from error

SCHEMES = ("s3", "gs", "az", "memory")
RETRY_SECONDS = 90.0  # how long requests are tried again: a store may be away for that long
AT_ONCE = 16  # requests
TOGETHER = 1000  # names in a request to delete
# Parts of a large upload; a store charges for each part. UPLOADS of them are in memory.
PART_BYTES = 16 << 20
UPLOADS = 4
READ_BYTES = 8 << 20  # how much of an open file is read at a time
# The client does not try again what it may not do twice, nor an answer that ends half way. Each of
# its open connections to a server that was killed, and is back, may be found dead once.
TRIES = 40
PAUSE_SECONDS = 0.2  # between two of them
CREATES = 5  # tries to create a file that another writer is about to create, or may have created
# What else tells the client of S3 where its keys are, or that it needs none
KEY_SOURCES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_METADATA_ENDPOINT",
    "AWS_SKIP_SIGNATURE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)


@lru_cache(maxsize=16)
def _client(scheme: str, bucket: str, seconds: float) -> Any:
    """The client of a bucket that tries for so long; a process has one for each."""
    if scheme == "memory":
        return store.MemoryStore()
    options: dict[str, Any] = {
        "client_options": {"timeout": "60s", "connect_timeout": "5s"},
        "retry_config": {
            "max_retries": 10_000,  # the time decides
            "retry_timeout": timedelta(seconds=seconds),
            "backoff": {"max_backoff": timedelta(seconds=5)},
        },
    }
    if scheme == "s3":
        if not any(map(os.environ.get, KEY_SOURCES)):
            _find_metadata()
        # Hashing each upload costs most of its time, and the ledger has the SHA-256 of each shard
        options["config"] = {"unsigned_payload": True}
        if os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"):
            options["client_options"]["allow_http"] = True
    return store.from_url(f"{scheme}://{bucket}", **options)


@contextmanager
def trying(seconds: float) -> Iterator[None]:
    """Have this process try requests again for so long only, of storages made within the block."""
    global RETRY_SECONDS
    before, RETRY_SECONDS = RETRY_SECONDS, seconds
    try:
        yield
    finally:
        RETRY_SECONDS = before


def _find_metadata() -> None:
    """Look for the service that gives a cloud's machine its keys; the client would for minutes.

    Raises OSError where there is none.
    """
    try:
        socket.create_connection((METADATA, 80), timeout=2).close()
    except OSError as error:
        raise OSError(f"no service of keys at {METADATA}") from error


def _again(request: Callable[[], Found], *also: type[Exception]) -> Found:
    """Make a request; again where its answer was lost."""
    until = time.monotonic() + RETRY_SECONDS
    for rest in range(TRIES - 1, -1, -1):
        try:
            return request()
        except (exceptions.GenericError, *also) as error:
            answered = isinstance(error, exceptions.GenericError) and "status code" in str(error)
            if answered or not rest or time.monotonic() > until:
                raise
        time.sleep(PAUSE_SECONDS)
    raise AssertionError  # the last try returns or raises


def _overwrite(request: Callable[[], object]) -> None:
    """Write without a condition; again where a store says that the object is there.

    S3's 409 asks for that, and versitygw gives it while another request deletes an empty folder.
    """
    _again(request, exceptions.AlreadyExistsError)


class ObjectStorage(Storage):
    """Files under a prefix of an object store.

    `url`: scheme://bucket/prefix; the prefix is taken as it is (blanks and % stand for themselves).
    """

    def __init__(self, url: str):
        scheme, _, rest = url.partition("://")
        bucket, _, prefix = rest.partition("/")
        if scheme in SCHEMES and {*bucket} & {*"@:"}:
            raise StorageError(
                f"{scheme}://…: a store's keys are not part of its address; set"
                f" {KEYS.get(scheme, 'them')} in the environment"
            )
        if scheme not in SCHEMES or not bucket:
            raise StorageError(
                f"{scheme}://…: no address of a store;"
                f" {', '.join(f'{each}://' for each in SCHEMES)} and a bucket were expected;"
                " files of other places are downloaded first"
            )
        self.url = url.rstrip("/")
        self._scheme = scheme
        self._prefix = "".join(f"{part}/" for part in prefix.split("/") if part)
        with self._explained(""):
            # What is in memory is in its one client
            self._store = _client(scheme, bucket, 0.0 if scheme == "memory" else RETRY_SECONDS)

    def __reduce__(self) -> tuple[type[ObjectStorage], tuple[str]]:
        return ObjectStorage, (self.url,)

    def below(self, name: str) -> ObjectStorage:
        """Return the tree below a folder."""
        return ObjectStorage(self.address(name))

    def read(self, name: str) -> bytes:
        """Read a file."""
        with self._explained(name):
            return _again(lambda: bytes(obstore.get(self._store, self._prefix + name).bytes()))

    def at_once(self, do: Callable[[Given], Found], each: Iterable[Given]) -> Iterator[Found]:
        """Call a function for each thing, AT_ONCE at a time."""
        some = list(each)
        if len(some) < 2:
            yield from map(do, some)
            return
        with ThreadPoolExecutor(min(AT_ONCE, len(some))) as pool:
            yield from pool.map(do, some)

    def write(self, name: str, data: bytes | memoryview) -> None:
        """Write a file, in the place of an earlier one."""
        with self._explained(name, "write"):
            put = partial(obstore.put, self._store, self._prefix + name, data, mode="overwrite")
            _overwrite(put)

    def create(self, name: str, data: bytes, durable: bool = True) -> bool:
        """Write a file unless there is one."""
        put = partial(
            obstore.put,
            self._store,
            self._prefix + name,
            data,
            mode="create",
            use_multipart=False,
        )
        for _ in range(CREATES):
            with self._explained(name, "write"):
                try:
                    _again(put)
                    return True
                except (exceptions.AlreadyExistsError, exceptions.PreconditionError):
                    found = self._read_or_none(name)  # a lost answer may have been to our own
            if found is not None:
                return found == data
            # Another writer had begun and not ended, or it has deleted its file
        raise StorageError(f"{self.address(name)}: the store says that it is there and is not")

    def stat(self, name: str) -> Stored | None:
        """Return the facts about a file; None if there is no such file."""
        with self._explained(name):
            try:
                return self._stored(self._asked(obstore.head, name))
            except FileNotFoundError:
                return None

    def _asked(self, ask: Callable[[Any, str], Any], name: str) -> Any:
        """What a request of the method HEAD gets. The answer to a refused GET says why."""
        try:
            return _again(partial(ask, self._store, self._prefix + name))
        except exceptions.BaseError as error:
            if "status code: 4" in str(error):
                obstore.get(self._store, self._prefix + name)
            raise

    def names(self, folder: str) -> list[str]:
        """List the files of a folder, without those in its folders."""
        prefix = self._prefix + (f"{folder.strip('/')}/" if folder else "")
        with self._explained(folder, "list"):
            found = _again(partial(obstore.list_with_delimiter, self._store, prefix))
            return sorted(each["path"].removeprefix(prefix) for each in found["objects"])

    def tree(self, folder: str = "") -> Iterator[Stored]:
        """List all files of a folder and of the folders below it."""
        prefix = self._prefix + (f"{folder.strip('/')}/" if folder else "")
        with self._explained(folder, "list"):
            for chunk in obstore.list(self._store, prefix):
                for each in chunk:
                    yield self._stored(each)

    def remove(self, names: Iterable[str]) -> None:
        """Delete files; one that is not there is no error."""
        every = list(names)
        for first in range(0, len(every), TOGETHER):
            some = every[first : first + TOGETHER]
            try:
                self._remove(some)
            except FileNotFoundError:
                for name in some:
                    with suppress(FileNotFoundError):
                        self._remove([name])

    def _remove(self, names: Sequence[str]) -> None:
        """Delete objects in one request. Raises FileNotFoundError where a store minds."""
        with self._explained(names[0], "delete"):
            keys = [self._prefix + name for name in names]
            _again(partial(obstore.delete, self._store, keys))

    def remove_tree(self, folder: str) -> None:
        """Delete a folder with all that is in it; it need not exist."""
        self.remove([each.name for each in self.tree(folder)])

    def place(self, moves: Iterable[tuple[str, str]]) -> None:
        """Copy objects within the store."""
        list(self.at_once(self._copy, moves))

    def _copy(self, move: tuple[str, str]) -> None:
        """Copy an object."""
        with self._explained(move[0], "copy"):
            _overwrite(partial(obstore.copy, self._store, *(self._prefix + name for name in move)))

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading; a part that breaks off is read again."""
        with self._explained(name):
            found = self._asked(partial(obstore.open_reader, buffer_size=READ_BYTES), name)
        return cast(BinaryIO, io.BufferedReader(_Reader(found, self._explained, name), 1 << 20))

    def upload(self, path: Path, name: str) -> None:
        """Write a local file under a name."""
        with self._explained(name, "write"):
            _overwrite(
                partial(
                    obstore.put,
                    self._store,
                    self._prefix + name,
                    path,
                    chunk_size=PART_BYTES,
                    max_concurrency=UPLOADS,
                )
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
    def _explained(self, name: str, what: str = "read") -> Iterator[None]:
        """Turn the client's errors into OSErrors with a sentence for people."""
        try:
            yield
        except StorageError:
            raise
        except (exceptions.BaseError, OSError, ValueError) as error:
            address = self.address(name) if name else self.url
            raise explained(error, self._scheme, address, what) from error


class _Reader(io.RawIOBase):
    """An open object. The client tries a part that breaks off again."""

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
