"""Asks a cluster about its topics and their offsets."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kafka import KafkaAdminClient
from kafka import errors as kafka_errors
from kafka.admin import ConfigResource, ConfigResourceType

from evenflow.transforms.kafka.consumers import ANSWER_MS
from evenflow.transforms.kafka.errors import KafkaSourceError, TopicMissingError, explain
from evenflow.transforms.kafka.reasons import with_reason
from evenflow.transforms.kafka.settings import KafkaSettings


class Cluster:
    """Asks about topics; each question has a connection of its own."""

    def __init__(self, settings: KafkaSettings):
        self._settings = settings

    @contextmanager
    def _admin(self) -> Iterator[Any]:
        """Connect a client for questions about topics; it is closed after the block."""
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
        """Count a topic's partitions.

        Raises:
            TopicMissingError: The topic is not there.
            UnreachableError: No broker answers.
            KafkaSourceError: Another reason.
        """
        try:
            with self._admin() as admin:
                (found,) = admin.describe_topics([topic])
        except kafka_errors.KafkaError as error:
            raise explain(error, self._settings, f"topic {topic}") from error
        if found["error_code"]:
            raise explain(
                kafka_errors.for_code(found["error_code"])(), self._settings, f"topic {topic}"
            )
        return len(found["partitions"])

    def create(self, topic: str, partitions: int, settings: Mapping[str, str]) -> None:
        """Create a topic with the broker's default number of replicas.

        Nothing happens where the topic exists.

        Args:
            partitions: How many partitions it gets.

        Raises:
            KafkaSourceError: The topic cannot be created.
        """
        given = {"num_partitions": partitions, "replication_factor": -1, "configs": dict(settings)}
        try:
            with self._admin() as admin:
                admin.create_topics({topic: given}, wait_for_metadata=True)
        except kafka_errors.TopicAlreadyExistsError:
            return
        except kafka_errors.AuthorizationError as error:
            words = ", ".join(f"{name}={value}" for name, value in settings.items())
            raise KafkaSourceError(
                f"topic {topic} is not on {self._settings.bootstrap}, which does not allow this"
                f" user to make it: create it with {partitions} partitions and {words}"
            ) from error
        except kafka_errors.KafkaError as error:
            raise explain(error, self._settings, f"topic {topic}") from error

    def add_partitions(self, topic: str, total: int) -> None:
        """Raise a topic's number of partitions, where this user may."""
        # InvalidPartitionsError: another gate was first
        may_fail = (kafka_errors.AuthorizationError, kafka_errors.InvalidPartitionsError)
        try:
            with self._admin() as admin, contextlib.suppress(*may_fail):
                admin.create_partitions({topic: total})
        except kafka_errors.KafkaError as error:
            raise explain(error, self._settings, f"topic {topic}") from error

    def topic_settings(self, topics: Sequence[str]) -> dict[str, dict[str, str]]:
        """Read the settings of topics."""
        wanted = [ConfigResource(ConfigResourceType.TOPIC, topic) for topic in topics]
        try:
            with self._admin() as admin:
                found = admin.describe_configs(wanted, config_filter="all").get("topic", {})
        except kafka_errors.AuthorizationError:
            found = {}
        except kafka_errors.KafkaError as error:
            raise explain(error, self._settings, "settings of topics") from error
        return {
            topic: {name: each["value"] for name, each in found.get(topic, {}).items()}
            for topic in topics
        }

    def is_missing(self, topic: str, partition: int) -> bool:
        """Return whether the cluster answers and has no such partition."""
        try:
            return partition >= self.partitions(topic)
        except TopicMissingError:
            return True
        except KafkaSourceError:
            return False
