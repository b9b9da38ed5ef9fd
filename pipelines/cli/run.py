"""`evenflow run`: the gate on files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenflow.gates.expectations.importing import uncollected
from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.cli.lifecycle import run_gate
from evenflow.pipelines.terminal.endings import Session

if TYPE_CHECKING:
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
    workers: options.Count = 1,
    runner: Sequence[str] = (),
    allow_empty: bool = False,
    session: Session,
) -> None:
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
    beam = options.runner_options(runner, workers)
    if beam and follow:
        raise options.wrong(
            "--follow", "a runner's job ends with its input; give --follow without --runner"
        )
    if final and follow:
        raise options.wrong("--final", "with --follow a file may grow; give one of them")
    if pane_seconds is not None and not follow:
        raise options.wrong("--pane-seconds", "it needs --follow")
    waits = (pane_seconds or FOLLOW_SECONDS) if follow else None

    def read(config: Config, observing: Observing) -> Outcome:
        if workers > 1:
            from evenflow.pipelines.engine import forks

            forks.start()
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
            given = (inputs, result.output, config, workers, beam, result.standby, waits)
            return Run(*given, observer, session.debug, final).go()

    run_gate(session, gate, result, read, "nothing was read again", allow_empty)
