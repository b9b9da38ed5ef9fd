"""A cluster of Flink with two TaskManagers: work is spread. Kills are in test_run_cluster.py and
test_stream_cluster.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from apache_beam.runners.runner import PipelineResult
from services.flink_cluster import FlinkCluster
from services.flink_jobs import bounded, noted
from services.processes import listening, outside
from services.stream_outputs import wait_for

LONG = 300.0  # for what takes 5 to 30 s on two cores without other work
COUNT = 200
SECONDS = 0.05  # of each element, so that there is time to look


def pools(cluster: FlinkCluster) -> set[int]:
    return {cluster.processes[f"pool-{i}"].pid for i in range(2)}


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


def test_settings_that_flink_does_not_take(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="does not take these settings"):
        FlinkCluster(tmp_path, settings={"taskmanager.memory.process.size": "1m"})
