"""A runner's failure is explained, and a runner that does not answer keeps nothing from ending."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import Any

import apache_beam as beam
import psutil
import pytest
from apache_beam.portability.api import beam_job_api_pb2
from apache_beam.runners.portability import portable_runner
from apache_beam.runners.runner import PipelineState

from evenflow.pipelines.engine.runners import runner
from evenflow.pipelines.engine.runners.errors import RunnerError
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


EVERYWHERE = f"""#!{sys.executable}
import sys
from concurrent.futures import ThreadPoolExecutor
import grpc
server = grpc.server(ThreadPoolExecutor(1))
server.add_insecure_port("[::]:" + sys.argv[sys.argv.index("--job_port") + 1])
server.start()
server.wait_for_termination()
"""


@pytest.mark.skipif(
    not psutil.net_if_addrs().keys() - {"lo", "lo0"},
    reason="this machine has the loopback interface alone",
)
def test_a_prism_that_listens_on_all_interfaces_is_given_no_job(tmp_path: Path) -> None:
    fake = tmp_path / "prism"
    fake.write_text(EVERYWHERE)
    fake.chmod(0o755)
    with (
        pytest.raises(RunnerError, match=r"everybody who reaches it.*make prism"),
        on_runner(
            lambda pipeline: None,
            ["--runner=PrismRunner", f"--prism_location={fake}"],
            runner.explained,
        ),
    ):
        pytest.fail("it was given a job")
    assert [
        each
        for each in psutil.Process().children()
        if "prism" in each.name() and each.status() != psutil.STATUS_ZOMBIE
    ] == []


def test_a_job_that_its_server_hands_on_has_not_ended() -> None:
    """As in Flink's application mode."""
    said = beam_job_api_pb2.JobState.UNSPECIFIED
    state = portable_runner.PipelineResult.runner_api_state_to_pipeline_state(said)
    assert not PipelineState.is_terminal(state)
