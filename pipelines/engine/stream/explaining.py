"""Explains a failure of the source that a runner passes on as text."""

from __future__ import annotations

import re

from evenflow.pipelines.engine.runners import runner
from evenflow.transforms.kafka import errors
from evenflow.transforms.kafka.errors import KafkaSourceError, TopicMissingError

# Beam passes on a worker's error as the text of its traceback, which ends with class and message
_RAISED = re.compile(r"evenflow\.transforms\.kafka\.errors\.(\w+Error): (.*)")


def explained(error: BaseException) -> Exception:
    """Translate what the runner raised."""
    raised = _RAISED.findall(str(error))
    if not raised:
        return runner.explained(error)
    name, message = raised[-1]
    message = re.sub(r" \[while running .*|\\n.*", "", message).rstrip()
    kind = getattr(errors, name, KafkaSourceError)
    if kind is TopicMissingError and "deleted" not in message:
        message = f"{message.partition(': ')[0]} any more: it was deleted while it was read"
    return (
        kind(message)
        if isinstance(kind, type) and issubclass(kind, KafkaSourceError)
        else KafkaSourceError(message)
    )
