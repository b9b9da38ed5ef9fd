"""Speed of the Kafka source alone beside a plain poll loop, on a broker of its own: python
tests/services/bench_kafka_source.py

Documents of 3,750 bytes in three partitions; each reader reads all of them, several times in turn;
medians are shown.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from kafka import KafkaConsumer
from kafka.structs import TopicPartition
from services.kafka_broker import Broker

from evenflow.transforms.kafka import client
from evenflow.transforms.kafka.blocks import PartitionBlock
from evenflow.transforms.kafka.client import Ends, PartitionReader
from evenflow.transforms.kafka.panes import PaneCutter, Start
from evenflow.transforms.kafka.reading import PartitionReading
from evenflow.transforms.kafka.settings import KafkaSettings

PARTITIONS = 3
DOCUMENT_BYTES = 3750  # 15 MB/s are then 4,000 documents a second


def plain(broker: Broker, topic: str, count: int, folder: Path) -> None:
    """One consumer, all partitions, poll until all have come; with the source's settings."""
    options: dict[str, Any] = {
        "max_partition_fetch_bytes": client.FETCH_BYTES,
        "max_poll_records": client.POLL_RECORDS,
        "enable_auto_commit": False,
    }
    with closing(KafkaConsumer(bootstrap_servers=broker.address, **options)) as consumer:
        partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        seen = 0
        while seen < count:
            seen += sum(map(len, consumer.poll(1000).values()))


def readings(broker: Broker, topic: str, count: int, folder: Path) -> None:
    """As a worker reads: a consumer for each partition, in turn, in blocks."""
    settings = KafkaSettings(broker.address)
    ends, cutter, seen = Ends(settings), PaneCutter(60_000), 0
    open_ = [
        PartitionReading(
            PartitionReader(settings, topic, number, ends, 60.0),
            Start(0, cutter.start()),
            None,
            cutter,
        )
        for number in range(PARTITIONS)
    ]
    while seen < count:
        for each in open_:
            for item in each.read():
                assert isinstance(item, PartitionBlock)
                seen += item.size
    for each in open_:
        each.close()


READERS: dict[str, Callable[[Broker, str, int, Path], None]] = {
    "plain poll loop": plain,
    "source": readings,
}


def main() -> None:
    """Fill a topic, read it with each reader in turn, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=300, help="megabytes in the topic")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    count = arguments.mb * 1_000_000 // DOCUMENT_BYTES
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker(Path(folder) / "kafka")
        broker.start()
        try:
            topic = broker.create_topic("bench", PARTITIONS)
            text = b'{"text": "' + b"The quick brown fox jumps over the lazy dog. " * 100
            with closing(broker.producer(batch_size=1 << 20, linger_ms=50)) as producer:
                for i in range(count):
                    value = text[: DOCUMENT_BYTES - 30] + b'", "id": "%016d"}' % i
                    producer.send(topic, value, partition=i % PARTITIONS)
                    if i % 5000 == 0:
                        producer.flush()
                producer.flush()
            seconds: dict[str, list[float]] = {name: [] for name in READERS}
            for turn in range(arguments.rounds):
                for number, (name, read) in enumerate(READERS.items()):
                    place = Path(folder) / f"{turn}-{number}"
                    place.mkdir()
                    began = time.perf_counter()
                    read(broker, topic, count, place)
                    seconds[name].append(time.perf_counter() - began)
        finally:
            broker.kill()
    print(
        f"{count} documents, {arguments.mb} MB, {PARTITIONS} partitions; seconds include connecting"
    )
    print(f"{'reader':40} {'seconds':>8} {'MB/s':>7} {'documents/s':>12}")
    for name, each in seconds.items():
        median = statistics.median(each)
        print(f"{name:40} {median:8.2f} {arguments.mb / median:7.1f} {count / median:12.0f}")


if __name__ == "__main__":
    main()
