"""`evenflow doctor`: what a gate lacks, before its first document, and what it is set to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.endings import printing
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.errors import USAGE

if TYPE_CHECKING:
    from evenflow.schemas.config import Config

MARKS = {"fine": "ok", "note": "note", "missing": "MISSING"}


def doctor(
    *,
    selection: options.Selection,
    inputs: Sequence[str] = (),
    output: options.Output | None = None,
    kafka: str | None = None,
    topic: str | None = None,
    group: str | None = None,
    accepted_topic: str | None = None,
    dead_letter_topic: str | None = None,
    runner: Sequence[str] = (),
    print_: Literal["config", "alerts"] | None = None,
    estimate: Annotated[float, click.FloatRange(1)] | None = None,
    labelled: Path | None = None,
    as_json: bool = False,
) -> options.Shown | int:
    """Check inputs, outputs and services before a run.

    Packages, plug-ins, models, input, output (create once, rename, list, delete; clock; room),
    topics, group, transactions, language model (a question of each prompt), ports, the servers and
    programs of rules, a runner's job server. What is written to try the output is deleted; nothing
    is sent to a topic.

    Exit status: 0 nothing is missing, 2 something is, 1 failure.

    Args:
        inputs (PATH): Files, folders, globs; repeatable.
        output (DIR): Where results go.
        kafka (HOST:PORT): A broker.
        topic: The topic read.
        group: Consumer group.
        accepted_topic: Accepted documents are published there.
        dead_letter_topic: Dead letters are published there.
        print_: Only print every key with its meaning and value, or alert rules for Prometheus.
        estimate (SPEED): Only estimate, from a sample of --input, what a language model would be
            asked by the steps that are on (by all if none is), and its hours at so many tokens a
            second.
        labelled (FILE): Only ask the language model about labelled rows (sentence, attribute,
            label), and keep how often its yes is right: it removes stereotypes as far as that.

    Examples:
        evenflow doctor -c evenflow.yaml --input corpus/ --output s3://bucket/out
        evenflow doctor --kafka localhost:9092 --topic docs --output out --json
        evenflow doctor --print config > evenflow.yaml
        evenflow doctor --print alerts > evenflow.rules.yaml
        evenflow doctor --input corpus/ --estimate 2000
        evenflow doctor -c evenflow.yaml --labelled rows.jsonl
    """
    from evenflow.pipelines import doctor as looking

    config = selection.configuration()
    if print_ is not None:
        with printing():
            print(_printed(config, print_, as_json), end="")
        return 0
    if labelled is not None:
        from evenflow.pipelines.terminal import estimates
        from evenflow.transforms.measures.stereotypes.measured import measure

        return options.Shown(measure(config, labelled), estimates.draw_measured)
    if estimate is not None:
        from evenflow.pipelines.terminal import estimates
        from evenflow.transforms.repair.estimate import of_files

        found = of_files(options.sizes_of(inputs, config), config, estimate, options.note)
        return options.Shown(found, estimates.draw)
    if (kafka is None) != (topic is None):
        raise options.wrong("--topic", "--kafka and --topic go together")
    targets = [each for each in (accepted_topic, dead_letter_topic) if each is not None]
    read = looking.Topic(kafka, topic, group, targets) if kafka and topic else None
    planned = looking.Planned(config, inputs, output, read, options.runner_options(runner))
    seen: list[looking.Diagnosis] = []
    with printing():
        for each in looking.examine(planned):
            seen.append(each)
            if not as_json:
                print(f"{MARKS[each.state]:<8}{visible(f'{each.part}: {each.text}')}", flush=True)
        if not seen and not as_json:
            print("the configuration is valid; give --input, --output or --kafka to look at more")
        if as_json:
            print(json.dumps([asdict(each) for each in seen], indent=1))
    return USAGE if any(each.state == "missing" for each in seen) else 0


def _printed(config: Config, what: str, as_json: bool) -> str:
    """The configuration, or the rules of alerts, as text."""
    from evenflow.gates import alerts
    from evenflow.schemas.config import commented

    if what == "alerts":
        return alerts.rules(config)
    return json.dumps(config.model_dump(), indent=1) + "\n" if as_json else commented(config)
