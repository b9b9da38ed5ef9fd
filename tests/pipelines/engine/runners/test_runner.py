"""A runner's failure is explained, and a runner that does not answer keeps nothing from ending."""

from __future__ import annotations

import threading
import time
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.portability.api import beam_job_api_pb2
from apache_beam.runners.portability import portable_runner
from apache_beam.runners.runner import PipelineState

from evenflow.pipelines.engine.runners import runner
from evenflow.pipelines.engine.runners.runner import on_runner


class _Silent:
    """A runner's result: it neither ends nor answers a request to."""

    state = PipelineState.RUNNING

    def __init__(self) -> None:
        self.asked, self.never = threading.Event(), threading.Event()

    def wait_until_finish(self) -> None:
        self.never.wait()

    def cancel(self) -> None:
        self.asked.set()
        self.never.wait()


def test_a_runner_that_does_not_answer_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = _Silent()
    monkeypatch.setattr(runner, "CANCEL_SECONDS", 0.2)
    monkeypatch.setattr(beam.Pipeline, "run", lambda self: silent)
    ended = threading.Event()

    def go() -> None:
        def draw(pipeline: Any) -> None:
            """Nothing."""

        with on_runner(draw, ["--runner=DirectRunner"], runner.explained) as state:
            assert not state()
        ended.set()

    threading.Thread(target=go, daemon=True).start()
    began = time.monotonic()
    assert ended.wait(60), "it waits for the runner's answer"
    assert silent.asked.is_set() and time.monotonic() - began < 60
    silent.never.set()


def test_a_job_that_its_server_hands_on_has_not_ended() -> None:
    """As in Flink's application mode."""
    said = beam_job_api_pb2.JobState.UNSPECIFIED
    state = portable_runner.PipelineResult.runner_api_state_to_pipeline_state(said)
    assert not PipelineState.is_terminal(state)
