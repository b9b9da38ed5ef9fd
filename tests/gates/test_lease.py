"""The lease of an output in an object store: one holder, a standby that takes over, fencing."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from evenflow.gates import lease as leases
from evenflow.gates.lease import FencedError, Lease
from evenflow.gates.lock import LockedError
from evenflow.transforms.storage.objects import ObjectStorage
from evenflow.transforms.storage.storage import Storage, StorageError, at


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beats and patience of a test, a hundredth of a run's."""
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.02)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.1)


@pytest.fixture
def output() -> Storage:
    """An empty store."""
    return at(f"memory://{uuid4().hex}/out")


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Holders write no beats, as if they were stopped."""
    with monkeypatch.context() as patch:
        patch.setattr(Lease, "_keep", lambda self: None)
        yield


def test_one_run_at_a_time(output: Storage) -> None:
    with Lease(output) as first:
        first.check()
        assert first.held
        with pytest.raises(LockedError, match=r"in use by another run \(process .*--standby"):
            Lease(output).__enter__()
        first.check()
    with Lease(output) as second:  # at once: the first one has ended
        second.check()
    assert first.run != second.run


def test_a_standby_takes_over_when_the_holder_ends(output: Storage) -> None:
    notes: list[str] = []
    taken = threading.Event()

    def stand_by() -> None:
        with Lease(output, standby=True, note=notes.append):
            taken.set()

    with Lease(output):
        waiting = threading.Thread(target=stand_by)
        waiting.start()
        assert not taken.wait(5 * leases.LEASE_SECONDS)  # the holder's beats keep it waiting
    waiting.join(30)
    assert taken.is_set()
    assert len(notes) == 1 and notes[0].endswith("; standing by")


def test_a_standby_takes_over_after_silence_and_the_old_holder_is_fenced(
    output: Storage, silent: None
) -> None:
    old = Lease(output)
    old.__enter__()
    old.check()
    with Lease(output, standby=True) as new:
        new.check()
        with pytest.raises(FencedError, match="another run has taken over"):
            old.check()
        old.__exit__(None, None, None)  # it must not end the other's term
        with pytest.raises(FencedError):
            old.check()
        new.check()


@pytest.mark.parametrize("beats_again", [True, False])
def test_a_holder_that_could_not_reach_the_store_is_not_silent(
    output: Storage, monkeypatch: pytest.MonkeyPatch, beats_again: bool
) -> None:
    """The store is away for 30 s; 6 s after that the holder's beats come again, or never do."""
    monkeypatch.setattr(leases, "BEAT_SECONDS", 2.0)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 10.0)
    beat, read, now = "gate/terms/00000001.beat", ObjectStorage.read, [0.0]
    output.write("gate/terms/00000001.json", b"{}")
    output.write(beat, b"1")

    def slowly(storage: ObjectStorage, name: str) -> bytes:
        if name == beat and 3.0 <= now[0] < 30.0:
            now[0] = 33.0
        return read(storage, name)

    class Clock:
        """Stands for the module `time`."""

        @staticmethod
        def monotonic() -> float:
            return now[0]

        @staticmethod
        def sleep(seconds: float) -> None:
            now[0] += seconds
            if beats_again and now[0] >= 39.0:
                output.write(beat, b"2")

    monkeypatch.setattr(ObjectStorage, "read", slowly)
    monkeypatch.setattr(leases, "time", Clock)
    if beats_again:
        with pytest.raises(LockedError):
            Lease(output).__enter__()
    else:
        with Lease(output) as new:
            new.check()
        assert 39.0 <= now[0] <= 43.0


def test_of_many_that_take_a_silent_lease_one_succeeds(output: Storage, silent: None) -> None:
    Lease(output).__enter__()
    together, taken, refused = threading.Barrier(8), [], []

    def take() -> None:
        lease = Lease(output)
        together.wait()
        try:
            taken.append(lease.__enter__())
        except LockedError:
            refused.append(lease)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    # A slow one may find the first one's term silent in its turn; then the first one is fenced
    holders = []
    for each in taken:
        try:
            each.check()
            holders.append(each)
        except FencedError:
            pass
    assert len(holders) == 1 and len(taken) + len(refused) == 8


def test_an_old_holder_is_fenced_after_any_number_of_terms(
    output: Storage, silent: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old terms are deleted only when nobody can have slept for so long."""
    monkeypatch.setattr(leases, "KEPT", 20)
    old = Lease(output)
    old.__enter__()
    for _ in range(15):
        with Lease(output, standby=True):
            pass
        with pytest.raises(FencedError):
            old.check()
        old._lost = False  # it asks the store again
    for _ in range(30):
        with Lease(output, standby=True):
            pass
    assert len([name for name in output.names(leases.FOLDER) if "json" in name]) <= 30


def test_a_term_that_a_store_lists_late_counts(
    output: Storage, silent: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Lease(output)
    old.__enter__()
    monkeypatch.setattr(ObjectStorage, "names", lambda self, folder: [])
    with Lease(output, standby=True) as new:
        assert int(new.run) == int(old.run) + 1


def test_a_store_without_conditional_writes_is_refused(
    output: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overwrite(self: Storage, name: str, data: bytes, durable: bool = True) -> bool:
        self.write(name, data)
        return True

    monkeypatch.setattr(ObjectStorage, "create", overwrite)
    with pytest.raises(StorageError, match=r"no conditional writes.*another --output"):
        Lease(output).__enter__()


def test_a_directory_is_locked_by_the_kernel(tmp_path: Path) -> None:
    with Lease(tmp_path) as lease:
        lease.check()
        with pytest.raises(LockedError):
            Lease(tmp_path).__enter__()
        assert [path.name for path in (tmp_path / "gate").iterdir()] == ["lock"]


def test_a_fenced_holder_writes_nothing_at_its_end(output: Storage, silent: None) -> None:
    old = Lease(output)
    old.__enter__()
    with Lease(output, standby=True):
        with pytest.raises(FencedError):
            old.check()
        before = {each.name: output.read(each.name) for each in output.tree()}
        old.__exit__(None, None, None)
        assert {each.name: output.read(each.name) for each in output.tree()} == before


def test_a_holder_that_ends_says_so(output: Storage, silent: None) -> None:
    with Lease(output):
        pass
    assert output.read("gate/terms/00000001.beat") == b"ended"


def test_a_lease_that_was_never_taken_ends_without_a_word(output: Storage) -> None:
    own = Lease(output)
    assert not own.held
    own.check()
    own.__exit__(None, None, None)
    assert not list(output.tree())


def test_only_terms_that_were_are_deleted(
    output: Storage, silent: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "KEPT", 2)
    monkeypatch.setattr(leases, "TOGETHER", 8)
    removed = list[str]()
    remove = ObjectStorage.remove

    def noted(storage: ObjectStorage, names: Iterable[str]) -> None:
        given = list(names)
        removed.extend(each for each in given if each.startswith(leases.FOLDER))
        remove(storage, given)

    monkeypatch.setattr(ObjectStorage, "remove", noted)
    for _ in range(5):
        with Lease(output):
            pass
    last = 4  # the term before the last one that began
    beats = {f"gate/terms/{number:08d}.beat" for number in range(1, last)}
    terms = {f"gate/terms/{number:08d}.json" for number in range(1, last - 2)}
    assert set(removed) == beats | terms
    left = set(output.names(leases.FOLDER))
    assert {"00000002.json", "00000003.json", "00000004.json", "00000005.json"} <= left
    assert "00000004.beat" in left and "00000001.json" not in left
