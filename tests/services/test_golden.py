"""A topic, and an object store, give what is on record for each mode (see tests/golden)."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden.record import differences, into_store, of_topic, runs
from services.kafka_broker import Broker


def test_a_topic_gives_what_is_on_record(broker: Broker, tmp_path: Path) -> None:
    assert differences("topic", runs(of_topic(broker), tmp_path)) == []


@pytest.mark.usefixtures("s3_here")
def test_a_store_gives_what_is_on_record(bucket: str, tmp_path: Path) -> None:
    assert differences("store", runs(into_store(bucket), tmp_path)) == []
