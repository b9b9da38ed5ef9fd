"""What `evenflow doctor` finds at a broker and at an S3 server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from services.kafka_broker import Broker, free_port

from evenflow.pipelines import doctor
from evenflow.pipelines.doctor import Diagnosis, Planned, Topic
from evenflow.schemas.config import load
from evenflow.transforms.storage.storage import at

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]


def found(**planned: object) -> dict[str, Diagnosis]:
    """What is found, by part; of topics the last one."""
    config = load(None, {})
    return {each.part: each for each in doctor.examine(Planned(config, **planned))}  # type: ignore[arg-type]


def test_topics_group_and_transactions(broker: Broker) -> None:
    read, accepted = broker.create_topic("doctor-read"), broker.create_topic("doctor-accepted")
    parts = found(topic=Topic(broker.address, read, "g", [accepted]))
    assert {name: each.state for name, each in parts.items()} == {
        "packages": "fine",
        "codecs": "fine",
        "topic": "fine",
        "group": "fine",
        "transactions": "fine",
    }
    assert list(broker.committed(accepted)) == []
    missing = found(topic=Topic(broker.address, "doctor-not-there"))["kafka"]
    assert missing.state == "missing" and "doctor-not-there" in missing.text


@pytest.mark.usefixtures("s3_here")
def test_a_store(bucket: str) -> None:
    parts = found(output=at(f"{bucket}/doctor/out"))
    assert parts["output"].state == parts["clock"].state == "fine"
    assert list(at(f"{bucket}/doctor").tree()) == []


def test_a_broker_that_is_away_is_said_with_status_2(call: Call) -> None:
    ended = call("doctor", "--kafka", f"127.0.0.1:{free_port()}", "--topic", "docs", "--json")
    *_, kafka = ended.json
    assert (ended.status, kafka["part"], kafka["state"]) == (2, "kafka", "missing")
    assert "no answer from 127.0.0.1:" in kafka["text"]
