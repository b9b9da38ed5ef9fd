"""A real Kafka broker of one node for tests: formatted and started from the jars that `make kafka`
fetches.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewPartitions, NewTopic
from kafka.errors import KafkaError
from kafka.structs import TopicPartition
from services.processes import Program, reached

ROOT = Path(__file__).resolve().parents[2]
LIB = ROOT / "build" / "services" / "kafka" / "lib"
PROPERTIES = ROOT / "deploy" / "kafka" / "server.properties"
# Any 16 bytes in URL-safe base64: the same, so that a restart finds its own data
CLUSTER = "4L6g3nShT-eMCtK--X86sw"
# A busy machine of two cores needs up to 30 for a JVM, its format and its election
START_SECONDS = 90.0
FLUSH_SECONDS = 60.0  # a broker that was killed is there again within them


def installed() -> str | None:
    """None if the broker can be started; else what is missing and the line that brings it."""
    if not any(LIB.glob("kafka_*.jar")):
        return f"no Kafka in {LIB.relative_to(ROOT)}: run `make kafka` (Java 17, Maven)"
    return None


def free_port() -> int:
    """A port of the loopback interface that nothing listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Producer(KafkaProducer):
    """Waits for FLUSH_SECONDS: one whose broker went away has waited for ever."""

    def flush(self, timeout: float | None = FLUSH_SECONDS) -> None:
        """Wait until what was sent has ended; see KafkaProducer. Raises KafkaTimeoutError."""
        super().flush(timeout)

    def close(self, timeout: float | None = FLUSH_SECONDS, null_logger: bool = False) -> None:
        """End; see KafkaProducer. Raises KafkaTimeoutError where something was not sent yet."""
        try:
            super().close(timeout, null_logger)
        except KafkaError:
            self._sender.force_close()  # its thread would go on trying; there is no public way
            raise

    def put(self, topic: str, records: Iterable[tuple[int, bytes | None]], **settings: Any) -> None:
        """Write records, each a partition and a value, and wait until all are there; settings: of
        each record. Raises KafkaError where one is not, or not within FLUSH_SECONDS.
        """
        sent = [
            self.send(topic, value=value, partition=partition, **settings)
            for partition, value in records
        ]
        self.flush()
        for each in sent:
            each.get(FLUSH_SECONDS)


class Broker(Program):
    """Kafka on a free port of the loopback interface, its data in a folder that outlives a kill.

    address: what clients bootstrap from, HOST:PORT; the same after a restart. more: properties
    beside those of deploy/kafka, or in their place. users: arguments of the format that make users.
    """

    def __init__(
        self, folder: Path, more: Mapping[str, str] | None = None, users: Sequence[str] = ()
    ):
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        super().__init__("Kafka", folder / "server.log")
        folder.mkdir(parents=True, exist_ok=True)
        self._properties = folder / "server.properties"
        fills = {
            "CONTROLLER_PORT": str(free_port()),
            "LOG_DIR": str(folder / "data"),
            "PORT": str(self.port),
        }
        text = PROPERTIES.read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        lines += [f"{name}={value}" for name, value in (more or {}).items()]  # the last one counts
        text = "\n".join(lines)
        for name, value in fills.items():
            text = text.replace(name, value)
        self._properties.write_text(text, encoding="utf-8")
        format_ = (
            *("kafka.tools.StorageTool", "format", "--standalone", "--cluster-id", CLUSTER),
            *(*users, "--config"),
        )
        subprocess.run(
            self._java(*format_, str(self._properties)),
            check=True,
            capture_output=True,
            timeout=START_SECONDS,
        )

    def _java(self, main: str, *arguments: str) -> list[str]:
        return [
            *("java", "-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-cp", f"{LIB}/*", main),
            *arguments,
        ]

    def launch(self) -> None:
        """Start the broker's process and come back at once."""
        self._run(self._java("kafka.Kafka", str(self._properties)))

    def start(self) -> None:
        """Start the broker and wait until it answers. Raises RuntimeError with its log's end."""
        self.launch()
        self.wait()

    def wait(self) -> None:
        """Wait until the broker answers. Raises RuntimeError with its log's end."""

        def answers() -> None:
            reached(self.port)
            with closing(self.admin()) as admin:
                admin.list_topics()

        self._until(answers, START_SECONDS)

    def admin(self) -> KafkaAdminClient:
        """A client that administers the broker; close it."""
        options: dict[str, Any] = {"bootstrap_timeout_ms": 10_000, "request_timeout_ms": 30_000}
        return KafkaAdminClient(bootstrap_servers=self.address, **options)

    def create_topic(self, name: str, partitions: int = 1, **settings: Any) -> str:
        """Make a topic and give its name; settings: the topic's, with underscores for dots
        (retention_ms=1000).
        """
        configs = {key.replace("_", "."): str(value) for key, value in settings.items()}
        with closing(self.admin()) as admin:
            admin.create_topics([NewTopic(name, partitions, 1, topic_configs=configs)])
        return name

    def add_partitions(self, topic: str, total: int) -> None:
        """Raise a topic's number of partitions."""
        with closing(self.admin()) as admin:
            admin.create_partitions({topic: NewPartitions(total)})

    def producer(self, **settings: Any) -> Producer:
        """A producer that waits for the log."""
        defaults: dict[str, Any] = {"acks": "all", "linger_ms": 5, "max_request_size": 16 << 20}
        return Producer(bootstrap_servers=self.address, **(defaults | settings))

    def produce(
        self, topic: str, partition: int, values: Iterable[bytes | None], **settings: Any
    ) -> None:
        """Write values to a partition, in order, and wait until all are there; settings: of each
        record.
        """
        with closing(self.producer()) as producer:
            producer.put(topic, [(partition, value) for value in values], **settings)

    def committed(self, topic: str, partition: int = 0) -> list[Any]:
        """All records of a partition that a read_committed consumer sees, up to its end at this
        moment.
        """
        options: dict[str, Any] = {"isolation_level": "read_committed", "enable_auto_commit": False}
        consumer: Any = KafkaConsumer(bootstrap_servers=self.address, **options)
        one, out = TopicPartition(topic, partition), []
        with closing(consumer):
            consumer.assign([one])
            consumer.seek(one, 0)
            end = consumer.end_offsets([one])[one]
            while consumer.position(one) < end:
                out += consumer.poll(1000).get(one, [])
        return out
