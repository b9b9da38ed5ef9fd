"""The health of a run: its lease, its source, its output."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from evenflow.gates import health as healths
from evenflow.gates import lease as leases
from evenflow.gates.health import FINE, SOURCE_SECONDS, STANDING_BY, Health
from evenflow.gates.lease import Lease
from evenflow.transforms.storage.storage import Storage, at


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question writes anew."""
    monkeypatch.setattr(healths, "OUTPUT_SECONDS", -1.0)


@pytest.fixture(params=["directory", "store"])
def output(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Storage:
    """An empty output."""
    if request.param == "store":
        return at(f"memory://{uuid4().hex}/out")
    return at(tmp_path_factory.mktemp("out"))


@pytest.fixture
def running(output: Storage) -> Iterator[Health]:
    """The health of a run that holds its lease and reads."""
    health = Health(output)
    health.lease, health.silence = Lease(output), lambda: 0.0
    with health.lease:
        yield health


def test_a_run_that_has_just_begun_is_not_ready(output: Storage) -> None:
    health = Health(output)
    assert health.state() == (
        False,
        {"lease": "not asked for yet", "source": "not read yet", "output": FINE},
    )
    health.lease, health.silence = Lease(output), lambda: 0.0
    assert health.state()[1]["lease"] == "not taken yet"
    with health.lease:
        assert health.state() == (True, {"lease": FINE, "source": FINE, "output": FINE})
    assert not list(output.names("gate/probe"))


@pytest.mark.parametrize(
    ("seconds", "ready"), [(SOURCE_SECONDS - 1, True), (SOURCE_SECONDS + 1, False)]
)
def test_a_source_may_be_silent_for_a_while(running: Health, seconds: float, ready: bool) -> None:
    running.silence = lambda: seconds
    found, parts = running.state()
    assert found is ready and (parts["source"] == FINE) is ready


def test_an_output_that_takes_no_file(running: Health, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Storage, name: str, data: bytes) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(type(at(running._output)), "write", full)  # pyright: ignore[reportPrivateUsage]
        ready, parts = running.state()
        assert not ready and "No space left" in parts["output"]
    assert running.state()[0]


def test_one_write_answers_all_for_some_seconds(
    running: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(healths, "OUTPUT_SECONDS", 1000.0)
    assert running.state()[0]
    with monkeypatch.context() as patch:
        patch.setattr(type(running._output), "write", None)  # pyright: ignore[reportPrivateUsage]
        assert running.state()[0]


def test_a_run_that_stands_by_is_ready_while_the_output_answers(
    running: Health, output: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Health(output)
    other.lease = Lease(output, standby=True, note=lambda text: None)
    now = [1000.0]
    monkeypatch.setattr(healths.time, "monotonic", lambda: now[0])
    other.lease.looked = 999.0
    assert other.state() == (
        True,
        {"lease": STANDING_BY, "source": "not read while standing by", "output": FINE},
    )
    now[0] = 1030.0
    ready, parts = other.state()
    assert not ready and parts["lease"].endswith("has not answered for 31 s")


def test_a_run_that_has_lost_its_lease_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.02)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.1)
    monkeypatch.setattr(Lease, "_keep", lambda self: None)  # as if it was stopped
    output = at(f"memory://{uuid4().hex}/out")
    first = Health(output)
    first.lease, first.silence = Lease(output), lambda: 0.0
    with first.lease, Lease(output):
        ready, parts = first.state()
        assert not ready and "another run has taken over" in parts["lease"]
