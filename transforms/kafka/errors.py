"""Errors of reading from Kafka and writing to it; their messages say where and what to do."""

from __future__ import annotations

from kafka import errors as kafka_errors

from evenflow.schemas.errors import EvenflowError
from evenflow.transforms.kafka.reasons import REFUSED, UNTRUSTED
from evenflow.transforms.kafka.settings import KafkaSettings


class KafkaSourceError(EvenflowError, RuntimeError):
    """Work with Kafka cannot go on.

    The message says where (topic, partition, offset) and what to do.
    """


class UnreachableError(KafkaSourceError):
    """No broker answers."""


class TopicMissingError(KafkaSourceError):
    """The topic or partition is not there, or no longer there."""


class BeyondEndError(KafkaSourceError):
    """The offset to read is after the partition's end.

    The topic was deleted and created again, or has lost its end.
    """


class OutOfRangeError(Exception):
    """The broker no longer has the offset to be read."""

    def __init__(self, first: int):
        super().__init__(f"the first offset there is {first}")
        self.next = first


def explain(error: Exception, settings: KafkaSettings, what: str) -> KafkaSourceError:
    """Turn an error of kafka-python into one whose message says what to do."""
    where = settings.bootstrap
    if isinstance(
        error, kafka_errors.UnknownTopicOrPartitionError | kafka_errors.InvalidTopicError
    ):
        return TopicMissingError(f"{what} is not on {where}: check its name, or create it")
    if isinstance(error, kafka_errors.AuthorizationError):
        return KafkaSourceError(
            f"{what}: {where} does not allow this user to read it ({type(error).__name__})"
        )
    if isinstance(
        error,
        kafka_errors.SaslAuthenticationFailedError | kafka_errors.UnsupportedSaslMechanismError,
    ):
        return KafkaSourceError(
            f"{where} refuses the user or mechanism ({type(error).__name__}): check the security"
            " settings"
        )
    if UNTRUSTED in str(error):
        return KafkaSourceError(
            f"the certificate of {where} is not trusted ({error}): check ssl_cafile and the host's"
            " name"
        )
    if REFUSED.search(str(error)):
        return KafkaSourceError(
            f"{where} does not take the client's certificate, or has none ({error}): check"
            " ssl_certfile, ssl_keyfile, and whom the broker trusts"
        )
    if isinstance(error, kafka_errors.UnsupportedCodecError):
        return KafkaSourceError(
            f"{what}: its records are compressed with a codec that is not known here: {error}"
        )
    if getattr(error, "retriable", False):
        return UnreachableError(f"{what}: no answer from {where}: {error}")
    return KafkaSourceError(f"{what}: {where} answers with an error: {error}")
