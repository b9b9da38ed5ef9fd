"""What a stream is read by."""

from __future__ import annotations

import pytest

from evenflow.pipelines.engine.stream.driver import Stream
from evenflow.schemas.config import load
from evenflow.transforms.kafka.settings import KafkaSettings


@pytest.mark.parametrize(
    ("partitions", "part"), [(1, 1 << 20), (8, 1 << 17), (3, 349_525), (1 << 22, 1)]
)
def test_mib_of_a_pane_are_the_pane_s_not_a_partition_s(partitions: int, part: int) -> None:
    stream = Stream(KafkaSettings("127.0.0.1:1"), "t")
    assert stream.cutter(load(None, {"pane.mib": 1}), partitions).part_bytes == part
