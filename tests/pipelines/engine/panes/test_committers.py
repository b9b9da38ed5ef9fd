"""Committers that meet in one object store, in every order of their requests: nothing is lost,
nothing is there twice, and every entry is that of the files it names.

The panes of each run have their own bytes here, so a mixture of two runs' files is seen. Those of
real runs are the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import count
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedule import KilledError, Scheduled, Turns

from evenflow.gates import lease as leases
from evenflow.gates.lease import FencedError, Lease
from evenflow.gates.ledger import segments
from evenflow.gates.ledger.history import History
from evenflow.gates.lock import LockedError
from evenflow.pipelines.engine.panes import commit
from evenflow.pipelines.engine.panes.closing import Ready
from evenflow.schemas.config import load
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import Shard
from evenflow.transforms.storage.storage import Storage, at

CONFIG = load(None, only=["gender"])
LISTS = CONFIG.word_lists()
PANES = 6  # the first is there; two complete a segment of the ledger, and three the next one
STOPPED = (FencedError, LockedError, KilledError)  # how a run may end before the last pane
SHARDS = 2


@pytest.fixture(autouse=True, scope="module")
def _impatient() -> Iterator[None]:
    """A run takes any lease at once, as after a long silence; the holder writes no beats."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leases, "LEASE_SECONDS", 0.0)
        patch.setattr(Lease, "_keep", lambda self: None)
        patch.setattr(segments, "EVERY", 3)  # they meet where the ledger is compacted too
        yield


def run(output: Storage, name: str, panes: int = PANES) -> None:
    """Commit panes until there are as many: at once, as far as a segment goes."""
    with Lease(output) as lease:
        entries = History(output, CONFIG, repair=True)
        commit.recover(output, entries, lease.run)
        committer = commit.Committer(output, CONFIG, LISTS, entries, lease)
        while (pane := len(entries)) < panes:
            folders = {n: f"staged/{lease.run}/{n:012d}.{name}" for n in range(pane, panes)}
            made = {each: staged(output, each, n, name) for n, each in folders.items()}
            committer.commit(made)
        commit.clear_staged(output, lease.run)


def staged(output: Storage, folder: str, pane: int, name: str) -> Ready:
    """A pane in staged/, as a worker leaves it."""
    shards: list[Shard] = []
    for number in range(SHARDS):
        file, data = f"part-{pane:08d}-{number:04d}.parquet", f"{name} {pane} {number}".encode()
        at(output.url).write(f"{folder}/{file}", data)
        digest = hashlib.sha256(data).hexdigest()
        shards.append(Shard(name=file, rows=1, bytes=len(data), sha256=digest))
    return Ready(Figures(documents=SHARDS), shards, None, None, None)


def verify(output: Storage) -> None:
    """A last run goes on; then each pane is there once, whole."""
    run(output, "last", PANES + 1)
    entries = list(History(output))
    assert [each.pane for each in entries] == list(range(PANES + 1))
    named = {f"{folder}/{file.name}": file for each in entries for folder, file in each.files()}
    assert len(named) == SHARDS * (PANES + 1)
    for name, file in named.items():
        assert hashlib.sha256(output.read(name)).hexdigest() == file.sha256, name
    assert {each.name for each in output.tree("accepted")} == set(named)
    assert entries[-1].documents and History(output).totals.documents == SHARDS * (PANES + 1)
    assert list(output.tree("staged")) == []


def meet(
    order: list[int], runs: int, killed: dict[int, int] | None = None, panes: int = PANES
) -> Turns:
    """Runs that begin on an output with a pane; how many requests they made, and how they ended."""
    output = at(f"memory://{uuid4().hex}/out")
    run(output, "first", 1)
    turns = Turns(order, killed)

    def actor(number: int) -> Callable[[], None]:
        return lambda: run(Scheduled(output.url, turns), f"run{number}", panes)

    turns.run([actor(number) for number in range(runs)])
    for error in turns.errors.values():
        if not isinstance(error, STOPPED):
            raise error
    verify(output)
    return turns


def test_panes_are_committed_together_up_to_one_that_holds_the_gate() -> None:
    output, config = at(f"memory://{uuid4().hex}/out"), load(None, {"gate.on_block": "halt"})
    with Lease(output) as lease:
        committer = commit.Committer(output, config, [], History(output, config), lease)
        panes = {f"staged/{n}.x": staged(output, f"staged/{n}.x", n, "x") for n in range(3)}
        panes["staged/1.x"].figures.dead_reasons = {"no text": 100}
        entries = committer.commit(panes)
        assert [each.folder for each in entries] == ["accepted", "quarantine"]
        committer.finish()
    assert len(History(output)) == 2 and output.exists("staged/2.x/part-00000002-0000.parquet")


def requests(panes: int = PANES) -> int:
    """Requests of a run that is not disturbed."""
    return meet([], 1, panes=panes).made[0]


def test_a_run_that_is_killed_after_any_request_is_gone_on_with() -> None:
    killed, whole = 0, requests()
    for moment in range(whole):
        turns = meet([], 1, {0: moment})
        # What is deleted beside the commits is not listed at the end: a run may need fewer requests
        assert moment >= turns.made[0] or isinstance(turns.errors[0], KilledError)
        killed += bool(turns.errors)
    assert killed > whole // 2


@pytest.mark.parametrize("third", range(3))
def test_a_run_that_takes_over_at_any_moment_and_is_stopped_at_any_moment(third: int) -> None:
    """The first run stops before a request; the second one takes over and makes some requests;
    then the first one wakes up and goes on to its end; then the second one.
    """
    panes = 3  # the first is there, and the others complete a segment of the ledger
    whole = requests(panes)
    for before in range(third, whole, 3):
        for between in count(before // 3 % 3, 3):  # every third moment, in turn the other ones
            turns = meet([0] * before + [1] * between + [0] * 10 * whole, 2, panes=panes)
            assert len(turns.errors) < 2  # one of them commits the last pane
            if between > turns.made[1]:
                break


@given(
    st.lists(st.integers(0, 2), max_size=200),
    st.dictionaries(st.integers(0, 2), st.integers(0, 60), max_size=2),
)
@settings(max_examples=200)
def test_three_runs_in_any_order_of_which_some_are_killed(
    order: list[int], killed: dict[int, int]
) -> None:
    meet(order, 3, killed)
