"""How many panes of a topic the committer can commit a second, and what it asks of the store:
python tests/benchmarks/committer_scale.py [--panes 10000] [--workers 1000]

Workers' marks are made up and lie in a store in memory. Each worker reads one partition, and each
mark tells of some panes: a worker writes at most one mark in MARK_SECONDS, so at 50 panes a second
a mark tells of 12. What workers do, such as adding up a pane's figures, is not timed. `marks` is
the reading of marks and the search for whole panes; `and ledger` also judges and commits each pane,
without documents. Prints, for each tenth of the panes, panes a second of CPU and requests a pane: a
list is one for each 1,000 names, and a deletion one for each 1,000 files.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import orjson

from evenflow.gates.lease import Lease
from evenflow.gates.ledger.history import History
from evenflow.pipelines.engine.panes.closing import Ready
from evenflow.pipelines.engine.panes.commit import Committer
from evenflow.pipelines.engine.stream.board import TopicBoard
from evenflow.pipelines.engine.stream.committing import ends_of, ranges_of
from evenflow.pipelines.engine.stream.desk import Desk
from evenflow.pipelines.engine.stream.marks import (
    ALIVE,
    MARKS,
    READERS,
    Mark,
    StagedRange,
    write_marks,
)
from evenflow.schemas.config import load
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import StreamPane
from evenflow.transforms.kafka.panes import PaneCutter, PaneId, Start
from evenflow.transforms.storage.objects import TOGETHER, ObjectStorage
from evenflow.transforms.storage.storage import Storage, Stored

SPAN_MS = 1000
EACH = 100  # records of a partition and pane
PER_MARK = (1, 12)
REQUESTS: Counter[str] = Counter()


class Counting(ObjectStorage):
    """A store that counts requests as a store on the network would get them."""

    def read(self, name: str) -> bytes:
        REQUESTS["get"] += 1
        return super().read(name)

    def write(self, name: str, data: bytes | memoryview) -> None:
        REQUESTS["put"] += 1
        super().write(name, data)

    def create(self, name: str, data: bytes, durable: bool = True) -> bool:
        REQUESTS["put"] += 1
        return super().create(name, data, durable)

    def names(self, folder: str) -> list[str]:
        found = super().names(folder)
        REQUESTS["list"] += 1 + len(found) // 1000
        return found

    def tree(self, folder: str = "") -> Iterator[Stored]:
        found = list(super().tree(folder))
        REQUESTS["list"] += 1 + len(found) // 1000
        return iter(found)

    def read_all(self, names: Sequence[str]) -> Iterator[bytes | None]:
        return map(self._read_or_none, names)  # a thread for a read in memory costs more than it

    def place(self, moves: Iterable[tuple[str, str]]) -> None:
        moves = list(moves)
        REQUESTS["copy"] += len(moves)
        super().place(moves)

    def remove(self, names: Iterable[str]) -> None:
        every = list(names)
        REQUESTS["delete"] += -(-len(every) // TOGETHER)
        super().remove(every)

    def below(self, name: str) -> Counting:
        return Counting(self.address(name))


class Workers:
    """Readers, one for each partition, whose marks go into the store as they are asked for."""

    def __init__(self, count: int, run: Storage):
        self.count, self._run = count, run
        self._figures = orjson.dumps(Figures(documents=EACH, input_bytes=EACH)).decode()
        self.names = [f"{number:032x}" for number in range(count)]
        for name in self.names:
            run.write(f"{READERS}/{name}{ALIVE}", b"0")

    def mark(self, sessions: dict[int, int], first: int, last: int) -> None:
        """Write a mark of each worker, of panes from first to last - 1."""
        for number, session in sessions.items():
            pieces = tuple(
                StagedRange(
                    number,
                    session,
                    pane * EACH,
                    (pane + 1) * EACH,
                    (pane + 1) * SPAN_MS - 1,
                    PaneId(pane * SPAN_MS, 0),
                    self._figures,
                )
                for pane in range(first, last)
            )
            mark = Mark(
                number, session, first * EACH, last * EACH, PaneId(last * SPAN_MS, 0), pieces
            )
            name = f"{MARKS}/{self.names[number]}-{first:012d}.json"
            self._run.write(name, write_marks([mark]))


def commit(committer: Committer, pane: PaneId, pieces: list[StagedRange]) -> None:
    """Judge and commit a pane without documents."""
    stream = StreamPane(span=pane.span, part=pane.part, positions=ends_of(pieces))
    ready = Ready(Figures(input_bytes=EACH * len(pieces)), [], None)
    committer.commit(f"staged/run/{pane.span}", ready, ranges_of("t", pieces), {}, stream)


def go(panes: int, workers: int, per_mark: int, ledger: bool) -> None:
    """One simulation."""
    output = Counting(f"memory://scale-{per_mark}-{ledger}")
    run = output.below("staged/run")
    cutter = PaneCutter(SPAN_MS)
    board = TopicBoard({}, None)
    desk = Desk(run, board, cutter)
    readers = Workers(workers, run)
    desk.tell(held=False)
    desk.share([Start(0, cutter.start())] * workers, None)
    sessions = {number: task.session for number, task in desk.tasks.items()}
    config = load(None)
    with Lease(output) as lease:
        entries = History(output, config)
        committer = Committer(output, config, config.word_lists(), entries, lease)
        seconds, done, first = 0.0, 0, 0
        REQUESTS.clear()
        title = f"{'and ledger' if ledger else 'marks':<12}{per_mark:>6}"
        while done < panes:
            if first < panes:
                before = REQUESTS.copy()
                readers.mark(sessions, first, min(first + per_mark, panes))
                first = min(first + per_mark, panes)
                REQUESTS.clear()
                REQUESTS.update(before)
            began = time.process_time()
            desk.take()
            desk.share([Start(0, cutter.start())] * workers, None)
            while found := board.whole(workers):
                if ledger:
                    committer.held()
                    commit(committer, *found)
                board.take(*found)
                desk.tell(held=False)
                done += 1
                if done % (panes // 10) == 0:
                    seconds += time.process_time() - began
                    each = {name: count / (panes // 10) for name, count in REQUESTS.items()}
                    asked = "  ".join(f"{name} {count:.2f}" for name, count in sorted(each.items()))
                    pace = panes / 10 / seconds
                    print(f"{title}{done:>8}{pace:>12.1f}   {asked}", flush=True)
                    seconds, began = 0.0, time.process_time()
                    REQUESTS.clear()
            seconds += time.process_time() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--panes", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=1_000)
    given = parser.parse_args()
    print(f"{'':<12}{'panes':>6}{'':>8}{'panes':>12}")
    print(f"{'':<12}{'a mark':>6}{'panes':>8}{'a second':>12}   requests a pane")
    for ledger in (False, True):
        for per_mark in PER_MARK:
            go(given.panes, given.workers, per_mark, ledger)


if __name__ == "__main__":
    main()
