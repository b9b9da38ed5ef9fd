"""A cluster of Flink with two TaskManagers: work is spread, and what is killed is made up for."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from apache_beam.runners.runner import PipelineResult
from services.flink_cluster import FlinkCluster
from services.flink_jobs import bounded, noted, unbounded
from services.processes import listening, outside
from services.stream_outputs import wait_for

LONG = 300.0  # for what takes 5 to 30 s on two cores without other work
COUNT = 200
SECONDS = 0.05  # of each element, so that there is time to kill something


def pools(cluster: FlinkCluster) -> set[int]:
    return {cluster.processes[f"pool-{i}"].pid for i in range(2)}


def states(cluster: FlinkCluster, state: str) -> set[str]:
    """The jobs in a state."""
    return {each["jid"] for each in cluster.jobs() if each["state"] == state}


def kill(cluster: FlinkCluster, what: str) -> None:
    """End a process of the cluster, or the second TaskManager's workers, with SIGKILL."""
    if what != "worker":
        cluster.kill(what)
        return
    workers = cluster.workers(1)
    assert workers
    for worker in workers:  # that of the job before may live for some more seconds
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


def ended(result: PipelineResult) -> str:
    """The state in which a job ends."""
    return str(result.wait_until_finish(duration=int(LONG * 1000)))


def met(folder: Path) -> set[int]:
    """All pools that an element met."""
    return set[int]().union(*noted(folder).values())


def test_both_taskmanagers_work_and_nobody_else_reaches_them(
    flink_cluster: FlinkCluster, tmp_path: Path
) -> None:
    running = bounded(flink_cluster.options(), COUNT, tmp_path, SECONDS)
    wait_for(lambda: len(noted(tmp_path)) > 0, LONG)
    for name, process in flink_cluster.processes.items():
        places = listening(process.pid)
        assert places and outside(places) == [], name
    assert ended(running) == "DONE"
    found = noted(tmp_path)
    assert set(found) == {str(i) for i in range(COUNT)}
    assert all(len(each) == 1 for each in found.values())  # once each
    assert met(tmp_path) == pools(flink_cluster)


@pytest.mark.parametrize("what", ["taskmanager-1", "pool-1", "worker"])
def test_a_bounded_job_outlives_a_kill(
    flink_cluster: FlinkCluster, tmp_path: Path, what: str
) -> None:
    running = bounded(flink_cluster.options(), COUNT, tmp_path, SECONDS)
    wait_for(lambda: met(tmp_path) == pools(flink_cluster), LONG)
    assert len(noted(tmp_path)) < COUNT
    kill(flink_cluster, what)
    if what == "pool-1":  # without it, its TaskManager fails all work that it is given
        flink_cluster.launch(what)
    assert ended(running) == "DONE"
    assert set(noted(tmp_path)) == {str(i) for i in range(COUNT)}


@pytest.mark.parametrize("what", ["taskmanager-1", "worker"])
def test_an_unbounded_job_outlives_a_kill(
    flink_cluster: FlinkCluster, tmp_path: Path, what: str
) -> None:
    unbounded(flink_cluster.options(unbounded=True), tmp_path)
    wait_for(lambda: met(tmp_path) == pools(flink_cluster), LONG)
    [job] = states(flink_cluster, "RUNNING")
    kill(flink_cluster, what)
    wait_for(lambda: bool(flink_cluster.exceptions(job)), LONG)
    last = max(map(float, noted(tmp_path)))
    wait_for(lambda: max(map(float, noted(tmp_path))) > last + 5, LONG)
    flink_cluster.cancel(job)
    wait_for(lambda: job in states(flink_cluster, "CANCELED"), LONG)


def test_the_job_server_is_killed(flink_cluster: FlinkCluster, tmp_path: Path) -> None:
    """The job goes on without it; a job server that comes back does not know it."""
    bounded(flink_cluster.options(), COUNT, tmp_path, SECONDS)
    wait_for(lambda: len(noted(tmp_path)) > 0, LONG)
    [job] = states(flink_cluster, "RUNNING")
    flink_cluster.kill("job-server")
    wait_for(lambda: job in states(flink_cluster, "FINISHED"), LONG)
    assert set(noted(tmp_path)) == {str(i) for i in range(COUNT)}
    flink_cluster.restart("job-server")
    assert ended(bounded(flink_cluster.options(), 1, tmp_path)) == "DONE"


def test_the_jobmanager_is_killed(flink_cluster: FlinkCluster, tmp_path: Path) -> None:
    """The job is lost; the cluster takes jobs again when the JobManager is back."""
    running = bounded(flink_cluster.options(), COUNT, tmp_path, SECONDS)
    wait_for(lambda: len(noted(tmp_path)) > 0, LONG)
    flink_cluster.restart("jobmanager")
    assert flink_cluster.jobs() == []
    with pytest.raises(RuntimeError, match="failed"):
        ended(running)
    again = tmp_path / "again"
    again.mkdir()
    assert ended(bounded(flink_cluster.options(), COUNT, again)) == "DONE"
    assert set(noted(again)) == {str(i) for i in range(COUNT)}


def test_settings_that_flink_does_not_take(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="does not take these settings"):
        FlinkCluster(tmp_path, settings={"taskmanager.memory.process.size": "1m"})
