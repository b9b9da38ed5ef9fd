"""`evenflow run`: the gate on files."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenflow.gates.expectations.importing import uncollected
from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import (
    PanelCommand,
    argument,
    command,
    flag,
    option,
    options_of,
)
from evenflow.pipelines.cli.keys import DATA, PANES, RESULT
from evenflow.pipelines.cli.lifecycle import run_gate
from evenflow.pipelines.cli.metrics import deliver, gateway_address
from evenflow.pipelines.cli.options import LlmOptions, ResultOptions
from evenflow.pipelines.cli.runners import runner_options
from evenflow.pipelines.terminal.endings import Session

if TYPE_CHECKING:
    from evenflow.pipelines.cli.lifecycle import Observing
    from evenflow.pipelines.terminal.outcome import Outcome
    from evenflow.schemas.config import Config

FOLLOW_SECONDS = 60.0  # without a change, before a pane that is not full is committed


class RunCommand(PanelCommand):
    """The command, which answers its earlier spelling for topics with the present one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line.

        Args:
            ctx: Click's context of the command.
            args: The words after the command's name.

        Returns:
            The words that are left.

        Raises:
            typer.BadParameter: --kafka is among the options.
        """
        if any(word == "--kafka" or word.startswith("--kafka=") for word in options_of(args)):
            raise typer.BadParameter(
                f"a topic has a command of its own:\n  {shlex.join(['evenflow', 'stream', *args])}",
                ctx=ctx,
                param_hint="'--kafka'",
            )
        return super().parse_args(ctx, args)


@command(
    "evenflow run --input 'corpus/*.jsonl.gz' --output out",
    "evenflow run --input corpus/ --output out --pane-docs 10000 --workers 4",
    "evenflow run --input a.parquet --output out --attribute gender --block 0.4",
    "evenflow run --input corpus/ --output out --mode substitute",
    "evenflow run --input corpus/ --output out --follow",
    "evenflow run --input 's3://b/*.parquet' --output s3://b/out --runner flink",
    "evenflow run --input corpus/ --output out --set gate.warn=0.2 --json",
    options=(*options.GATE, "pane.docs"),
    cls=RunCommand,
    rare=f"{options.RARE} --pane-seconds --metrics-file --push-gateway --allow-empty",
)
def run(
    context: typer.Context,
    patterns: Annotated[
        list[str] | None,
        option("PATTERN", "Path, folder or glob; repeatable.", "--input", "-i", panel=DATA),
    ] = None,
    more: Annotated[
        list[str] | None,
        argument("PATTERN", "More inputs, such as the files of a glob.", panel=DATA),
    ] = None,
    *,
    gate: options.Selection,
    follow: Annotated[bool, flag("Go on with what is added, until stopped.", panel=DATA)] = False,
    pane_seconds: Annotated[
        float | None,
        option(
            "S",
            "With --follow: commit a pane that is not full after S seconds without a change. "
            f" [default: {FOLLOW_SECONDS:.0f}]",
            panel=PANES,
            min=0.1,
        ),
    ] = None,
    llm: LlmOptions,
    result: ResultOptions,
    workers: options.WorkersOption = 1,
    metrics_file: Annotated[
        Path | None,
        option("FILE", "Write the metrics there at the end, for node_exporter.", panel=RESULT),
    ] = None,
    push_gateway: Annotated[
        str | None,
        option(
            "URL",
            "Push the metrics to this Pushgateway at the end.",
            panel=RESULT,
            parser=gateway_address,
        ),
    ] = None,
    allow_empty: options.AllowEmptyOption = False,
    runner: Annotated[
        list[str] | None,
        option(
            "NAME", "in-process (default), flink, spark, prism, or an option of Beam; repeatable."
        ),
    ] = None,
) -> None:
    """Measure, judge and commit a corpus, pane by pane.

    Reads .jsonl, .jsonl.gz, .jsonl.zst, .csv, .parquet, .warc, .warc.gz and .txt. If you run it
    again with the same output, it continues where it stopped. It also reads what was added since:
    new files, and what was appended to files. With --follow it does so until it is stopped.

    Exit status: 0 no pane is blocked, 3 a pane is blocked or there was no document, 2 wrong usage
    or configuration, 1 failure.
    """
    inputs = [*(patterns or ()), *(more or ())]
    if not inputs:
        raise typer.BadParameter("give at least one path, folder or glob", param_hint="'--input'")
    session: Session = context.obj

    beam = runner_options(runner or [], workers)
    if beam and follow:
        raise typer.BadParameter(
            "a runner's job ends with its input; give --follow without --runner",
            param_hint="'--follow'",
        )
    if pane_seconds is not None and not follow:
        raise typer.BadParameter("it needs --follow", param_hint="'--pane-seconds'")
    waits = (pane_seconds or FOLLOW_SECONDS) if follow else None

    def read(config: Config, observing: Observing) -> Outcome:
        outcome = _read(inputs, config, workers, beam, waits, session, result, observing)
        deliver(result.output, metrics_file, push_gateway, session)
        return outcome

    run_gate(session, gate, llm, result, read, "nothing was read again", allow_empty)


def _read(
    inputs: list[str],
    config: Config,
    workers: int,
    beam: list[str],
    follow: float | None,
    session: Session,
    result: ResultOptions,
    observing: Observing,
) -> Outcome:
    """Run the gate on files, with its progress on standard error."""
    if workers > 1:
        from evenflow.pipelines.engine.files import forks

        forks.start()
    # Imported here: it takes a while, which help and wrong usage need not wait for.
    with uncollected():
        from evenflow.pipelines.terminal.progress import reporter
        from evenflow.transforms.io import files

        sizes = files.match(inputs) if follow is None else {}
        import evenflow.pipelines.pages.report.report  # noqa: F401 (within the block, for its tables)
        from evenflow.pipelines.engine.files.driver import Run

    with reporter(result.log_format, sizes, result.quiet) as progress:
        observer = observing(progress.on_pane)
        observer.block = progress.on_block
        standby, debug = result.standby, session.debug
        return Run(
            inputs, result.output, config, workers, beam, standby, follow, observer, debug
        ).go()
