"""`evenflow run`: the gate on files."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenflow.gates.expectations.importing import uncollected
from evenflow.pipelines.cli import llm as cli_llm
from evenflow.pipelines.cli import metrics as cli_metrics
from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.stream import StreamOptions, run_stream
from evenflow.pipelines.terminal.endings import BLOCKED, Session, logs, printing, tell
from evenflow.pipelines.terminal.lines import visible

if TYPE_CHECKING:
    from evenflow.pipelines.files.driver import Outcome, PaneProgress
    from evenflow.pipelines.panes.metrics_server import LiveMetrics
    from evenflow.schemas.config import Config

PROBE_SECONDS = 10.0  # that the language model has for the question before the run
KAFKA, REPAIR = "Kafka", "Repair"  # panels of the help
EXAMPLES = options.examples(
    "evenflow run --input 'corpus/*.jsonl.gz' --output out",
    "evenflow run --input corpus/ --output out --pane-docs 10000 --workers 4",
    "evenflow run --input a.parquet --output out --attribute gender --block 0.4",
    "evenflow run --input corpus/ --output out --mode substitute",
    "evenflow run --input corpus/ --output out --log-format json --json",
    "evenflow run --kafka localhost:9092 --topic docs --output out",
)
# Folders whose leftovers a run removes
FILES = ("accepted", "quarantine", "dead-letter", "sentences", "staged")


def run(
    context: typer.Context,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Directory for shards, ledger, checks and report."
        ),
    ],
    patterns: Annotated[
        list[str] | None,
        typer.Option(
            "--input", "-i", metavar="PATTERN", help="Path, folder or glob; may be repeated."
        ),
    ] = None,
    more: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATTERN", help="Further inputs: what the shell makes of a glob."),
    ] = None,
    config: options.ConfigOption = None,
    text_field: options.TextFieldOption = None,
    id_field: Annotated[
        str | None,
        typer.Option("--id-field", metavar="NAME", help="Field of the id.  [default: id]"),
    ] = None,
    attribute: options.AttributeOption = None,
    wordlist: options.WordlistOption = None,
    pane_docs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Documents a pane at most.")
    ] = None,
    pane_mib: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="MiB of records a pane at most.  [default: 64]"),
    ] = None,
    rolling: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Panes that a verdict looks back on.  [default: 4]"),
    ] = None,
    warn: Annotated[
        float | None, typer.Option(metavar="DR", help="Warn from this DR on.  [default: 0.25]")
    ] = None,
    block: Annotated[
        float | None, typer.Option(metavar="DR", help="Block from this DR on.  [default: 0.45]")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            help="After a blocked pane: quarantine (go on) or halt.  [default: quarantine]",
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            metavar="MODE",
            help=(
                "What is done about uneven groups: measure, substitute, augment or reweight. "
                " [default: measure]"
            ),
            rich_help_panel=REPAIR,
        ),
    ] = None,
    strictness: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Least confidence of a substitution, 0 to 1.  [default: 0.5]",
            rich_help_panel=REPAIR,
        ),
    ] = None,
    stereotypes: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            help=(
                "What is done about strong stereotypes: off, flag, remove or quarantine.  [default:"
                " off]"
            ),
            rich_help_panel=REPAIR,
        ),
    ] = None,
    encoder: options.EncoderOption = None,
    llm: cli_llm.LlmOption = None,
    llm_model: cli_llm.ModelOption = None,
    llm_key_env: cli_llm.KeyEnvOption = None,
    llm_key_file: cli_llm.KeyFileOption = None,
    llm_serve: cli_llm.ServeOption = None,
    llm_argument: cli_llm.ArgumentOption = None,
    workers: Annotated[
        int, typer.Option(min=1, metavar="N", help="Processes that read and annotate files.")
    ] = 1,
    kafka: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Read a topic instead of files.", rich_help_panel=KAFKA
        ),
    ] = None,
    topic: Annotated[
        str | None, typer.Option(metavar="NAME", help="The topic.", rich_help_panel=KAFKA)
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Commit offsets to this group, after the ledger.",
            rich_help_panel=KAFKA,
        ),
    ] = None,
    values: Annotated[
        str,
        typer.Option(
            metavar="FORM", help="json: objects; text: the key is the id.", rich_help_panel=KAFKA
        ),
    ] = "json",
    pane_seconds: Annotated[
        float,
        typer.Option(min=0.1, metavar="S", help="Span of time of a pane.", rich_help_panel=KAFKA),
    ] = 60.0,
    until_end: Annotated[
        bool,
        typer.Option(
            "--until-end", help="Stop at the end offsets of the start.", rich_help_panel=KAFKA
        ),
    ] = False,
    max_panes: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Stop after as many panes.", rich_help_panel=KAFKA),
    ] = None,
    runner: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="prism, flink, in-process (with --until-end), or Beam's options, one each.",
            rich_help_panel=KAFKA,
        ),
    ] = None,
    accepted_topic: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Publish accepted documents there.", rich_help_panel=KAFKA
        ),
    ] = None,
    dead_letter_topic: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Publish dead letters there.", rich_help_panel=KAFKA),
    ] = None,
    publish_from: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="PANE",
            help="First pane to publish, where no proof says it.",
            rich_help_panel=KAFKA,
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="Serve metrics to Prometheus at this port of 127.0.0.1; 0: a free one.",
        ),
    ] = None,
    log_format: Annotated[
        str,
        typer.Option(
            metavar="FORMAT", help="Progress on standard error: text or json, an object a line."
        ),
    ] = "text",
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress and no table; errors are still said.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON at the end.")
    ] = False,
) -> None:
    """Measure, judge and commit a corpus or a Kafka topic, pane by pane.

    Reads .jsonl, .jsonl.gz, .jsonl.zst, .parquet and .txt. Begun again on the same output it goes
    on where it was.

    Exit status: 0 all panes are open or warn, 3 a pane is blocked, 2 wrong usage or configuration,
    1 failure.
    """
    from evenflow.schemas.config import load

    session: Session = context.obj
    inputs = [*(patterns or ()), *(more or ())]
    if kafka is None and not inputs:
        raise typer.BadParameter(
            "give at least one path, folder or glob, or --kafka", param_hint="'--input'"
        )
    if kafka is not None and inputs:
        raise typer.BadParameter("files and --kafka exclude each other", param_hint="'--input'")
    for name, given in (("--workers", workers > 1), ("--pane-docs", pane_docs is not None)):
        if kafka is not None and given:
            raise typer.BadParameter(
                "it is for files: one process reads a topic, in panes of time",
                param_hint=f"'{name}'",
            )
    if log_format not in ("text", "json"):
        raise typer.BadParameter(
            f"{log_format!r} is neither text nor json", param_hint="'--log-format'"
        )
    session.json_lines = log_format == "json"
    overrides = options.given(
        fields__text=text_field,
        fields__id=id_field,
        pane__docs=pane_docs,
        pane__mib=pane_mib,
        pane__rolling=rolling,
        gate__warn=warn,
        gate__block=block,
        gate__policy=policy,
        repair__mode=mode,
        repair__strictness=strictness,
        stereotypes__policy=stereotypes,
        metrics__port=metrics_port,
    )
    key = cli_llm.key_of(llm_key_env, llm_key_file)
    with cli_llm.configured(llm, llm_model, key, llm_serve, llm_argument or ()) as asked:
        settings = load(config, {**overrides, **asked}, attribute or (), wordlist or ())
        _refuse_foreign(output)
        logs(session)
        if settings.llm.url is not None and settings.has_sentence_table:
            _meet(settings, session)
        elif asked:
            tell(
                "note",
                "the language model is asked nothing: neither --stereotypes nor --mode substitute"
                " or augment is on",
                0,
                session,
            )
        session.output, session.resumable = output, True
        with cli_metrics.served(settings, output, session, quiet) as metrics:
            if kafka is None:
                outcome, page = _run(inputs, output, settings, workers, session, quiet, metrics)
            else:
                given = StreamOptions(
                    kafka=kafka,
                    topic=topic,
                    group=group,
                    values=values,
                    pane_seconds=pane_seconds,
                    until_end=until_end,
                    max_panes=max_panes,
                    runner=runner or [],
                    accepted_topic=accepted_topic,
                    dead_letter_topic=dead_letter_topic,
                    publish_from=publish_from,
                )
                outcome, page = run_stream(given, output, settings, session, quiet, metrics)
    session.resumable = False
    _report(
        outcome,
        output,
        page,
        quiet,
        as_json,
        "nothing was read again" if kafka is None else "nothing new to read",
    )
    if outcome.halted:
        tell("held", "\n".join(held(outcome, output)), BLOCKED, session)
    raise typer.Exit(BLOCKED if outcome.halted or outcome.entries.totals.blocked_panes else 0)


def _meet(settings: Config, session: Session) -> None:
    """See that the language model is there before anything is read, and say so where it does not
    answer a question.

    Raises InferenceError where no server is there.
    """
    from evenflow.prompts import loader as prompts
    from evenflow.transforms.llm.client import check
    from evenflow.transforms.llm.client.client import Client
    from evenflow.transforms.llm.client.server import describe
    from evenflow.transforms.llm.worker import settings as server

    asked = server(settings)
    describe(asked)
    with Client(replace(asked, deadline=min(asked.deadline, PROBE_SECONDS))) as client:
        [found] = check.check(client, prompts.names()[:1])
    if not found.is_sound:
        said = (
            f"{asked.url}: the language model left the first question unanswered ({found.reason}); "
        )
        tell(
            "note",
            said + "where it does so again, the embedded model answers in its place",
            0,
            session,
        )


def _run(
    inputs: list[str],
    output: Path,
    settings: Config,
    workers: int,
    session: Session,
    quiet: bool,
    metrics: LiveMetrics | None = None,
) -> tuple[Outcome, Path]:
    """The run with its progress, and the report's path."""
    if workers > 1:
        from evenflow.pipelines.files import forks

        forks.start()
    # Imported here: Beam takes a second, which help and wrong usage need not wait for.
    with uncollected():
        from evenflow.pipelines.terminal.progress import reporter
        from evenflow.transforms.io import files

        sizes = files.match(inputs)
        from evenflow.pipelines.files.driver import Run
        from evenflow.pipelines.report.report import build

    with reporter("json" if session.json_lines else "text", sizes, quiet) as progress:

        def on_pane(done: PaneProgress) -> None:
            progress.on_pane(done)
            if metrics is not None:
                metrics.committed(done.entry, (done.input_bytes, done.total_bytes))
            session.go_on()

        def on_note(text: str) -> None:
            tell("note", text, 0, session)

        outcome = Run(inputs, output, settings, workers, on_pane, progress.on_block, on_note).go()
        session.go_on()
    return outcome, build(output)


def _report(
    outcome: Outcome, output: Path, page: Path, quiet: bool, as_json: bool, nothing: str
) -> None:
    from evenflow.pipelines.terminal import summaries, tables

    status = summaries.status(outcome.entries.totals, not outcome.halted, outcome.held)
    with printing():
        if as_json:
            extra = {"output": str(output), "report": str(page), "new_panes": outcome.new}
            print(json.dumps(status | extra, indent=1))
        elif not quiet:
            if not outcome.new and not outcome.halted:
                print(f"{visible(str(output))} is finished; {nothing}.")
            tables.gate(status)
            for line in summaries.left_in(outcome.entries):
                print(line)
            print(f"report: {visible(str(page))}")


def held(outcome: Outcome, output: Path) -> list[str]:
    """What a user needs of a gate that is held: why, at which pane, where its documents are, and
    how to go on.
    """
    said = [f"stopped before the end of the input: {outcome.held}"]
    entry = outcome.entries[-1] if outcome.entries else None
    if entry is not None and entry.folder == "quarantine":
        first, last = entry.source[0], entry.source[-1]
        until = (
            f"record {last.last}" if last.file == first.file else f"{last.file}, record {last.last}"
        )
        said.append(
            f"pane {entry.pane} is {first.file}, record {first.first} to {until}; it was set aside"
            f" in {output / 'quarantine'}"
        )
    return [
        *said,
        (
            f"to go on behind it: evenflow gate release {shlex.quote(str(output))} --reason '…',"
            " then the same command again"
        ),
        "to try again: mend the input or the configuration, and give a new --output",
    ]


def _refuse_foreign(output: Path) -> None:
    """A run clears leftovers from its folders: it must not find another's files there."""
    if (output / "ledger").is_dir():
        return
    for name in FILES:
        if (output / name).is_dir() and any((output / name).iterdir()):
            raise typer.BadParameter(
                f"{output} has a folder {name} with files in it but no ledger: it is no run's"
                " output. Give an empty or new directory",
                param_hint="'--output'",
            )
