"""A topic is read into an object store: the outputs are those of a local directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from services.kafka_broker import Broker
from services.stream_outputs import TopicMaker, accepted, documents, expected, published, to_end

from evenflow.gates.lease import FencedError
from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.panes import closing
from evenflow.pipelines.engine.topics.publish import Topics
from evenflow.transforms.storage.storage import at

pytestmark = pytest.mark.usefixtures("s3_here")
BEGIN_MS = 1_600_000_000_000


def test_the_same_files_as_in_a_directory(
    broker: Broker, topic: TopicMaker, tmp_path: Path, bucket: str
) -> None:
    name, target, other_target = topic(3), topic(1), topic(1)
    for span in range(3):
        for partition in range(2):
            values = documents(span * 50, span * 50 + 50, partition)
            broker.produce(name, partition, values, timestamp_ms=BEGIN_MS + 1000 * span)
    broker.produce(name, 0, [b"poison"], timestamp_ms=BEGIN_MS + 3000)
    output = f"{bucket}/a folder/100%"
    more = {"group": f"g-{name}", "publish": Topics(target)}
    assert to_end(broker, name, output, **more).go().new == 4
    beside = {"group": f"g2-{name}", "publish": Topics(other_target)}
    assert to_end(broker, name, tmp_path, **beside).go().new == 4
    kept = {each.name: each.bytes for each in at(output).tree()}
    for entry, other in zip(read_entries(output), read_entries(tmp_path), strict=True):
        assert entry == other
        files = [f"{entry.folder}/{shard.name}" for shard in entry.shards]
        for file in files:
            assert at(output).read(file) == (tmp_path / file).read_bytes()
        assert set(files) <= set(kept)
    assert not [
        file for file in kept if file.startswith(("staged/", "ledger/claims/", "ledger/cuts/"))
    ]
    wanted = expected({0: 150, 1: 150})
    assert accepted(output) == wanted
    assert published(broker, target) == published(broker, other_target) == wanted
    broker.produce(name, 2, documents(0, 20, 2))
    assert to_end(broker, name, output, **more).go().new >= 1
    assert accepted(output) == wanted + expected({2: 20})


def test_a_gate_whose_panes_another_has_deleted_says_that_it_has_taken_over(
    broker: Broker, topic: TopicMaker, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, output, read = topic(1), at(f"{bucket}/out"), closing.read_ready
    broker.produce(name, 0, documents(0, 20), timestamp_ms=BEGIN_MS)

    def late(*given: Any) -> closing.Ready:
        ready = read(*given)
        assert output.create("gate/terms/00000002.json", b"{}")
        output.remove_tree("staged")
        return ready

    monkeypatch.setattr(closing, "read_ready", late)
    with pytest.raises(FencedError, match="another run has taken over"):
        to_end(broker, name, f"{bucket}/out").go()
