"""A run to the end that publishes and is killed: python publish_kill.py BROKER TOPIC ACCEPTED DEAD
OUTPUT EVENT PATTERN WHICH

EVENT and PATTERN are a file operation below the output, seen by an audit hook, or the name of a
method of kafka-python's producer that has ended; WHICH of such it is. No event: nothing kills. The
environment's VICTIM is the process that is killed in place of this one.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from kafka import KafkaProducer
from kill_driver import watch

from evenflow.pipelines.engine.topics.driver import Stream, StreamRun
from evenflow.pipelines.engine.topics.publish import Topics
from evenflow.schemas.config import load
from evenflow.transforms.kafka.settings import KafkaSettings


def main() -> None:
    """The run."""
    address, topic, accepted, dead, output, event, pattern, which = sys.argv[1:]
    seen = 0

    def kill(number: int, happened: str, path: str) -> None:
        nonlocal seen
        if happened == event and re.search(pattern, path):
            seen += 1
            if seen == int(which):
                os.kill(int(os.environ.get("VICTIM") or os.getpid()), signal.SIGKILL)

    watch(Path(output), kill)
    if ended := getattr(KafkaProducer, event or "none", None):

        def killing(producer: KafkaProducer, *given: Any, **named: Any) -> Any:
            found = ended(producer, *given, **named)
            kill(0, event, output)
            return found

        setattr(KafkaProducer, event, killing)
    publish = Topics(accepted, dead)
    stream = Stream(
        KafkaSettings(address),
        topic,
        pane_seconds=1.0,
        until_end=True,
        group=f"g-{topic}",
        publish=publish,
    )
    StreamRun(stream, Path(output), load(None, {"gate.most_dead": 1.0})).go()


if __name__ == "__main__":
    main()
