"""The S3 server, and the faults that tests make between it and clients, as obstore meets them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import timedelta

import obstore
import psutil
import pytest
from obstore.exceptions import (
    AlreadyExistsError,
    GenericError,
    PermissionDeniedError,
    PreconditionError,
)
from obstore.store import S3Store, from_url
from services.s3_faults import Fault, S3Faults, denied
from services.s3_server import S3Server

WRITERS = 20
KEY = "ledger/00000001 %20.json"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, s3_faults: S3Faults, bucket: str) -> S3Store:
    """A store behind the proxy, reached by what the environment says."""
    for name, value in s3_faults.environment().items():
        monkeypatch.setenv(name, value)
    return opened(bucket)


def opened(bucket: str, tries: int = 0) -> S3Store:
    """A store that tries a failed request so often again."""
    again = {
        "max_retries": tries,
        "retry_timeout": timedelta(seconds=60),
        "backoff": {
            "init_backoff": timedelta(milliseconds=10),
            "max_backoff": timedelta(seconds=1),
            "base": 2,
        },
    }
    store = from_url(f"{bucket}/some/prefix", retry_config=again)
    assert isinstance(store, S3Store)
    return store


def keys(store: S3Store) -> list[str]:
    """All keys of a listing."""
    return sorted(each["path"] for page in obstore.list(store) for each in page)


def content(store: S3Store, key: str = KEY) -> bytes:
    return bytes(obstore.get(store, key).bytes())


@pytest.mark.usefixtures("s3_here")
def test_the_environment_alone_leads_to_the_server(bucket: str) -> None:
    store = opened(bucket)
    obstore.put(store, KEY, b"one")
    assert content(store) == b"one" and keys(store) == [KEY]
    assert obstore.get_range(store, KEY, start=1, length=1) == b"n"
    obstore.copy(store, KEY, "copied")
    obstore.delete(store, [KEY])
    assert keys(store) == ["copied"]


def test_it_listens_on_the_loopback_interface_alone(s3: S3Server) -> None:
    places = psutil.Process(s3.pid).net_connections("tcp")
    assert {each.laddr.ip for each in places if each.status == psutil.CONN_LISTEN} == {"127.0.0.1"}


def test_wrong_keys_and_regions_are_refused(
    monkeypatch: pytest.MonkeyPatch, store: S3Store, bucket: str
) -> None:
    obstore.put(store, KEY, b"one")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    with pytest.raises(GenericError, match="the region"):
        content(opened(bucket))
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with pytest.raises(PermissionDeniedError, match="SignatureDoesNotMatch"):
        content(opened(bucket))


def test_what_was_written_outlives_a_kill(store: S3Store, bucket: str, s3: S3Server) -> None:
    obstore.put(store, KEY, b"one")
    s3.kill()
    with pytest.raises(GenericError):
        content(store)
    late = threading.Timer(0.5, s3.start)
    late.start()
    assert content(opened(bucket, 1000)) == b"one"  # it waited
    late.join()
    s3.restart()
    assert content(opened(bucket)) == b"one"


def test_a_bucket_that_vanishes(store: S3Store, s3: S3Server, bucket: str) -> None:
    obstore.put(store, KEY, b"one")
    s3.remove_bucket(bucket.removeprefix("s3://"))
    for attempt in (lambda: content(store), lambda: obstore.put(store, KEY, b"two")):
        with pytest.raises(FileNotFoundError, match="NoSuchBucket"):
            attempt()


@pytest.mark.parametrize("direct", [True, False], ids=["server", "proxy"])
def test_of_writers_that_create_one_object_one_wins(
    monkeypatch: pytest.MonkeyPatch, store: S3Store, s3: S3Server, bucket: str, direct: bool
) -> None:
    if direct:
        monkeypatch.setenv("AWS_ENDPOINT_URL", s3.endpoint)
        store = opened(bucket)
    together = threading.Barrier(WRITERS)

    def write(number: int) -> int | None:
        together.wait()
        try:
            obstore.put(store, KEY, str(number).encode(), mode="create")
        except AlreadyExistsError:
            return None
        return number

    with ThreadPoolExecutor(WRITERS) as threads:
        [winner] = [each for each in threads.map(write, range(WRITERS)) if each is not None]
    assert content(store) == str(winner).encode()


def test_faults_take_what_they_name_as_often_as_they_say(
    store: S3Store, s3_faults: S3Faults
) -> None:
    fault = s3_faults.make(Fault("PUT", "ledger/", after=1, times=2, status=500))
    outcomes = []
    for key in ("ledger/1", "accepted/1", "ledger/2", "ledger/3", "ledger/4"):
        try:
            obstore.put(store, key, b"one")
            outcomes.append(True)
        except GenericError:
            outcomes.append(False)
    assert outcomes == [True, True, False, False, True] and fault.met == 2
    assert keys(store) == ["accepted/1", "ledger/1", "ledger/4"]


@pytest.mark.parametrize(
    ("status", "code"), [(500, "InternalError"), (503, "SlowDown")], ids=["500", "503"]
)
def test_errors_of_the_server(
    store: S3Store, s3_faults: S3Faults, bucket: str, status: int, code: str
) -> None:
    fault = s3_faults.make(Fault(times=4, status=status, code=code))
    for attempt in (
        lambda: obstore.put(store, KEY, b"one"),
        lambda: content(store),
        lambda: keys(store),
    ):
        with pytest.raises(GenericError, match=str(status)):
            attempt()
    obstore.put(opened(bucket, 1), KEY, b"one")  # tried again
    assert fault.met == 4 and content(store) == b"one"


def test_a_condition_that_failed_although_the_write_was_done(
    store: S3Store, s3_faults: S3Faults
) -> None:
    s3_faults.make(Fault("CREATE", status=412, code="PreconditionFailed", applied=True, times=1))
    with pytest.raises(AlreadyExistsError):
        obstore.put(store, KEY, b"one", mode="create")
    assert content(store) == b"one"


@pytest.mark.parametrize("status", [409, 412])
def test_a_condition_that_failed_without_a_write(
    store: S3Store, s3_faults: S3Faults, status: int
) -> None:
    s3_faults.make(Fault("CREATE", status=status, code="ConditionalRequestConflict", times=1))
    with pytest.raises(AlreadyExistsError):
        obstore.put(store, KEY, b"one", mode="create")
    assert keys(store) == []


def test_a_create_that_is_tried_again_meets_its_own_object(
    store: S3Store, s3_faults: S3Faults, bucket: str
) -> None:
    """An answer was lost, and obstore asked again: that it exists does not say who made it."""
    fault = s3_faults.make(Fault("CREATE", status=500, applied=True, times=1))
    with pytest.raises(AlreadyExistsError):
        obstore.put(opened(bucket, 5), KEY, b"one", mode="create")
    assert fault.met == 1 and content(store) == b"one"


def test_a_connection_that_ends_after_the_write(store: S3Store, s3_faults: S3Faults) -> None:
    s3_faults.make(Fault("PUT|CREATE", drop=True, applied=True))
    for key, mode in (("a", "overwrite"), ("b", "create")):
        with pytest.raises(GenericError):
            obstore.put(store, key, b"one", mode=mode)
    assert keys(store) == ["a", "b"]
    s3_faults.make(Fault("COPY", drop=True))
    with pytest.raises(GenericError):
        obstore.copy(store, "a", "c")
    assert keys(store) == ["a", "b"]


def test_half_of_an_object(store: S3Store, s3_faults: S3Faults, bucket: str) -> None:
    whole = bytes(range(256)) * 1024
    obstore.put(store, KEY, whole)
    fault = s3_faults.make(Fault("GET", half=True, times=1))
    with pytest.raises(GenericError):
        content(store)
    assert fault.met == 1 and content(store) == whole
    s3_faults.make(Fault("GET", half=True, times=1))
    assert content(opened(bucket, 3)) == whole  # the rest was asked for again


def test_an_answer_that_comes_late(store: S3Store, s3_faults: S3Faults) -> None:
    """Another client's write overtakes it."""
    fault = s3_faults.make(Fault("CREATE", delay=1.0, times=1))
    with ThreadPoolExecutor(1) as thread:
        slow = thread.submit(obstore.put, store, KEY, b"slow", mode="create")
        while not fault.met:
            time.sleep(0.01)
        obstore.put(store, KEY, b"fast", mode="create")
        assert isinstance(slow.exception(), AlreadyExistsError)
    assert content(store) == b"fast"


def test_listings_that_lag_behind(store: S3Store, s3_faults: S3Faults) -> None:
    obstore.put(store, KEY, b"one")
    obstore.copy(store, KEY, "copied & <new>")
    s3_faults.hidden_seconds = float("inf")
    assert keys(store) == [] and content(store) == b"one"
    s3_faults.hidden_seconds = 0.0
    assert keys(store) == ["copied & <new>", KEY]


@pytest.mark.parametrize("what", ["PUT|CREATE", "GET", "LIST", "DELETE"])
def test_permissions_that_are_missing(store: S3Store, s3_faults: S3Faults, what: str) -> None:
    """The other operations work. A listing's refusal has no class of its own in obstore."""
    obstore.put(store, KEY, b"one")
    s3_faults.make(denied(what))
    attempts: dict[str, Callable[[], object]] = {
        "PUT|CREATE": lambda: obstore.put(store, KEY, b"two", mode="create"),
        "GET": lambda: content(store),
        "LIST": lambda: keys(store),
        "DELETE": lambda: obstore.delete(store, KEY),
    }
    refused = attempts.pop(what)
    with pytest.raises(
        GenericError if what == "LIST" else PermissionDeniedError, match="AccessDenied"
    ):
        refused()
    for name, attempt in attempts.items():
        with pytest.raises(AlreadyExistsError) if name == "PUT|CREATE" else nullcontext():
            attempt()


def test_a_store_without_conditional_writes(store: S3Store, s3_faults: S3Faults) -> None:
    obstore.put(store, KEY, b"one", mode="create")
    s3_faults.make(Fault("CREATE|UPDATE", unconditional=True))
    obstore.put(store, KEY, b"two", mode="create")
    assert content(store) == b"two"
    obstore.put(store, KEY, b"three", mode={"e_tag": '"of another"'})
    assert content(store) == b"three"
    s3_faults.faults.clear()
    with pytest.raises(PreconditionError):
        obstore.put(store, KEY, b"four", mode={"e_tag": '"of another"'})
