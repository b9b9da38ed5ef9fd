"""Where a pane of a topic is mended and closed: by a worker, or by the driver in its turn."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evenflow.pipelines.engine.stream import closing
from evenflow.pipelines.engine.stream.closing import Closing


class Steps:
    """Notes which step is taken where."""

    def __init__(self, index: object, closes: bool, folder: Path):
        self.taken: list[str] = []
        self.entries: list[int] = []  # of the ledger
        self.index, self.closes, self._folder = index, closes, folder
        self.config = self.own = self.checks = self.annotator = None

    def close(self, *given: Any) -> str:
        """Close in the driver."""
        self.taken.append("driver closes")
        return "ready"

    def mend(self, *given: Any) -> tuple[str, str]:
        """Mend; the index comes last where there is one."""
        self.taken.append(f"mends with {given[-1]}" if len(given) > 4 else "mends")
        return "mended", "wanted"

    def submit(self, executor: Any, number: int, function: Any, *given: Any) -> Future[Any]:
        """Give a step to a worker, which takes it at once."""
        self.taken.append("worker:")
        done = Future[Any]()
        done.set_result(function(*given))
        return done

    def shut(self, *given: Any) -> str:
        """Close in a worker."""
        self.taken.append("closes")
        return "ready"

    def note(self, *given: Any) -> str:
        """Note columns."""
        self.taken.append("notes columns")
        return "columns"

    def worker(self) -> Any:
        """What a worker has."""
        return SimpleNamespace(annotator=self, checks=None)

    def name(self, name: str) -> str:
        """A folder's name."""
        return name

    @property
    def output(self) -> Any:
        """The storage."""

        @contextmanager
        def folder(name: str) -> Any:
            yield self._folder

        return SimpleNamespace(folder=folder)


def begin(
    monkeypatch: pytest.MonkeyPatch, folder: Path, index: object, closes: bool
) -> tuple[Steps, Closing]:
    """Begin to close pane 1 while the ledger is empty."""
    steps: Any = Steps(index, closes, folder)
    steps.staging = steps
    monkeypatch.setattr(closing, "_mend", steps.mend)
    monkeypatch.setattr(closing, "_shut", steps.shut)
    monkeypatch.setattr(closing, "submit", steps.submit)
    monkeypatch.setattr(closing.columns, "note_pane", steps.note)
    executor: Any = Executor()
    pane: Any = None
    return steps, Closing(1, pane, [], steps, steps, executor)


def test_a_worker_mends_and_closes_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    steps, own = begin(monkeypatch, tmp_path, None, False)
    assert own.advance() and own.ready is not None
    assert steps.taken == ["worker:", "mends", "notes columns", "worker:", "closes"]


def test_with_an_index_of_ids_the_driver_mends_in_the_turn_of_the_pane(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    steps, own = begin(monkeypatch, tmp_path, "ids", False)
    assert not own.advance() and steps.taken == []
    steps.entries.append(0)
    assert own.advance() and own.ready is not None
    assert steps.taken == ["mends with ids", "notes columns", "worker:", "closes"]


def test_what_depends_on_earlier_panes_is_closed_by_the_driver_in_its_turn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    steps, own = begin(monkeypatch, tmp_path, None, True)
    assert own.advance() and own.ready is None
    assert steps.taken == ["worker:", "mends", "notes columns"]
    steps.entries.append(0)
    assert own.advance() and own.ready is not None
    assert steps.taken[3:] == ["driver closes"]
