"""Connects consumers that commit nothing by themselves, and asks the broker for offsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from kafka import KafkaConsumer
from kafka import errors as kafka_errors
from kafka.structs import TopicPartition

from evenflow.transforms.kafka.settings import KafkaSettings

ANSWER_MS = 3_000  # how long an answer may take before the broker counts as unreachable
CLOSE_MS = 1_000


def connect(
    settings: KafkaSettings,
    isolation: Literal["read_committed", "read_uncommitted"] = "read_committed",
    **options: Any,
) -> Any:
    """Connect a consumer."""
    common: dict[str, Any] = {
        "bootstrap_timeout_ms": ANSWER_MS,
        "enable_auto_commit": False,
        "isolation_level": isolation,
        "metrics_enabled": False,
    }
    return KafkaConsumer(**settings.client(), **common, **options)


def disconnect(consumer: Any) -> None:
    """Close a consumer's connection; None is no consumer."""
    if consumer is not None:
        consumer.close(autocommit=False, timeout_ms=CLOSE_MS)


def ask_offsets(
    ask: Callable[..., dict[TopicPartition, int]], partitions: list[TopicPartition]
) -> dict[TopicPartition, int]:
    """Ask a question about offsets and wait at most ANSWER_MS."""
    try:
        return ask(partitions, timeout_ms=ANSWER_MS)
    # kafka-python 3.0 raises it for a partition that its metadata does not have yet
    except KeyError as error:
        raise kafka_errors.KafkaTimeoutError(f"no offset of {error} in the answer") from error
