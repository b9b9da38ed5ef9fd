"""Options that are for files are refused with a topic, not ignored in silence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evenflow.pipelines.stream.driver import Stream
from evenflow.schemas.config import load
from evenflow.transforms.kafka.settings import KafkaSettings

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]


@pytest.mark.parametrize(("option", "value"), [("--workers", "2"), ("--pane-docs", "100")])
def test_what_is_for_files_is_refused_with_a_topic(
    call: Call, tmp_path: Path, option: str, value: str
) -> None:
    output = tmp_path / "out"
    ended = call("run", "--kafka", "127.0.0.1:1", "--topic", "t", "--output", output, option, value)
    assert ended.status == 2 and f"'{option}'" in ended.err and "for files" in ended.err
    assert not output.exists()


@pytest.mark.parametrize(
    ("partitions", "part"), [(1, 1 << 20), (8, 1 << 17), (3, 349_525), (1 << 22, 1)]
)
def test_mib_of_a_pane_are_the_pane_s_not_a_partition_s(partitions: int, part: int) -> None:
    stream = Stream(KafkaSettings("127.0.0.1:1"), "t")
    assert stream.cutter(load(None, {"pane.mib": 1}), partitions).part_bytes == part
