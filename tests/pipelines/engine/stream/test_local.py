"""Readers of a topic on this machine: they end with the run, and what one raises is raised here."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from evenflow.pipelines.engine.files.making import GraphContext
from evenflow.pipelines.engine.panes.closing import Staging
from evenflow.pipelines.engine.runners import WorkerError
from evenflow.pipelines.engine.stream.local import reading
from evenflow.pipelines.engine.stream.marks import READERS, STATE, State, write_state
from evenflow.pipelines.engine.stream.reader import Reads
from evenflow.schemas.config import load
from evenflow.transforms.kafka.panes import PaneCutter
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.storage.storage import Storage, at


def _read(
    tmp_path: Path, workers: int
) -> tuple[Storage, AbstractContextManager[Callable[[], bool]]]:
    """The folder of a run that has begun, and its readers; no partition is given to them."""
    staging = Staging(at(tmp_path), "aa")
    run = staging.output.below(staging.name(""))
    run.write(STATE, write_state(State(None, False, -1)))
    reads = Reads(KafkaSettings("127.0.0.1:1"), "t", PaneCutter(1000, 1 << 20), "json", run)
    context = GraphContext(load(None).model_dump(), staging)
    return run, reading(reads, context, workers, lambda text: None)


def _until(holds: Callable[[], bool]) -> None:
    """Wait for something, for as long as a busy machine may take."""
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("workers", [1, 2])
def test_readers_end_with_the_run(tmp_path: Path, workers: int) -> None:
    run, readers = _read(tmp_path, workers)
    with readers as has_ended:
        _until(lambda: len([*run.tree(READERS)]) == workers)
        assert not has_ended()
        run.remove([STATE])
        _until(has_ended)
    assert [*run.tree(READERS)] == []


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_reader_raises_is_raised(tmp_path: Path, workers: int) -> None:
    run, readers = _read(tmp_path, workers)
    with readers as has_ended:
        _until(lambda: len([*run.tree(READERS)]) == workers)
        run.write(STATE, b"no state")
        with pytest.raises(ValueError, match="invalid literal"):
            _until(has_ended)


def test_a_process_that_dies_ends_the_run(tmp_path: Path) -> None:
    run, readers = _read(tmp_path, 2)
    with readers as has_ended:
        _until(lambda: len([*run.tree(READERS)]) == 2)
        multiprocessing.active_children()[0].kill()
        with pytest.raises(WorkerError, match="a worker process died while it read the topic"):
            _until(has_ended)
    assert multiprocessing.active_children() == []
