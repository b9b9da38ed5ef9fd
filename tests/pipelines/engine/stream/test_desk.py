"""Partitions are spread over the readers that are there, and marks come by a store."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from uuid import uuid4

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.pipelines.engine.stream import parcels
from evenflow.pipelines.engine.stream.board import TopicBoard
from evenflow.pipelines.engine.stream.desk import GONE_SECONDS, SHARE_SECONDS, Desk, spread
from evenflow.pipelines.engine.stream.marks import (
    ALIVE,
    ERROR,
    MARKS,
    READERS,
    STATE,
    TASKS,
    Mark,
    StagedRange,
    State,
    read_state,
    read_tasks,
    write_marks,
)
from evenflow.transforms.kafka.errors import TopicMissingError
from evenflow.transforms.kafka.panes import PaneCutter, PaneId, Start
from evenflow.transforms.staging.block import Part
from evenflow.transforms.storage.storage import Storage, at

CUTTER = PaneCutter(1000)
FIRST = Start(0, CUTTER.start())


@given(
    st.integers(0, 40),
    st.sets(st.text("abcd", min_size=1, max_size=2), max_size=8),
    st.dictionaries(st.integers(0, 40), st.text("abcdef", min_size=1, max_size=2)),
)
def test_partitions_are_spread_evenly_and_few_move(
    partitions: int, readers: set[str], before: dict[int, str]
) -> None:
    found = spread(partitions, sorted(readers), before)
    if not readers:
        assert found == before
        return
    assert sorted(found) == list(range(partitions))
    load = Counter(found.values())
    assert {load[name] for name in readers} <= {
        partitions // len(readers),
        -(-partitions // len(readers)),
    }
    # No fewer can stay: each reader keeps what it may have
    kept = Counter(before[n] for n in range(partitions) if before.get(n) in readers)
    most = sorted(kept.values(), reverse=True)
    least, more = divmod(partitions, len(readers))
    stay = sum(min(each, least + (place < more)) for place, each in enumerate(most))
    assert sum(found[n] == before.get(n) for n in range(partitions)) == stay


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["memory", "local"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    return at(f"memory://{uuid4().hex}/run" if request.param == "memory" else tmp_path / "run")


def test_readers_come_and_go(run: Storage) -> None:
    clock, signs = Clock(), 0

    def sign(*names: str) -> None:
        nonlocal signs
        signs += 1
        for name in names:
            run.write(f"{READERS}/{name}{ALIVE}", str(signs).encode() * signs)

    desk = Desk(run, TopicBoard({}, None), CUTTER, clock)

    def tasks(name: str) -> list[int]:
        return sorted(read_tasks(run.read(f"{TASKS}/{name}.json")))

    def share(partitions: int, seconds: float = SHARE_SECONDS) -> None:
        clock.now += seconds
        desk.share([FIRST] * partitions, None)

    desk.tell(held=False)
    share(4)  # nobody is there
    assert run.names(TASKS) == []
    sign("a")
    share(4)
    assert tasks("a") == [0, 1, 2, 3]
    sign("a", "b")
    share(4)
    assert sorted(tasks("a") + tasks("b")) == [0, 1, 2, 3] and len(tasks("b")) == 2
    share(6)
    assert len(tasks("a")) == len(tasks("b")) == 3
    clock.now += GONE_SECONDS
    sign("b")
    share(6)
    assert tasks("b") == list(range(6))  # a is silent
    sessions = [task.session for task in desk.tasks.values()]
    assert len(set(sessions)) == 6
    desk.tell(held=True)
    state = read_state(run.read(STATE))
    assert state == State(None, True, state.turn) and state.turn > 0
    desk.close()
    assert not run.exists(STATE)


def test_marks_are_taken_once_and_deleted(run: Storage) -> None:
    board = TopicBoard({}, None)
    desk = Desk(run, board, CUTTER)
    run.write(f"{READERS}/a{ALIVE}", b"0")
    desk.share([FIRST], None)
    piece = StagedRange(0, 1, 0, 5, 10, PaneId(0, 0), "")
    mark = Mark(0, 1, 0, 5, PaneId(1000, 0), (piece,))
    run.write(f"{MARKS}/a-000000000000.json", write_marks([mark]))
    assert (desk.take(), desk.take()) == (1, 0)
    assert run.names(MARKS) == []
    assert board.whole(1) == (PaneId(0, 0), [piece])


def test_what_a_reader_gave_up_for_is_raised(run: Storage) -> None:
    desk = Desk(run, TopicBoard({}, None), CUTTER)
    run.write(f"{READERS}/a{ERROR}", orjson.dumps(["TopicMissingError", "t is gone"]))
    with pytest.raises(TopicMissingError, match="t is gone"):
        desk.share([FIRST], None)


def test_blocks_come_as_they_were_sent(run: Storage, tmp_path: Path) -> None:
    pieces = [
        StagedRange(0, session, 0, 5, 10, PaneId(1000 * session, 0), "") for session in (1, 2)
    ]
    table = pa.table({"a": [1, 2, 3]})
    for piece in pieces:
        with parcels.sending(run, piece) as block:
            block.write(Part.DOCUMENTS, table)
            block.add_letters([{"session": piece.session}])
    folder = tmp_path / "run" / "closing" if run.local else tmp_path / "closing"
    folder.mkdir(parents=True)
    parcels.receive(run, pieces[:1], folder)
    found = sorted(path.name for path in folder.iterdir())
    assert found == [f"{pieces[0].stem}{part}" for part in (Part.DOCUMENTS, Part.LETTERS)]
    assert (folder / found[1]).read_bytes() == b'{"session":1}\n'
    parcels.discard(run, pieces)
    assert [each.name for each in run.tree("blocks")] == []
    if run.local is None:
        with pytest.raises(FileNotFoundError):
            parcels.receive(run, pieces, folder)
