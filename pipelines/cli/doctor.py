"""`evenflow doctor`: what a gate lacks, before its first document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from click.exceptions import Exit

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.cli.options import runner_options
from evenflow.pipelines.terminal.endings import printing
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.errors import USAGE

MARKS = {"fine": "ok", "note": "note", "missing": "MISSING"}


@command(
    "evenflow doctor evenflow.yaml --input corpus/ --output s3://bucket/out",
    "evenflow doctor --kafka localhost:9092 --topic docs --output out --json",
)
def doctor(
    config: Path | None = None,
    *,
    inputs: Sequence[str] = (),
    output: options.Output | None = None,
    kafka: str | None = None,
    topic: str | None = None,
    group: str | None = None,
    accepted_topic: str | None = None,
    dead_letter_topic: str | None = None,
    runner: Sequence[str] = (),
    values: options.Values,
    as_json: bool = False,
) -> None:
    """Check inputs, outputs and services before a run.

    Packages, models, input, output (create once, rename, list, delete; clock; room), topics, group,
    transactions, language model, ports, the servers and programs of rules, a runner's job
    server. What is written to try the output is deleted; nothing is sent to a topic.

    Exit status: 0 nothing is missing, 2 something is, 1 failure.

    Args:
        config (CONFIG): The configuration; none: defaults.
        inputs (PATH): Files, folders, globs; repeatable.
        output (DIR): Where results go.
        kafka (HOST:PORT): A broker.
        topic: The topic read.
        group: Consumer group.
        accepted_topic: Accepted documents are published there.
        dead_letter_topic: Dead letters are published there.
        runner: As for `evenflow stream`.
    """
    from evenflow.pipelines import doctor as looking
    from evenflow.schemas.config import load

    if (kafka is None) != (topic is None):
        raise options.wrong("--topic", "--kafka and --topic go together")
    targets = [each for each in (accepted_topic, dead_letter_topic) if each is not None]
    planned = looking.Planned(
        load(config, sets=values.sets),
        inputs,
        output,
        looking.Topic(kafka, topic, group, targets) if kafka and topic else None,
        runner_options(runner),
    )
    found: list[looking.Diagnosis] = []
    with printing():
        for each in looking.examine(planned):
            found.append(each)
            if not as_json:
                print(f"{MARKS[each.state]:<8}{visible(f'{each.part}: {each.text}')}", flush=True)
        if not found and not as_json:
            print("the configuration is valid; give --input, --output or --kafka to look at more")
        if as_json:
            print(json.dumps([asdict(each) for each in found], indent=1))
    raise Exit(USAGE if any(each.state == "missing" for each in found) else 0)
