"""Services that tests start and stop themselves, on free ports of the loopback interface.

What is not installed skips its tests, or fails them in CI (see parts.py).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from parts import require
from services.browser import Served, Tabs, running
from services.browser import installed as browser_installed
from services.flink_cluster import FlinkCluster
from services.job_server import JobServer
from services.job_server import installed as job_server_installed
from services.kafka_broker import Broker, installed
from services.s3_faults import S3Faults
from services.s3_server import S3Server
from services.s3_server import installed as s3_installed
from services.stream_outputs import command, on_flink

if TYPE_CHECKING:
    from playwright.sync_api import Browser


# In names of files that take a minute, the longest first
MINUTES = ("cluster", "trial", "stream_kill", "stream_flink", "kill", "pages", "health", "output")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take minutes come first: one that began last would leave processors idle."""
    found = [*MINUTES, ""]
    items.sort(key=lambda item: next(n for n, word in enumerate(found) if word in item.path.name))


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker for all tests; one that kills it starts it again."""
    require(installed())
    broker = Broker(tmp_path_factory.mktemp("kafka"))
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[Broker]:
    """A broker for one test, which may do to it what it likes; not started yet."""
    require(installed())
    broker = Broker(tmp_path / "kafka")
    yield broker
    broker.kill()


@pytest.fixture(scope="session")
def _numbers() -> Iterator[int]:
    return count()


@pytest.fixture
def topic(broker: Broker, _numbers: Iterator[int]) -> Callable[..., str]:
    """Makes a topic with a name that no other test has: topic(partitions=1, **settings)."""

    def make(partitions: int = 1, **settings: object) -> str:
        return broker.create_topic(f"test-{os.getpid()}-{next(_numbers)}", partitions, **settings)

    return make


@pytest.fixture
def flink(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobServer]:
    """Flink's job server, one for each test: jobs whose driver was killed would fill the memory of
    one for all.
    """
    require(job_server_installed())
    server = JobServer(tmp_path_factory.mktemp("flink"))
    yield server
    server.stop()


@pytest.fixture(params=["here", "flink"])
def words(request: pytest.FixtureRequest) -> Callable[..., list[str]]:
    """Makes the command for a run for ever, with panes of a second, on each of two engines:
    words(broker, topic, output, *more).
    """
    if request.param == "here":
        return command
    endpoint = request.getfixturevalue("flink").endpoint
    return lambda broker, topic, output, *more: on_flink(broker, topic, output, endpoint, *more)


@pytest.fixture(scope="module")
def _flink_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlinkCluster]:
    require(job_server_installed())
    cluster = FlinkCluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def flink_cluster(_flink_cluster: FlinkCluster) -> Iterator[FlinkCluster]:
    """A cluster of two TaskManagers for the tests of a file, which may kill its parts and leave
    jobs behind.
    """
    yield _flink_cluster
    _flink_cluster.mend()


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """An S3 server for all tests; one that kills it starts it again."""
    require(s3_installed())
    server = S3Server(tmp_path_factory.mktemp("s3"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def s3_here(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The S3 server, to which the environment of this process leads."""
    for name, value in s3.environment().items():
        monkeypatch.setenv(name, value)
    return s3


@pytest.fixture
def s3_faults(s3: S3Server) -> Iterator[S3Faults]:
    """What makes faults between a test and the S3 server; it makes none yet."""
    with S3Faults(s3) as proxy:
        yield proxy


@pytest.fixture
def bucket(s3: S3Server, _numbers: Iterator[int]) -> str:
    """A bucket of one test, s3://NAME."""
    return s3.bucket(f"test-{os.getpid()}-{next(_numbers)}")


@pytest.fixture(scope="session")
def _browser() -> Iterator[Browser]:
    require(browser_installed())
    with running() as browser:
        yield browser


@pytest.fixture
def tabs(_browser: Browser) -> Iterator[Tabs]:
    """Opens tabs of a real browser; no page of a test may complain."""
    opened = Tabs(_browser)
    yield opened
    opened.close()
    assert not opened.complaints


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Starts commands that serve pages."""
    found = Served(tmp_path)
    yield found
    found.stop()


@pytest.fixture
def reached(s3_here: S3Server, flink_cluster: FlinkCluster) -> Iterator[FlinkCluster]:
    """The cluster, whose workers reach the S3 server as this process does."""
    if flink_cluster.environment != s3_here.environment():
        flink_cluster.environment.update(s3_here.environment())
        for pool in (name for name in flink_cluster.processes if name.startswith("pool")):
            flink_cluster.restart(pool)
    yield flink_cluster


@pytest.fixture(scope="session", autouse=True)
def _quiet() -> None:
    """kafka-python writes a line at every attempt to connect, also from threads that outlive a
    test. Java's programs live for seconds: compiled in full, they would take half as much more.
    """
    os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
