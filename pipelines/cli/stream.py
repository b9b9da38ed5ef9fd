"""`evenflow run --kafka`: the gate on a topic."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from evenflow.pipelines.terminal.endings import Session
from evenflow.pipelines.terminal.lines import event, visible

if TYPE_CHECKING:
    from evenflow.pipelines.files.driver import Outcome
    from evenflow.pipelines.panes.metrics_server import LiveMetrics
    from evenflow.schemas.config import Config
    from evenflow.schemas.ledger import PaneEntry

FLINK_SECONDS = 60  # that its job server may take to answer; a busy one takes some
BUILT_PRISM = Path("build/services/prism/prism")  # where `make prism` puts it


@dataclass(frozen=True)
class StreamOptions:
    """The options of `run` that are for a topic alone."""

    kafka: str
    topic: str | None
    group: str | None
    values: str
    pane_seconds: float
    until_end: bool
    max_panes: int | None
    runner: list[str]
    accepted_topic: str | None
    dead_letter_topic: str | None
    publish_from: int | None


def runner_options(names: list[str], until_end: bool) -> list[str]:
    """Options for Beam from --runner: prism, flink, in-process, or options as Beam has them, one
    each.

    Raises BadParameter.
    """
    if not names:
        names = ["in-process"] if until_end else ["prism"]
    if names == ["in-process"]:
        return []
    if names == ["prism"]:
        found = shutil.which("prism") or (str(BUILT_PRISM) if BUILT_PRISM.exists() else None)
        if found is None:
            raise typer.BadParameter(
                "no prism on the PATH; build it with `make prism` (Go)", param_hint="'--runner'"
            )
        return ["--runner=PrismRunner", f"--prism_location={found}", "--prism_log_level=warn"]
    if names == ["flink"]:
        where = ["--job_endpoint=localhost:8099", f"--job_server_timeout={FLINK_SECONDS}"]
        return ["--runner=PortableRunner", *where, "--environment_type=LOOPBACK"]
    if not all(name.startswith("--") for name in names):
        raise typer.BadParameter(
            "prism, flink, in-process, or Beam's own options (--runner=…)", param_hint="'--runner'"
        )
    return names


def run_stream(
    options: StreamOptions,
    output: Path,
    config: Config,
    session: Session,
    quiet: bool,
    metrics: LiveMetrics | None = None,
) -> tuple[Outcome, Path]:
    """Run the gate on a topic until its end, a stop or an error; the report's path. metrics: told
    of each pane.
    """
    if options.topic is None:
        raise typer.BadParameter("which topic?", param_hint="'--topic'")
    if options.values not in ("json", "text"):
        raise typer.BadParameter(
            f"{options.values!r} is neither json nor text", param_hint="'--values'"
        )
    arguments = runner_options(options.runner, options.until_end)
    # Imported here: Beam takes a second, which help and wrong usage need not wait for.
    from evenflow.pipelines.report.report import build
    from evenflow.pipelines.stream.driver import Stream, StreamRun
    from evenflow.pipelines.stream.publish import Topics
    from evenflow.transforms.kafka.settings import KafkaSettings

    publish = Topics(options.accepted_topic, options.dead_letter_topic)
    topics = [options.topic, *publish.names, *([config.kafka.proof_topic] if publish else [])]
    if len(set(topics)) < len(topics):
        raise typer.BadParameter(
            f"each topic has one purpose; given are {', '.join(topics)}", param_hint="'--topic'"
        )
    stream = Stream(
        KafkaSettings(options.kafka, config.kafka.security),
        options.topic,
        pane_seconds=options.pane_seconds,
        values="text" if options.values == "text" else "json",
        until_end=options.until_end,
        max_panes=options.max_panes,
        group=options.group or ("evenflow" if publish else None),
        publish=publish,
        publish_from=options.publish_from,
    )
    lines = _Lines(session, quiet)

    def on_pane(entry: PaneEntry, seconds: float) -> None:
        lines.on_pane(entry, seconds)
        if metrics is not None:
            metrics.committed(entry)

    run = StreamRun(
        stream, output, config, arguments, threading.Event(), on_pane, lines.on_note, session.debug
    )
    outcome = run.go()
    return outcome, build(output)


class _Lines:
    """A line a pane on standard error."""

    def __init__(self, session: Session, quiet: bool):
        self._session, self._quiet = session, quiet

    def on_pane(self, entry: PaneEntry, seconds: float) -> None:
        """A pane was committed."""
        if self._quiet or entry.stream is None:
            return
        lag = time.time() - entry.stream.span / 1000
        if self._session.json_lines:
            scores = {name: each.cumulative.dr for name, each in entry.attributes.items()}
            self._say(
                "pane",
                pane=entry.pane,
                verdict=entry.verdict.state,
                reason=entry.verdict.reason,
                documents=entry.documents,
                dead_letters=entry.dead,
                seconds_since_its_start=round(lag, 3),
                seconds_to_commit=round(seconds, 3),
                dr=scores,
            )
            return
        said = (
            f"pane {entry.pane}: {entry.verdict.state} ({entry.verdict.reason});"
            f" {entry.documents:,} documents"
        )
        print(
            visible(f"{said}, {entry.dead:,} dead letters, {lag:.1f} s after its start"),
            file=sys.stderr,
            flush=True,
        )

    def on_note(self, text: str) -> None:
        """Something that is worth knowing."""
        if self._session.json_lines:
            self._say("note", message=text)
        else:
            print(f"evenflow: {visible(text)}", file=sys.stderr, flush=True)

    def _say(self, kind: str, **values: Any) -> None:
        print(event(kind, values), file=sys.stderr, flush=True)
