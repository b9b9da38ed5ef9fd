"""`evenflow run` and `stream`: the gate on files, and on a Kafka topic."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from evenflow.gates.expectations.importing import uncollected
from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.cli.lifecycle import run_gate
from evenflow.pipelines.terminal.endings import Session

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from evenflow.pipelines.cli.lifecycle import Observing
    from evenflow.pipelines.terminal.outcome import Outcome
    from evenflow.schemas.config import Config

FOLLOW_SECONDS = 60.0  # without a change, before a pane that is not full is committed


@command(
    keys=(*options.GATE, "pane.docs"),
    section="gate",
    rare=f"{options.RARE} final pane-seconds allow-empty",
)
def run(
    more: Sequence[str] = (),
    *,
    inputs: Sequence[str] = (),
    result: options.ResultOptions,
    gate: options.Selection,
    follow: bool = False,
    final: bool = False,
    pane_seconds: options.Seconds | None = None,
    allow_empty: bool = False,
    session: Session,
) -> int:
    """Measure, judge and commit a corpus, pane by pane.

    Reads JSON, CSV, Parquet, Arrow, WARC and text, also compressed. Run again, it goes on where it
    stopped, and reads what was added.

    Exit status: 0 one may train on accepted/, 3 a blocked pane waits or there was no document,
    2 wrong usage or configuration, 1 failure.

    Args:
        more (INPUT): Paths, folders or globs.
        inputs (INPUT): The same, as an option; repeatable.
        follow: Go on with what is added, until stopped.
        final: Read what is half at a file's end too, which else waits for a run.
        pane_seconds (S): With --follow: commit a pane that is not full after S seconds without a
            change.  [default: 60]

    Examples:
        evenflow run corpus/ --output out --pane-docs 10000 --workers 4
        evenflow run a.parquet --output out --attribute gender --block 0.4
        evenflow run 's3://b/*.parquet' --output s3://b/out --runner flink
    """
    inputs = [*inputs, *more]
    if not inputs:
        raise options.wrong("--input", "give at least one path, folder or glob")
    beam = result.beam
    if beam and follow:
        text = "a runner's job ends with its input; give --follow without --runner"
        raise options.wrong("--follow", text)
    if final and follow:
        raise options.wrong("--final", "with --follow a file may grow; give one of them")
    if pane_seconds is not None and not follow:
        raise options.wrong("--pane-seconds", "it needs --follow")
    waits = (pane_seconds or FOLLOW_SECONDS) if follow else None

    def read(config: Config, observing: Observing, workers: Executor) -> Outcome:
        # Imported here: it takes a while, which help and wrong usage need not wait for.
        with uncollected():
            from evenflow.pipelines.terminal.progress import reporter
            from evenflow.transforms.io import files

            found = files.find(inputs, config.strict_input).files if waits is None else {}
            sizes = {name: each.bytes for name, each in found.items()}
            import evenflow.pipelines.pages.report.report  # noqa: F401 (within the block, for its tables)
            from evenflow.pipelines.engine.files.driver import Run

        with reporter(result.log_format, sizes, result.quiet) as progress:
            observer = observing(progress.on_pane)
            observer.block = progress.on_block
            given = (inputs, result.output, config, result.workers, beam, result.standby, waits)
            return Run(*given, observer, session.debug, final, workers).go()

    return run_gate(session, gate, result, read, "nothing was read again", allow_empty)


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
    session: Session,
) -> int:
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
    beam = result.beam

    def read(config: Config, observing: Observing, workers: Executor) -> Outcome:
        # Imported here: it takes a while, which help and wrong usage need not wait for.
        from evenflow.pipelines.engine.topics.driver import Stream, StreamRun
        from evenflow.pipelines.engine.topics.publish import Topics
        from evenflow.pipelines.terminal.progress import JsonLines, Lines, Pace, Reporter
        from evenflow.transforms.kafka.settings import KafkaSettings

        publish = Topics(accepted_topic, dead_letter_topic)
        topics = [topic, *publish.names, *([config.kafka.proof_topic] if publish else [])]
        if len(set(topics)) < len(topics):
            text = f"each topic has one purpose; given are {', '.join(topics)}"
            raise options.wrong("--topic", text)
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
        given = (source, result.output, config, beam, result.workers, result.standby)
        return StreamRun(*given, observer, session.debug, workers).go()

    return run_gate(session, gate, result, read, "nothing new to read")
