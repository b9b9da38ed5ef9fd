"""`evenflow doctor`: what a gate lacks, before its first document."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import argument, command, option
from evenflow.pipelines.cli.runners import runner_options
from evenflow.pipelines.terminal.endings import printing
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.errors import USAGE
from evenflow.transforms.storage.storage import Storage

MARKS = {"fine": "ok", "note": "note", "missing": "MISSING"}


@command(
    "evenflow doctor evenflow.yaml --input corpus/ --output s3://bucket/out",
    "evenflow doctor --kafka localhost:9092 --topic docs --output out --json",
)
def doctor(
    config: Annotated[
        Path | None, argument("[CONFIG]", "The configuration; none: defaults.")
    ] = None,
    inputs: Annotated[
        list[str] | None, option("PATH", "Files, folders, globs; repeatable.", "--input", "-i")
    ] = None,
    output: Annotated[
        Storage | None, option("DIR", "Where results go.", "--output", "-o", parser=options.storage)
    ] = None,
    kafka: Annotated[str | None, option("HOST:PORT", "A broker.")] = None,
    topic: Annotated[str | None, option("NAME", "The topic read.")] = None,
    group: Annotated[str | None, option("NAME", "Consumer group.")] = None,
    accepted_topic: Annotated[
        str | None, option("NAME", "Accepted documents are published there.")
    ] = None,
    dead_letter_topic: Annotated[
        str | None, option("NAME", "Dead letters are published there.")
    ] = None,
    runner: Annotated[list[str] | None, option("NAME", "As for `evenflow stream`.")] = None,
    sets: options.SetOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Look whether all is there that a gate will need, before it reads a document.

    Packages, models, input, output (create once, rename, list, delete; clock; room), topics, group,
    transactions, language model, ports, notifications, the programs of rules, a runner's job
    server. What is written to try the output is deleted; nothing is sent to a topic.

    Exit status: 0 nothing is missing, 2 something is, 1 failure.
    """
    from evenflow.pipelines import doctor as looking
    from evenflow.schemas.config import load

    if (kafka is None) != (topic is None):
        raise typer.BadParameter("--kafka and --topic go together", param_hint="'--topic'")
    targets = [each for each in (accepted_topic, dead_letter_topic) if each is not None]
    planned = looking.Planned(
        load(config, sets=sets or ()),
        inputs or (),
        output,
        looking.Topic(kafka, topic, group, targets) if kafka and topic else None,
        runner_options(runner or []),
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
    raise typer.Exit(USAGE if any(each.state == "missing" for each in found) else 0)
