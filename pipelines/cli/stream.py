"""`evenflow stream`: the gate on a Kafka topic."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.cli.lifecycle import run_gate
from evenflow.pipelines.terminal.endings import Session

if TYPE_CHECKING:
    from evenflow.pipelines.cli.lifecycle import Observing
    from evenflow.pipelines.terminal.outcome import Outcome
    from evenflow.schemas.config import Config


@command(
    keys=options.GATE,
    section="gate",
    rare=f"{options.RARE} max-panes publish-from values dead-letter-topic group"
    " stereotypes-action runner",
)
def stream(
    *,
    kafka: str,
    topic: str,
    values: Literal["json", "text"] = "json",
    until_end: bool = False,
    max_panes: options.Count | None = None,
    pane_seconds: options.Seconds = 60.0,
    result: options.ResultOptions,
    gate: options.Selection,
    group: str | None = None,
    accepted_topic: str | None = None,
    dead_letter_topic: str | None = None,
    publish_from: options.Natural | None = None,
    workers: options.Count = 1,
    runner: Sequence[str] = (),
    session: Session,
) -> None:
    """Measure, judge and commit a Kafka topic, pane by pane.

    A pane is a span of time. If you run it again with the same output, it continues where it
    stopped.

    Exit status: 0 all panes are open or warn, 3 a pane is blocked or a transaction hides
    records from --until-end, 2 wrong usage or configuration,
    1 failure.

    Args:
        kafka (HOST:PORT): A broker.
        topic: The topic.
        values: The form of a value; of text, the key is the id.
        until_end: Stop at the topic's end as of the start.
        max_panes: Stop after N panes.
        pane_seconds (S): Span of time of a pane.
        group: Consumer group that offsets are committed to.
        accepted_topic: Publish accepted documents there.
        dead_letter_topic: Publish dead letters there.
        publish_from (PANE): First pane to publish, if no proof says it.

    Examples:
        evenflow stream --kafka localhost:9092 --topic docs --output out
        evenflow stream --kafka localhost:9092 --topic docs --output out --until-end
    """
    arguments = options.runner_options(runner, workers)

    def read(config: Config, observing: Observing) -> Outcome:
        if workers > 1:
            from evenflow.pipelines.engine import forks

            forks.start()
        # Imported here: it takes a while, which help and wrong usage need not wait for.
        from evenflow.pipelines.engine.topics.driver import Stream, StreamRun
        from evenflow.pipelines.engine.topics.publish import Topics
        from evenflow.pipelines.terminal.progress import JsonLines, Lines, Pace, Reporter
        from evenflow.transforms.kafka.settings import KafkaSettings

        publish = Topics(accepted_topic, dead_letter_topic)
        topics = [topic, *publish.names, *([config.kafka.proof_topic] if publish else [])]
        if len(set(topics)) < len(topics):
            raise options.wrong(
                "--topic", f"each topic has one purpose; given are {', '.join(topics)}"
            )
        source = Stream(
            KafkaSettings(kafka, config.kafka.security),
            topic,
            pane_seconds=pane_seconds,
            values=values,
            until_end=until_end,
            max_panes=max_panes,
            group=group or ("evenflow" if publish else None),
            publish=publish,
            publish_from=publish_from,
        )
        kind = Reporter if result.quiet else JsonLines if session.json_lines else Lines
        observer = observing(kind(Pace(time.monotonic(), 0, 0), time.monotonic).on_pane)
        standby, debug = result.standby, session.debug
        return StreamRun(
            source, result.output, config, arguments, workers, standby, observer, debug
        ).go()

    run_gate(session, gate, result, read, "nothing new to read")
