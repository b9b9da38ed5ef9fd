"""The S3 server, and the faults that tests make between it and clients, as obstore meets them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import obstore
import psutil
import pytest
from obstore.exceptions import AlreadyExistsError, GenericError
from obstore.store import S3Store, from_url
from services.s3_faults import Fault, S3Faults
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


def test_it_listens_on_the_loopback_interface_alone(s3: S3Server) -> None:
    places = psutil.Process(s3.pid).net_connections("tcp")
    assert {each.laddr.ip for each in places if each.status == psutil.CONN_LISTEN} == {"127.0.0.1"}


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
