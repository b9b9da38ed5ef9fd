"""Finds out why a client could not connect.

kafka-python raises a timeout for every failure to connect, and logs the reason. Waiting does not
help against a wrong password or an untrusted certificate, so they must not look like a broker that
is away.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kafka import errors as kafka_errors

# kafka-python's logger that reports each failed attempt to connect, with the error as an argument
LOGGER = "kafka.net.manager"
# OpenSSL's names in the messages of kafka-python's errors
UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"  # the broker's certificate is not trusted here
# The broker does not trust the client's certificate, or was given none
REFUSED = re.compile(r"ALERT_(\w*CERTIFICATE\w*|UNKNOWN_CA)")


class _Errors(logging.Filter):
    """Collects the errors that attempts to connect are logged with.

    It passes on the records of `level` and above, which would also pass without it.
    """

    def __init__(self, level: int) -> None:
        super().__init__()
        self._level = level
        self.seen: list[Exception] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the errors among a record's arguments; return whether the record passes."""
        given = record.args if isinstance(record.args, tuple) else ()
        self.seen += [each for each in given if isinstance(each, Exception)]
        return record.levelno >= self._level


_LEVEL = threading.Lock()  # its holder changes the logger's level and restores it


@contextmanager
def with_reason() -> Iterator[None]:
    """Give a client's KafkaTimeoutError its reason, if there is one.

    The client connects within the block. Of two threads that connect at the same time, one gets
    kafka-python's own error.
    """
    if not _LEVEL.acquire(blocking=False):
        yield
        return
    logger = logging.getLogger(LOGGER)
    level, errors = logger.level, _Errors(logger.getEffectiveLevel())
    logger.addFilter(errors)
    logger.setLevel(min(logging.WARNING, logger.getEffectiveLevel()))
    try:
        yield
    except kafka_errors.KafkaTimeoutError as error:
        lasting = [each for each in errors.seen if is_lasting(each)]
        if lasting:
            raise lasting[0] from error
        if errors.seen:
            raise kafka_errors.KafkaTimeoutError(
                f"{_bare(error)}: {_bare(errors.seen[-1])}"
            ) from error
        raise
    finally:
        logger.removeFilter(errors)
        logger.setLevel(level)
        _LEVEL.release()


def is_lasting(error: Exception) -> bool:
    """Return whether an error in connecting stays however long one waits."""
    refused = (
        kafka_errors.SaslAuthenticationFailedError,
        kafka_errors.UnsupportedSaslMechanismError,
    )
    return (
        isinstance(error, refused)
        or UNTRUSTED in str(error)
        or REFUSED.search(str(error)) is not None
    )


def _bare(error: Exception) -> str:
    """Return an error's message without its class, which kafka-python puts in front."""
    return str(error).removeprefix(f"{type(error).__name__}: ")
