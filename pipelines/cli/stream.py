"""`evenflow stream`: the gate on a Kafka topic."""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, flag, one_of, option
from evenflow.pipelines.cli.keys import DATA, PANES
from evenflow.pipelines.cli.lifecycle import run_gate
from evenflow.pipelines.cli.options import LlmOptions, ResultOptions, WorkersOption
from evenflow.pipelines.cli.runners import runner_options
from evenflow.pipelines.terminal.endings import Session
from evenflow.pipelines.terminal.lines import counted, event, visible

if TYPE_CHECKING:
    from evenflow.pipelines.cli.lifecycle import Observing
    from evenflow.pipelines.terminal.outcome import Outcome, PaneProgress
    from evenflow.schemas.config import Config

PUBLISHING = "Publishing"


@command(
    "evenflow stream --kafka localhost:9092 --topic docs --output out",
    "evenflow stream --kafka localhost:9092 --topic docs --output out --until-end",
    options=options.GATE,
    rare=f"{options.RARE} --max-panes --publish-from --values --dead-letter-topic"
    " --group --stereotypes --runner",
)
def stream(
    context: typer.Context,
    *,
    kafka: Annotated[str, option("HOST:PORT", "A broker.", panel=DATA)],
    topic: Annotated[str, option("NAME", "The topic.", panel=DATA)],
    values: Annotated[
        str, option("FORM", "json: objects; text: the key is the id.", panel=DATA)
    ] = "json",
    until_end: Annotated[
        bool, flag("Stop at the topic's end as of the start.", panel=DATA)
    ] = False,
    max_panes: Annotated[int | None, option("N", "Stop after N panes.", panel=DATA, min=1)] = None,
    gate: options.Selection,
    pane_seconds: Annotated[
        float, option("S", "Span of time of a pane.", panel=PANES, min=0.1)
    ] = 60.0,
    group: Annotated[
        str | None,
        option("NAME", "Consumer group that offsets are committed to.", panel=PUBLISHING),
    ] = None,
    accepted_topic: Annotated[
        str | None, option("NAME", "Publish accepted documents there.", panel=PUBLISHING)
    ] = None,
    dead_letter_topic: Annotated[
        str | None, option("NAME", "Publish dead letters there.", panel=PUBLISHING)
    ] = None,
    publish_from: Annotated[
        int | None,
        option("PANE", "First pane to publish, if no proof says it.", panel=PUBLISHING, min=0),
    ] = None,
    llm: LlmOptions,
    result: ResultOptions,
    workers: WorkersOption = 1,
    runner: Annotated[
        list[str] | None,
        option(
            "NAME", "in-process (default), prism, flink, spark, or an option of Beam; repeatable."
        ),
    ] = None,
) -> None:
    """Measure, judge and commit a Kafka topic, pane by pane.

    A pane is a span of time. If you run it again with the same output, it continues where it
    stopped.

    Exit status: 0 all panes are open or warn, 3 a pane is blocked, 2 wrong usage or configuration,
    1 failure.
    """
    one_of(values, ("json", "text"), "--values")
    arguments = runner_options(runner or [], workers)
    session: Session = context.obj

    def read(config: Config, observing: Observing) -> Outcome:
        if workers > 1:
            from evenflow.pipelines.engine.files import forks

            forks.start()
        # Imported here: it takes a while, which help and wrong usage need not wait for.
        from evenflow.pipelines.engine.stream.driver import Stream, StreamRun
        from evenflow.pipelines.engine.stream.publish import Topics
        from evenflow.transforms.kafka.settings import KafkaSettings

        publish = Topics(accepted_topic, dead_letter_topic)
        topics = [topic, *publish.names, *([config.kafka.proof_topic] if publish else [])]
        if len(set(topics)) < len(topics):
            raise typer.BadParameter(
                f"each topic has one purpose; given are {', '.join(topics)}",
                param_hint="'--topic'",
            )
        source = Stream(
            KafkaSettings(kafka, config.kafka.security),
            topic,
            pane_seconds=pane_seconds,
            values="text" if values == "text" else "json",
            until_end=until_end,
            max_panes=max_panes,
            group=group or ("evenflow" if publish else None),
            publish=publish,
            publish_from=publish_from,
        )
        observer = observing(partial(_show, session, result.quiet))
        standby, debug = result.standby, session.debug
        return StreamRun(
            source, result.output, config, arguments, workers, standby, observer, debug
        ).go()

    run_gate(session, gate, llm, result, read, "nothing new to read")


def _show(session: Session, quiet: bool, done: PaneProgress) -> None:
    """Print a line on standard error about a pane that was committed."""
    entry = done.entry
    if quiet or entry.stream is None:
        return
    lag = time.time() - entry.stream.span / 1000
    verdict = entry.verdict
    if session.json_lines:
        values = {
            "pane": entry.pane,
            "verdict": verdict.state,
            "reason": verdict.reason,
            "documents": entry.documents,
            "dead_letters": entry.dead,
            "seconds_since_its_start": round(lag, 3),
            "seconds_to_commit": round(done.seconds, 3),
            "dr": {name: each.cumulative.dr for name, each in entry.attributes.items()},
        }
        print(event("pane", values), file=sys.stderr, flush=True)
        return
    line = (
        f"pane {entry.pane}: {verdict.state} ({verdict.reason});"
        f" {counted(entry.documents, 'document')}, {counted(entry.dead, 'dead letter')},"
        f" {lag:.1f} s after its start"
    )
    print(visible(line), file=sys.stderr, flush=True)
