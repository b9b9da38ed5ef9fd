"""What tests of the gate on a topic share: documents to send, the command, and a recount of what it
put out.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from put_out import letters
from services.flink_cluster import FlinkCluster
from services.kafka_broker import Broker

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.topics.driver import Stream, StreamRun
from evenflow.schemas.config import Config, load
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.storage.storage import Place, at

TopicMaker = Callable[..., str]
EVENFLOW = str(Path(sys.executable).with_name("evenflow"))
OWN_LINE = re.compile(r"(evenflow: |pane \d+: )")


def documents(first: int, last: int, partition: int = 0) -> list[bytes]:
    """JSON objects with ids PARTITION-NUMBER and an even text."""
    return [
        json.dumps(
            {"id": f"{partition}-{i}", "text": f"She saw him. He saw her {i} times."}
        ).encode()
        for i in range(first, last)
    ]


def fill(broker: Broker, topic: str, panes: range, each: int, begin: int) -> None:
    """Write panes of a second, each with some documents and a record that is none.

    begin: milliseconds since 1970 of pane 0.
    """
    with closing(broker.producer()) as producer:
        for pane in panes:
            for value in [*documents(pane * each, (pane + 1) * each), b"dead %d" % pane]:
                producer.send(topic, value, partition=0, timestamp_ms=begin + pane * 1000)
        producer.flush()


def placed(output: Path) -> Counter[str]:
    """How often each message is in the outputs: ids of documents, values of dead letters."""
    found: Counter[str] = Counter()
    for folder in ("accepted", "quarantine"):
        for path in (output / folder).glob("*.parquet"):
            found.update(pq.read_table(path, columns=["id"])["id"].to_pylist())
    found.update(
        base64.b64decode(each["raw_base64"]).decode("utf-8", "backslashreplace")
        for each in letters(output)
    )
    return found


def accepted(output: Place) -> Counter[str]:
    """How often each document's id is in accepted/, as the ledger has it."""
    found: Counter[str] = Counter()
    for entry in read_entries(output):
        for shard in entry.shards:
            with at(output).open(f"{entry.folder}/{shard.name}") as file:
                found.update(pq.read_table(file, columns=["id"])["id"].to_pylist())
    return found


def published(broker: Broker, topic: str) -> Counter[str]:
    """How often each document is in a topic, by the id that its record has as a header."""
    records = broker.committed(topic)
    return Counter(dict(record.headers)["evenflow.id"].decode() for record in records)


def expected(counts: dict[int, int], dead: tuple[str, ...] = ()) -> Counter[str]:
    """What placed gives if partitions' documents 0..count-1 and some dead letters are there once
    each.
    """
    return Counter(
        [f"{partition}-{i}" for partition, count in counts.items() for i in range(count)]
        + list(dead)
    )


def count(output: Path) -> int:
    """How many messages are in the outputs."""
    return sum(placed(output).values())


def recounted(output: Path) -> bool:
    """Whether the ledger's counts are those of the shards and dead letters, and no shard is there
    that it does not name.
    """
    entries = read_entries(output)
    named = {f"{entry.folder}/{shard.name}" for entry in entries for shard in entry.shards}
    there = {
        f"{folder}/{path.name}"
        for folder in ("accepted", "quarantine")
        for path in (output / folder).glob("*.parquet")
    }
    if named != there or sum(entry.dead for entry in entries) != len(letters(output)):
        return False
    for entry in entries:
        tables = [pq.read_table(output / entry.folder / shard.name) for shard in entry.shards]
        if sum(table.num_rows for table in tables) != entry.documents:
            return False
        for name, each in entry.attributes.items():
            words = each.people.words if each.people else each.sums
            for group, count in zip(each.groups, words.counts, strict=True):
                if (
                    sum(sum(table[f"mentions_{name}_{group}"].to_pylist()) for table in tables)
                    != count
                ):
                    return False
    return True


def to_end(
    broker: Broker, topic: str, output: Place, config: Config | None = None, **more: object
) -> StreamRun:
    """A run in this process up to the topic's end."""
    stream = Stream(KafkaSettings(broker.address), topic, pane_seconds=1.0, until_end=True, **more)  # type: ignore[arg-type]
    return StreamRun(stream, output, config or load(None))


def command(broker: Broker, topic: str, output: Place, *more: str) -> list[str]:
    """The command for a run for ever, with panes of a second."""
    words = ("--kafka", broker.address, "--topic", topic, "--output", str(output))
    return [EVENFLOW, "stream", *words, "--pane-seconds", "1", *more]


def on_flink(broker: Broker, topic: str, output: Path, endpoint: str, *more: str) -> list[str]:
    """The command for a run on Flink, whose job server listens at an endpoint, for ever, with panes
    of a second.
    """
    return [
        *command(broker, topic, output),
        *(f"--runner={option}" for option in flink_runner(endpoint)),
        *more,
    ]


def on_cluster(
    broker: Broker, topic: str, output: Place, cluster: FlinkCluster, *more: str
) -> list[str]:
    """The command for a run on a Flink cluster, for ever, with panes of a second."""
    runner = [f"--runner={option}" for option in cluster.options(unbounded=True)]
    return [*command(broker, topic, output), *runner, *more]


def flink_runner(endpoint: str) -> list[str]:
    """Beam's options for Flink, with workers in the gate's own process."""
    return [
        *("--runner=PortableRunner", f"--job_endpoint={endpoint}", "--environment_type=LOOPBACK"),
        "--parallelism=1",
    ]


def wait_for(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something holds; fail the test if it does not within some seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            pytest.fail("waited in vain")
        time.sleep(0.2)


class Gate:
    """The command in the background, what it says in a file."""

    def __init__(self, words: list[str], log: Path):
        self.log = log
        with log.open("wb") as file:
            self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=file)

    @property
    def said(self) -> list[str]:
        """Lines on standard error."""
        return self.log.read_text(encoding="utf-8", errors="replace").splitlines()

    def ended(self, seconds: float) -> int:
        """Exit status; raises TimeoutExpired if it goes on for longer."""
        return self.process.wait(seconds)

    def stop(self) -> None:
        """End it as a service manager does, and see that it said nothing that is not its own."""
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        assert [line for line in self.said if not OWN_LINE.match(line)] == []


@contextmanager
def gate(words: list[str], folder: Path) -> Iterator[Gate]:
    """Run the command within the block."""
    running = Gate(words, folder / "stderr.txt")
    try:
        yield running
    finally:
        running.stop()
