"""What a worker raised reaches the driver as text, and comes back as what it was."""

from __future__ import annotations

import pytest

from evenflow.pipelines.engine.runners import RunnerError
from evenflow.pipelines.engine.runners.making import explained
from evenflow.transforms.kafka.errors import KafkaSourceError, TopicMissingError, UnreachableError

MODULE = "evenflow.transforms.kafka.errors"


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (
            f"Traceback\n{MODULE}.UnreachableError: t partition 0: no answer\n",
            UnreachableError,
            "t partition 0: no answer",
        ),
        (
            f"{MODULE}.TopicMissingError: t is not on a:1: check\n",
            TopicMissingError,
            "it was deleted while it was read",
        ),
        (f"{MODULE}.UnknownError: what\n", KafkaSourceError, "what"),
        ("Traceback\n  File x\nValueError: odd\n", RunnerError, "reading failed: ValueError: odd"),
    ],
)
def test_what_a_worker_raised_comes_back_as_what_it_was(
    text: str, kind: type[Exception], said: str
) -> None:
    found = explained(RuntimeError(text))
    assert type(found) is kind and said in str(found)
