"""A topic is repaired as files are: the same documents, substituted and filtered, with their table
of sentences.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from services.kafka_broker import Broker
from services.stream_outputs import TopicMaker, recounted

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.engine.stream.driver import Stream, StreamRun
from evenflow.schemas.config import Config, load
from evenflow.transforms.kafka.settings import KafkaSettings

MEN = [
    "A clerk put his pen on the desk, and he left.",
    "The nurse said that he would wash his hands first.",
    (
        "Muslims are violent savages. Every student brought his book to the class. The shop was"
        " open. It was late."
    ),
    "Some man left his umbrella on the bus.",
]


def settings() -> Config:
    return load(
        None, {"repair.mode": "substitute", "stereotypes.policy": "remove"}, ["gender", "religion"]
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_a_topic_is_repaired(
    broker: Broker, topic: TopicMaker, tmp_path: Path, workers: int
) -> None:
    name, output = topic(1), tmp_path / "topic"
    values = [json.dumps({"id": f"d{i}", "text": MEN[i % 4]}).encode() for i in range(400)]
    for value in range(0, 400, 100):
        broker.produce(name, 0, values[value : value + 100])
    stream = Stream(KafkaSettings(broker.address), name, pane_seconds=86_400.0, until_end=True)
    StreamRun(stream, output, settings(), workers=workers).go()
    entries = read_entries(output)
    assert all(entry.checks.success for entry in entries)
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(values))
    Run([str(tmp_path / "in.jsonl")], tmp_path / "files", settings()).go()
    # Unless midnight came between: then the panes differ, and so may the plans
    if len(entries) == 1:
        assert recounted(output) or entries[0].set_aside
        for folder in ("accepted", "sentences"):
            read = [
                pq.read_table(each / folder).to_pylist() for each in (output, tmp_path / "files")
            ]
            assert read[0] == read[1]
    repairs = [each for entry in entries if (each := entry.attributes["gender"].repair) is not None]
    assert sum(each.changed for each in repairs) > 100
    kept = Counter(row["text"] for row in pq.read_table(output / "accepted").to_pylist())
    aside = sum(entry.set_aside.rows for entry in entries if entry.set_aside)
    assert not any("savages" in text for text in kept) and sum(kept.values()) + aside == 400


def test_people_of_a_topic_are_those_of_files(
    broker: Broker, topic: TopicMaker, tmp_path: Path
) -> None:
    """The sample does not depend on the source, the cuts of blocks or the number of workers."""
    name, output = topic(1), tmp_path / "topic"
    texts = ("The bro code grew.", "The girls met a gentleman.", "A bro issue.")
    values = [
        json.dumps({"id": f"d{i}", "text": f"{i}. {texts[i % 3]}"}).encode() for i in range(300)
    ]
    for value in range(0, 300, 100):
        broker.produce(name, 0, values[value : value + 100])
    config = load(None, {"measure.count": "people", "measure.passages": 4}, ["gender"])
    stream = Stream(KafkaSettings(broker.address), name, pane_seconds=86_400.0, until_end=True)
    StreamRun(stream, output, config).go()
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(values))
    Run([str(tmp_path / "in.jsonl")], tmp_path / "files", config, workers=2).go()
    [files] = read_entries(tmp_path / "files")
    entries = read_entries(output)
    if len(entries) == 1:  # unless midnight came between
        own = entries[0].attributes["gender"]
        assert own.people is not None and 0 < own.people.passages <= 4
        assert own.sums == files.attributes["gender"].sums
    words = [entry.attributes["gender"].people for entry in entries]
    assert sum(sum(each.words.counts) for each in words if each) == 400
