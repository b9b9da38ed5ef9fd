"""The gate on a topic against a real broker: every message in exactly one place, even if the run is
killed.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from services.kafka_broker import Broker
from services.stream_outputs import (
    EVENFLOW,
    TopicMaker,
    command,
    count,
    documents,
    expected,
    gate,
    placed,
    recounted,
    to_end,
    wait_for,
)

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.files.driver import Run as FileRun
from evenflow.pipelines.terminal.outcome import Observer
from evenflow.schemas.config import Config
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.measures.coverage.records import CoverageEntry


def test_to_the_end_and_on_from_there(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name = topic(3)
    for partition in range(2):
        broker.produce(
            name, partition, [*documents(0, 500, partition), f"poison-{partition}".encode()]
        )
    to_end(broker, name, tmp_path).go()
    dead = ("poison-0", "poison-1")
    assert placed(tmp_path) == expected({0: 500, 1: 500}, dead)
    again = to_end(broker, name, tmp_path).go()
    assert again.new == 0
    broker.produce(name, 2, documents(0, 50, 2))
    assert to_end(broker, name, tmp_path).go().new >= 1
    assert placed(tmp_path) == expected({0: 500, 1: 500, 2: 50}, dead) and recounted(tmp_path)


def test_dead_letters_say_where_they_come_from(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name = topic(1)
    broker.produce(name, 0, [b"{}", None, b'{"text": 3}'], key=b"k", headers=[("trace", b"\xff7")])
    to_end(broker, name, tmp_path).go()
    [path] = (tmp_path / "dead-letter").glob("*.jsonl")
    letters = [json.loads(line) for line in path.read_text().splitlines()]
    assert [letter["ordinal"] for letter in letters] == [0, 1, 2]
    assert {letter["file"] for letter in letters} == {f"kafka:{name}/0"}
    assert {base64.b64decode(letter["key_base64"]) for letter in letters} == {b"k"}
    assert [[name, base64.b64decode(value)] for name, value in letters[0]["headers"]] == [
        ["trace", b"\xff7"]
    ]
    assert "tombstone" in letters[1]["reason"]


def test_entities_are_looked_up_as_in_files(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    kb, file, name = tmp_path / "kb.csv", tmp_path / "t.jsonl", topic(1)
    kb.write_text("id,name,gender\n1,Ada,female\n2,Bo,male\n2,Bo,female\n3,Cy,male\n")
    rows = [{"text": f"{who} left.", "who": who} for who in ("Ada", "Bo", "Cy", "Cy", "Di")]
    lines = [json.dumps(row).encode() for row in rows]
    broker.produce(name, 0, lines)
    file.write_bytes(b"\n".join(lines))
    wanted = {"tau": "30%", "attributes": ["who.gender", "text.gender"], "entities": str(kb)}
    config = Config.model_validate({"coverage": wanted})
    notes: list[str] = []
    stream = replace(
        to_end(broker, name, tmp_path / "s"), config=config, observer=Observer(note=notes.append)
    )
    stream.go()
    FileRun([str(file)], tmp_path / "f", config).go()
    entries = (next(iter(read_entries(tmp_path / each))) for each in ("s", "f"))
    one, other = (each.measures["coverage"] for each in entries)
    assert isinstance(one, CoverageEntry) and one == other
    assert sum(one.records.values()) == 3
    assert len([each for each in notes if "2 (Bo)" in each]) == 1


def test_text_with_the_key_as_id(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name = topic(1)
    broker.produce(name, 0, [b"She left."], key=b"one")
    broker.produce(name, 0, [b"He left."])
    to_end(broker, name, tmp_path, values="text").go()
    assert placed(tmp_path) == Counter({"one": 1, f"{name}/0#1": 1})


def test_group_offsets_follow_and_panes_are_published(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    from evenflow.pipelines.engine.stream.publish import Topics
    from evenflow.transforms.kafka.offsets import GroupOffsets

    name, accepted, dead = topic(2), topic(1), topic(1)
    broker.produce(name, 0, [*documents(0, 30), b"poison"])
    more = {"group": f"g-{name}", "publish": Topics(accepted, dead)}
    to_end(broker, name, tmp_path, **more).go()
    broker.produce(name, 1, documents(0, 5, 1))
    to_end(broker, name, tmp_path, **more).go()
    offsets = GroupOffsets(KafkaSettings(broker.address), f"g-{name}")
    found = offsets.committed([(name, 0), (name, 1)])
    offsets.close()
    assert found == {(name, 0): 31, (name, 1): 5}
    assert Counter(record.key.decode() for record in broker.committed(accepted)) == expected(
        {0: 30, 1: 5}
    )
    assert [record.value for record in broker.committed(dead)] == [b"poison"]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_killed_again_and_again(
    broker: Broker, topic: TopicMaker, tmp_path: Path, workers: str
) -> None:
    name = topic(2)
    done = threading.Event()

    def fill() -> None:
        for i in range(0, 3000, 20):
            broker.produce(name, (i // 20) % 2, documents(i, i + 20))
            if done.wait(0.02):
                return

    filling = threading.Thread(target=fill)
    filling.start()
    try:
        for seconds in (2.5, 3.5, 4.5, 3.0, 4.0):
            process = subprocess.Popen(
                command(broker, name, tmp_path, "--workers", workers),
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            time.sleep(seconds)
            os.killpg(process.pid, signal.SIGKILL)  # the driver, its workers and the runner
            process.wait()
    finally:
        filling.join()
        done.set()
    to_end(broker, name, tmp_path).go()
    assert placed(tmp_path) == expected({0: 3000}) and recounted(tmp_path)


@pytest.mark.parametrize(
    ("victims", "said"),
    [(slice(0, 1), "while it read the topic"), (slice(2, None), "while it worked on pane")],
)
def test_a_worker_is_killed(
    broker: Broker, topic: TopicMaker, tmp_path: Path, victims: slice, said: str
) -> None:
    """Two processes read, and those that are started later close panes."""
    name, output = topic(2), tmp_path / "out"
    for partition in range(2):
        broker.produce(name, partition, documents(0, 300, partition))
    with gate(command(broker, name, output, "--workers", "2"), tmp_path) as running:
        wait_for(lambda: count(output) == 600)
        [both] = [sorted(path.stem for path in output.glob("staged/*/readers/*.json"))]
        assert len(both) == 2
        workers = [
            process
            for process in psutil.Process(running.process.pid).children(recursive=True)
            if not process.children()
            and "multiprocessing.forkserver" in " ".join(process.cmdline())
        ]
        workers.sort(key=lambda process: process.create_time())
        assert len(workers) in (3, 4)
        for worker in workers[victims]:
            worker.kill()
        for partition in range(2):
            broker.produce(name, partition, documents(300, 400, partition))
        assert running.ended(60) == 1
        assert f"a worker process died {said}" in running.said[-1]
    to_end(broker, name, output).go()
    assert placed(output) == expected({0: 400, 1: 400}) and recounted(output)


def test_terminated_within_ten_seconds(broker: Broker, topic: TopicMaker, tmp_path: Path) -> None:
    name = topic(1)
    broker.produce(name, 0, documents(0, 500))
    process = subprocess.Popen(command(broker, name, tmp_path), stderr=subprocess.PIPE, text=True)
    wait_for(lambda: (tmp_path / "ledger" / "00000000.json").exists())
    broker.produce(name, 0, documents(500, 1000))
    began = time.monotonic()
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert time.monotonic() - began < 10
    assert process.returncode == 128 + signal.SIGTERM and "run the same command again" in said
    to_end(broker, name, tmp_path).go()
    assert placed(tmp_path) == expected({0: 1000})


def test_a_run_outlives_the_time_for_an_answer_of_the_runner(
    broker: Broker, topic: TopicMaker, tmp_path: Path, prism: str
) -> None:
    """Beam ends the stream that tells a job's state after that time, by default 300 s."""
    name, output, seconds = topic(1), tmp_path / "out", 4
    broker.produce(name, 0, documents(0, 50))
    with gate(
        command(broker, name, output, f"--runner=--job_server_timeout={seconds}", prism=prism),
        tmp_path,
    ) as running:
        wait_for(lambda: sum(placed(output).values()) == 50)
        time.sleep(2 * seconds)
        broker.produce(name, 0, documents(50, 100))
        wait_for(lambda: sum(placed(output).values()) == 100)
        assert running.process.poll() is None
    assert placed(output) == expected({0: 100}) and recounted(output)


def test_the_broker_is_killed_and_comes_back(own_broker: Broker, tmp_path: Path) -> None:
    own_broker.start()
    name = own_broker.create_topic("docs", 2)
    own_broker.produce(name, 0, documents(0, 300))
    process = subprocess.Popen(command(own_broker, name, tmp_path), stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: (tmp_path / "ledger" / "00000000.json").exists())
        own_broker.kill()
        time.sleep(20)
        own_broker.start()
        own_broker.produce(name, 1, documents(0, 300, 1))
        wait_for(lambda: sum(placed(tmp_path).values()) == 600)
        assert process.poll() is None
    finally:
        process.terminate()
        process.wait(60)
    assert placed(tmp_path) == expected({0: 300, 1: 300})


def test_a_halt_stops_reading_until_it_is_released(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name = topic(1)
    uneven = [
        json.dumps({"id": f"0-{i}", "text": "He saw his brother and his son."}).encode()
        for i in range(300)
    ]
    # One timestamp, so that no border of panes falls between them: the gate would be held before
    # the second pane.
    broker.produce(name, 0, uneven, timestamp_ms=int(time.time() * 1000))
    process = subprocess.Popen(
        command(broker, name, tmp_path, "--policy", "halt"), stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: (tmp_path / "ledger" / "00000000.json").exists())
        status = [EVENFLOW, "gate", "status", str(tmp_path)]
        assert subprocess.run(status, capture_output=True).returncode == 3
        broker.produce(name, 0, documents(300, 400), timestamp_ms=int(time.time() * 1000))
        time.sleep(4)
        assert len(read_entries(tmp_path)) == 1
        release = [EVENFLOW, "gate", "release", str(tmp_path), "--reason", "looked at it"]
        assert subprocess.run(release, capture_output=True).returncode == 0
        wait_for(lambda: sum(placed(tmp_path).values()) == 400)
        assert process.poll() is None
    finally:
        process.terminate()
        process.wait(60)
    assert placed(tmp_path) == expected({0: 400})
