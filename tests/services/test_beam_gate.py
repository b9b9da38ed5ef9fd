"""The gate that is built from transforms judges a topic as `evenflow stream` does."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from put_out import rows
from services.job_server import JobServer
from services.kafka_broker import Broker
from services.stream_outputs import TopicMaker, flink_runner, wait_for

from evenflow.gates.ledger.history import History
from evenflow.pipelines.engine.runners import RunnerError
from evenflow.pipelines.engine.runners.runner import on_runner
from evenflow.pipelines.engine.topics.driver import Stream, StreamRun
from evenflow.pipelines.examples.whole_gate import whole_gate
from evenflow.schemas.config import load
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.kafka.settings import KafkaSettings

SECONDS, PANES, EACH = 10, 6, 30
SPAN = 5  # seconds of a pane of the endless topic
BEGIN_MS = 1_600_000_000_000
CONFIG = {
    "repair.mode": ["substitute"],
    "repair.judge": "fast",
    "repair.min_probability": 0.0,  # whatever can be exchanged is
    "pane.rolling": 2,
    "gate.min_mentions": 10,
    "gate.warn": 0.1,
    "gate.block": 0.3,
}


@pytest.fixture(params=["in-process", "flink"])
def options(request: pytest.FixtureRequest) -> list[str]:
    """Options of a runner that can be used here."""
    if request.param == "in-process":
        return ["--runner=FnApiRunner"]
    return flink_runner(request.getfixturevalue("flink").endpoint)


def messages() -> Iterator[tuple[int, int, bytes]]:
    """Partition, time and value; every seventh comes two panes late, every 20th is no document."""
    for number in range(PANES * EACH):
        pane = number // EACH
        late = 2 * SECONDS * 1000 if number % 7 == 6 else 0
        time = BEGIN_MS + pane * SECONDS * 1000 + number % EACH * 100 - late
        he = "He said that he would come. " * (3 if pane in (2, 3) else 1)
        text = f"A nurse met her brother. {he}The driver lost his keys, and she found them."
        value = json.dumps({"id": f"d{number}", "text": text, "source": f"s{number % 2}"}).encode()
        yield number % 2, time, b"no JSON" if number % 20 == 19 else value


def put_out(options: list[str], broker: Broker, topic: str, work: Path) -> dict[str, list[Any]]:
    """Run the example, and return what its collections hold."""
    with beam.Pipeline(options=PipelineOptions(options)) as pipeline:
        found = whole_gate(
            pipeline, broker.address, topic, str(work / "beam"), CONFIG, seconds=SECONDS
        )
        for name, each in found.items():
            _ = (
                each
                | f"{name} as JSON" >> beam.Map(json.dumps)
                | f"write {name}" >> beam.io.WriteToText(str(work / name))
            )
    return {
        name: [
            json.loads(line)
            for path in work.glob(f"{name}-*")
            for line in path.read_text().splitlines()
        ]
        for name in found
    }


def test_verdicts_and_counts_are_those_of_the_engine(
    options: list[str], broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    name = topic(2)
    with closing(broker.producer()) as producer:
        for partition, time, value in messages():
            producer.send(name, value, partition=partition, timestamp_ms=time)
        producer.flush()
    config = load(None, CONFIG)
    stream = Stream(KafkaSettings(broker.address), name, pane_seconds=SECONDS, until_end=True)
    StreamRun(stream, tmp_path / "engine", config).go()
    entries = list(History(tmp_path / "engine", config))
    found = put_out(options, broker, name, tmp_path)

    verdicts = sorted(found["verdicts"], key=lambda each: each["pane"])
    assert [
        (
            each["state"],
            each["folder"],
            {n: (one["sums"], one["rolling"]) for n, one in each["attributes"].items()},
        )
        for each in verdicts
    ] == [
        (
            each.verdict.state,
            each.folder,
            {
                n: (one.sums.model_dump(), one.rolling.model_dump())
                for n, one in each.attributes.items()
            },
        )
        for each in entries
    ]
    assert len({each.folder for each in entries}) == 2
    assert any("unreadable" in each.verdict.reason for each in entries)
    changed = [each.attributes["gender"].repair for each in entries]
    assert all(each is not None and each.changed for each in changed)
    assert len(found["dead_letters"]) == sum(each.dead for each in entries) > 0
    shards = Counter((each["folder"], each["documents"]) for each in found["written"])
    assert shards == Counter((each.folder, each.documents) for each in entries)
    assert texts(tmp_path / "beam") == texts(tmp_path / "engine")
    assert rolling(found["rolling"]) == expected_rolling(entries)


def test_panes_of_an_endless_topic_are_judged_as_they_end(
    flink: JobServer, broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    """As `stream` judges them, with texts changed and panes blocked; the graph runs on."""
    name, folder = topic(2), tmp_path / "verdicts"
    folder.mkdir()

    def draw(pipeline: beam.Pipeline) -> None:
        found = whole_gate(
            pipeline, broker.address, name, str(tmp_path / "beam"), CONFIG, SPAN, until_end=False
        )
        _ = found["verdicts"] | "note" >> beam.Map(note, str(folder))

    options = [*flink_runner(flink.endpoint), "--streaming"]
    with on_runner(draw, options, lambda error: RunnerError(str(error))) as has_ended:
        first = time.time() // SPAN * SPAN + SPAN
        ends = [first + SPAN * (pane + 1) for pane in range(4)]
        with closing(broker.producer()) as producer:
            number = 0
            while (now := time.time()) < ends[-1]:
                text = "A nurse met her brother. He came. The driver lost his keys."
                if now >= first:
                    value = json.dumps({"id": str(number), "text": text}).encode()
                    is_lost = now > ends[0] and number % 3 == 2
                    producer.send(name, b"no JSON" if is_lost else value, partition=number % 2)
                    number += 1
                producer.flush()
                time.sleep(0.05)
        wait_for(lambda: has_ended() or len([*folder.iterdir()]) == len(ends), 120)
        assert not has_ended()
    found = [json.loads(path.read_text()) for path in sorted(folder.iterdir())]
    seconds = [
        path.stat().st_mtime - end for path, end in zip(sorted(folder.iterdir()), ends, strict=True)
    ]
    print("seconds from a pane's end to its verdict:", *(f"{each:.1f}" for each in seconds))
    config = load(None, CONFIG)
    stream = Stream(KafkaSettings(broker.address), name, pane_seconds=SPAN, until_end=True)
    StreamRun(stream, tmp_path / "engine", config).go()
    entries = list(History(tmp_path / "engine", config))
    assert [each["pane"] for each in found] == [int(end - SPAN) * 1000 for end in ends]
    assert [(each["folder"], each["sums"]) for each in found] == [
        (each.folder, {n: one.sums.model_dump() for n, one in each.attributes.items()})
        for each in entries
    ]
    assert {each["folder"] for each in found} == {"accepted", "quarantine"}
    assert texts(tmp_path / "beam") == texts(tmp_path / "engine")


def note(verdict: dict[str, Any], folder: str) -> None:
    """Write what a verdict decides to a file of its own."""
    sums = {name: each["sums"] for name, each in verdict["attributes"].items()}
    kept = {"pane": verdict["pane"], "folder": verdict["folder"], "sums": sums}
    Path(folder, f"{verdict['pane']}.json").write_text(json.dumps(kept))


def rolling(found: list[dict[str, Any]]) -> dict[float, dict[str, int]]:
    """The counts of gender in each window, by its end, in its last result."""
    return {
        each["end"]: each["attributes"]["gender"]["counts"]
        for each in sorted(found, key=lambda each: each["firing"])
        if each["attributes"]["gender"]["mentions"]
    }


def expected_rolling(entries: list[PaneEntry]) -> dict[float, dict[str, int]]:
    """The same from the counts before the repair: four panes a window, one pane further each."""
    panes = [
        entry.attributes["gender"].repair.before.counts  # type: ignore[union-attr]
        for entry in entries
    ]
    return {
        BEGIN_MS / 1000 + SECONDS * end: {
            group: sum(each[at] for each in panes[max(end - 4, 0) : end])
            for at, group in enumerate(("female", "male"))
        }
        for end in range(1, PANES + 4)
    }


def texts(output: Path) -> set[tuple[str, str, str]]:
    """Folder, id and text of all documents."""
    folders = ("accepted", "quarantine")
    return {(each, row["id"], row["text"]) for each in folders for row in rows(output, each)}
