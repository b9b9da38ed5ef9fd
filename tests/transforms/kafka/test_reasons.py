"""Why a client could not connect, taken from what kafka-python logs."""

from __future__ import annotations

import logging

import pytest
from kafka import errors

from evenflow.transforms.kafka.reasons import LOGGER, with_reason

AWAY = errors.KafkaConnectionError("connection refused")
UNTRUSTED = errors.KafkaConnectionError(
    "Handshake failed: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"
)
REFUSED = errors.SaslAuthenticationFailedError("Authentication failed")
CASES = [
    ([], errors.KafkaTimeoutError, "Unable to bootstrap$"),
    ([AWAY], errors.KafkaTimeoutError, "Unable to bootstrap: connection refused$"),
    ([UNTRUSTED, AWAY], errors.KafkaConnectionError, "certificate verify failed"),
    ([AWAY, REFUSED, AWAY], errors.SaslAuthenticationFailedError, "Authentication failed"),
]


@pytest.mark.parametrize(("logged", "kind", "message"), CASES)
@pytest.mark.parametrize("level", [logging.INFO, logging.CRITICAL])
def test_a_timeout_becomes_its_reason(
    logged: list[Exception],
    kind: type[Exception],
    message: str,
    level: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger = logging.getLogger(LOGGER)
    caplog.set_level(level, LOGGER)
    before = logger.level, list(logger.filters)
    with pytest.raises(kind, match=message), with_reason():
        for error in logged:
            logger.warning("Bootstrap connection to %s failed: %s", "bootstrap-0", error)
        raise errors.KafkaTimeoutError("Unable to bootstrap")
    assert (logger.level, logger.filters) == before
    assert len(caplog.records) == (len(logged) if level <= logging.WARNING else 0)  # as without it


def test_other_errors_pass_and_no_error_is_no_error() -> None:
    with with_reason():
        logging.getLogger(LOGGER).warning(
            "Bootstrap connection to %s failed: %s", "bootstrap-0", REFUSED
        )
    with pytest.raises(errors.TopicAuthorizationFailedError), with_reason():
        raise errors.TopicAuthorizationFailedError()
