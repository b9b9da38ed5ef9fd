"""A cluster of Flink spreads work. A run on files gives the same bytes there as by one process, in
a directory and in a store; what is killed meanwhile is made up for.
"""

from __future__ import annotations

import functools
import gzip
import json
import os
import random
import re
import signal
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from services.flink_cluster import FlinkCluster
from services.flink_jobs import bounded, noted
from services.processes import listening, outside
from services.stream_outputs import wait_for
from speeches import beginnings

from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.terminal.outcome import Observer, PaneProgress
from evenflow.schemas.config import Config, load
from evenflow.transforms.storage.storage import Storage, at

# What readers use. A ledger's meta.json has times, and holds have names of users.
FOLDERS = ("accepted", "quarantine", "dead-letter", "sentences", "ledger")
PANE_MADE = r"/\d{12}\.json$"  # in staged/
ALONE = ("pool-1", "jobmanager", "job-server")
SETTINGS = {
    "pane.docs": 15,
    "gate.warn": 0.1,
    "gate.block": 0.15,
    "gate.min_mentions": 20,
    "gate.most_dead": 1.0,
    "repair.mode": "substitute",
    "repair.judge": "fast",
    "repair.min_probability": 0.3,
}
LONG = 300.0  # for what takes 5 to 30 s on two cores without other work
COUNT, SECONDS = 200, 0.05  # elements, and what each takes, so that there is time to look


def outputs(place: Storage) -> dict[str, bytes]:
    """The files that readers use, by name."""
    return {
        each.name: place.read(each.name)
        for folder in FOLDERS
        for each in place.tree(folder)
        if each.name != "ledger/meta.json"
    }


@pytest.fixture(scope="module")
def config() -> Config:
    return load(None, SETTINGS)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of each format, with records that cannot be read and an id that comes twice."""
    rows = beginnings(150)
    folder = tmp_path_factory.mktemp("corpus")
    lines = [*rows[:40], "no JSON", '{"id": "x"}', *rows[40:80], rows[79]]
    (folder / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    members = ["\n".join(rows[80:99]) + "\n" + rows[99][:50], rows[99][50:], *rows[100:120]]
    (folder / "b.jsonl.gz").write_bytes(
        b"".join(
            gzip.compress(each.encode()) for each in (*members[:2], "\n" + "\n".join(members[2:]))
        )
    )
    table = pa.Table.from_pylist([json.loads(row) for row in rows[120:150]])
    pq.write_table(table, folder / "c.parquet", row_group_size=11)
    for number in range(3):
        text = " ".join(["She met her brother."] * (number + 1))
        (folder / f"d{number}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def expected(
    corpus: Path, config: Config, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    """What one process gives."""
    output = tmp_path_factory.mktemp("whole")
    done = Run([str(corpus)], output, config).go()
    assert {entry.folder for entry in done.entries} == {"accepted", "quarantine"}
    return outputs(at(output))


@pytest.mark.parametrize(("where", "parallelism"), [("directory", 2), ("store", 1)])
def test_flink(
    reached: FlinkCluster,
    corpus: Path,
    config: Config,
    expected: dict[str, bytes],
    bucket: str,
    tmp_path: Path,
    where: str,
    parallelism: int,
) -> None:
    output = at(tmp_path) if where == "directory" else at(f"{bucket}/out")
    run = Run([str(corpus)], output, config, options=reached.options(parallelism))
    run.go()
    assert outputs(output) == expected
    assert list(output.tree("staged")) == []
    assert run.go().new == 0


@pytest.mark.parametrize("what", ["taskmanager-1", "worker", "pool-1", "jobmanager", "job-server"])
def test_flink_goes_on_after_a_kill(
    reached: FlinkCluster,
    corpus: Path,
    config: Config,
    expected: dict[str, bytes],
    bucket: str,
    what: str,
) -> None:
    """What nothing stands in for comes back, as under a supervisor."""
    output, killed = at(f"{bucket}/out"), threading.Event()

    def kill(progress: PaneProgress) -> None:
        if what != "worker" and not killed.is_set():
            killed.set()
            reached.kill(what)
            if what in ALONE:
                beside.start()

    def kill_worker() -> None:
        # Not at a commit: on a slow machine the first may come when all work is done. Nor before a
        # pane is made: Flink waits for ever for a worker that dies while it starts.
        while not [each for each in output.tree("staged") if re.search(PANE_MADE, each.name)]:
            time.sleep(0.05)
        os.kill(reached.worker(random.Random(0)), signal.SIGKILL)
        killed.set()

    restart = functools.partial(reached.restart, what)
    beside = threading.Thread(target=kill_worker if what == "worker" else restart, daemon=True)
    if what == "worker":
        beside.start()
    Run([str(corpus)], output, config, options=reached.options(2), observer=Observer(kill)).go()
    if beside.ident:
        beside.join(60)
    assert killed.is_set() and outputs(output) == expected


def test_both_taskmanagers_work_and_nobody_else_reaches_them(
    flink_cluster: FlinkCluster, tmp_path: Path
) -> None:
    running = bounded(flink_cluster.options(), COUNT, tmp_path, SECONDS)
    wait_for(lambda: len(noted(tmp_path)) > 0, LONG)
    for name, process in flink_cluster.processes.items():
        places = listening(process.pid)
        assert places and outside(places) == [], name
    assert running.wait_until_finish(duration=int(LONG * 1000)) == "DONE"
    found = noted(tmp_path)
    assert set(found) == {str(i) for i in range(COUNT)}
    assert all(len(each) == 1 for each in found.values())  # once each
    pools = {flink_cluster.processes[f"pool-{i}"].pid for i in range(2)}
    assert set[int]().union(*found.values()) == pools


def test_settings_that_flink_does_not_take(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="does not take these settings"):
        FlinkCluster(tmp_path, settings={"taskmanager.memory.process.size": "1m"})
