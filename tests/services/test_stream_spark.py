"""The gate on a topic on Spark, by the command, gives what a run in process gives."""

from __future__ import annotations

from pathlib import Path

from kill_driver import digests
from services import stream_kill
from services.job_server import JobServer
from services.kafka_broker import Broker
from services.stream_outputs import (
    TopicMaker,
    count,
    gate,
    on_flink,
    placed,
    recounted,
    to_end,
    wait_for,
)

LONG = 300.0  # for what takes 5 to 15 s on two cores without other work


def test_a_topic(broker: Broker, topic: TopicMaker, tmp_path: Path, spark: JobServer) -> None:
    name, output, wanted = topic(stream_kill.PARTITIONS), tmp_path / "out", stream_kill.messages(2)
    for batch in range(2):
        stream_kill.fill(broker.address, name, batch)
    with gate(on_flink(broker, name, output, spark.endpoint), tmp_path):
        wait_for(lambda: count(output) >= sum(wanted.values()), LONG)
    for place in (output, tmp_path / "whole"):
        to_end(broker, name, place).go()
    assert placed(output) == wanted and recounted(output)
    assert digests(output) == digests(tmp_path / "whole")
