"""What a worker raised reaches the driver as text, and comes back as what it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from evenflow.pipelines.engine.make import GraphContext, Reads
from evenflow.pipelines.engine.panes.closing import Staging
from evenflow.pipelines.engine.runners import RunnerError, making
from evenflow.pipelines.engine.runners.making import explained
from evenflow.transforms.kafka.errors import KafkaSourceError, TopicMissingError, UnreachableError
from evenflow.transforms.storage.storage import at

MODULE = "evenflow.transforms.kafka.errors"


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (
            f"Traceback\n{MODULE}.UnreachableError: t partition 0: no answer\n",
            UnreachableError,
            "t partition 0: no answer",
        ),
        (
            f"{MODULE}.TopicMissingError: t is not on a:1: check\n",
            TopicMissingError,
            "it was deleted while it was read",
        ),
        (f"{MODULE}.UnknownError: what\n", KafkaSourceError, "what"),
        ("Traceback\n  File x\nValueError: odd\n", RunnerError, "reading failed: ValueError: odd"),
    ],
)
def test_what_a_worker_raised_comes_back_as_what_it_was(
    text: str, kind: type[Exception], said: str
) -> None:
    found = explained(RuntimeError(text))
    assert type(found) is kind and said in str(found)


def test_workers_that_never_begin_end_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A worker's process that died as it started is waited for by its runner, and not by a run."""

    @contextmanager
    def waits(*_: object) -> Iterator[Callable[[], bool]]:
        yield lambda: False

    monkeypatch.setattr(making.runner, "on_runner", waits)
    monkeypatch.setattr(making, "BEGIN_SECONDS", 0.1)
    staging = Staging(at(tmp_path), "run")
    context = GraphContext({}, staging, cast(Reads, None))
    made = making.made(lambda _: None, context, 0, [], print, debug=True)
    with pytest.raises(RunnerError, match="no worker began within 0 s"):
        next(made)
    with context.noting_failure():  # one that works may take its time
        pass
    made = making.made(lambda _: None, context, 0, [], print, debug=True)
    with ThreadPoolExecutor(1) as beside, staging_after(staging, 1.0, beside):
        assert [*next(made)] == [0]
    made.close()


@contextmanager
def staging_after(staging: Staging, seconds: float, beside: ThreadPoolExecutor) -> Iterator[None]:
    """Have a pane there after some seconds."""

    def make() -> None:
        time.sleep(seconds)
        with staging.pane(0):
            pass

    done = beside.submit(make)
    yield
    done.result()
