"""Questions about a cluster's topics and their offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer
from kafka import errors as kafka_errors
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.structs import TopicPartition

from evenflow.transforms.kafka.errors import KafkaSourceError, TopicMissingError, explained
from evenflow.transforms.kafka.reasons import with_reason
from evenflow.transforms.kafka.settings import KafkaSettings

ANSWER_MS = 3_000  # how long one question to the broker may take before it counts as not reachable


def ask_offsets(
    ask: Callable[..., dict[TopicPartition, int]], partitions: list[TopicPartition]
) -> dict[TopicPartition, int]:
    """The offsets that kafka-python's question gives. Raises KafkaError."""
    try:
        return ask(partitions, timeout_ms=ANSWER_MS)
    # Kafka-python 3.0's, for a partition that its metadata does not have yet
    except KeyError as error:
        raise kafka_errors.KafkaTimeoutError(f"no offset of {error} in the answer") from error


class Cluster:
    """Questions about topics, each on a connection of its own."""

    def __init__(self, settings: KafkaSettings):
        self._settings = settings

    @contextmanager
    def _admin(self) -> Iterator[Any]:
        options: dict[str, Any] = {
            "bootstrap_timeout_ms": ANSWER_MS,
            "request_timeout_ms": ANSWER_MS,
        }
        with with_reason():
            admin: Any = KafkaAdminClient(**self._settings.client(), **options)
        try:
            yield admin
        finally:
            admin.close()

    def partitions(self, topic: str) -> int:
        """Number of a topic's partitions. Raises TopicMissingError, UnreachableError,
        KafkaSourceError.
        """
        try:
            with self._admin() as admin:
                (found,) = admin.describe_topics([topic])
        except kafka_errors.KafkaError as error:
            raise explained(error, self._settings, f"topic {topic}") from error
        if found["error_code"]:
            raise explained(
                kafka_errors.for_code(found["error_code"])(), self._settings, f"topic {topic}"
            )
        return len(found["partitions"])

    def create(self, topic: str, settings: Mapping[str, str]) -> None:
        """Make a topic of one partition, with as many replicas as the broker gives by default.
        Raises KafkaSourceError.
        """
        given = {"num_partitions": 1, "replication_factor": -1, "configs": dict(settings)}
        try:
            with self._admin() as admin:
                admin.create_topics({topic: given}, wait_for_metadata=True)
        except kafka_errors.TopicAlreadyExistsError:
            return
        except kafka_errors.AuthorizationError as error:
            words = ", ".join(f"{name}={value}" for name, value in settings.items())
            raise KafkaSourceError(
                f"topic {topic} is not on {self._settings.bootstrap}, which does not allow this"
                f" user to make it: create it with one partition and {words}"
            ) from error
        except kafka_errors.KafkaError as error:
            raise explained(error, self._settings, f"topic {topic}") from error

    def topic_settings(self, topics: Sequence[str]) -> dict[str, dict[str, str]]:
        """Topics' settings by name; none of a topic whose settings this user may not see. Raises
        KafkaSourceError.
        """
        wanted = [ConfigResource(ConfigResourceType.TOPIC, topic) for topic in topics]
        try:
            with self._admin() as admin:
                found = admin.describe_configs(wanted, config_filter="all").get("topic", {})
        except kafka_errors.AuthorizationError:
            found = {}
        except kafka_errors.KafkaError as error:
            raise explained(error, self._settings, "settings of topics") from error
        return {
            topic: {name: each["value"] for name, each in found.get(topic, {}).items()}
            for topic in topics
        }

    def bounds(self, topic: str, known: int) -> list[tuple[int, int]]:
        """First offset and end of a topic's partitions from number `known` on.

        The end is that of committed records. Raises TopicMissingError, UnreachableError,
        KafkaSourceError.
        """
        total = self.partitions(topic)
        if total < known:
            raise TopicMissingError(
                f"topic {topic} has {total} partitions and had {known}: it was deleted and made"
                " anew"
            )
        wanted = [TopicPartition(topic, number) for number in range(known, total)]
        if not wanted:
            return []
        options: dict[str, Any] = {"bootstrap_timeout_ms": ANSWER_MS, "enable_auto_commit": False}
        options |= {"isolation_level": "read_committed", "metrics_enabled": False}
        consumer: Any = KafkaConsumer(**self._settings.client(), **options)
        try:
            first = ask_offsets(consumer.beginning_offsets, wanted)
            end = ask_offsets(consumer.end_offsets, wanted)
        except kafka_errors.KafkaError as error:
            raise explained(error, self._settings, f"topic {topic}") from error
        finally:
            consumer.close(autocommit=False, timeout_ms=1_000)
        return [(first[each], end[each]) for each in wanted]

    def is_missing(self, topic: str, partition: int) -> bool:
        """True if the cluster answers and has no such partition."""
        try:
            return partition >= self.partitions(topic)
        except TopicMissingError:
            return True
        except KafkaSourceError:
            return False
