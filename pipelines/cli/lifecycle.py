"""What `evenflow run` and `evenflow stream` share: checks before a gate runs, and its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from textwrap import wrap
from typing import TYPE_CHECKING

from evenflow.gates.expectations.importing import uncollected
from evenflow.pipelines.cli.options import ResultOptions, Selection
from evenflow.pipelines.terminal.endings import BLOCKED, Session, empty, logs, report_event, show
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.errors import FAILED

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from evenflow.gates.facts import Answer
    from evenflow.gates.triggers import ActionOutcome
    from evenflow.pipelines.metrics.watching import Watched
    from evenflow.pipelines.terminal.outcome import Observer, Outcome, PaneProgress
    from evenflow.schemas.config import Config
    from evenflow.transforms.storage.storage import Storage

    # Reads the input under a configuration; an observer shows panes with the given function
    Observing = Callable[[Callable[[PaneProgress], None]], Observer]
    Read = Callable[[Config, Observing, Executor], Outcome]


def run_gate(
    session: Session,
    gate: Selection,
    result: ResultOptions,
    read: Read,
    nothing_new: str,
    allow_empty: bool = True,
) -> int:
    """Run a gate from its options to the command's end; its exit status."""
    session.json_lines = result.log_format == "json"
    from evenflow.pipelines.engine.panes.output import refuse_foreign

    config = gate.configuration()
    refuse_foreign(result.output)
    logs(session)
    for text in _before(config, result.quiet):
        session.note(text)
    session.output, session.resumable = result.output, True
    with uncollected():
        from evenflow.pipelines.engine.loop import pool
    # Workers begin before there are threads that serve metrics or act on triggers
    with pool(result.workers) as workers, _serving_metrics(config, result, session) as metrics:

        def observing(show: Callable[[PaneProgress], None]) -> Observer:
            return _observer(session, metrics, show)

        with _acting(result.output, config, session) as acted:
            outcome = read(config, observing, workers)
        session.go_on()
        from evenflow.pipelines.pages.report.report import build

        page = build(result.output)
    session.resumable = False
    train = _print_result(outcome, page, result, config, nothing_new)
    if outcome.halted:
        report_event(
            "held", "\n".join(advice(outcome, result.output, train.next or "")), BLOCKED, session
        )
    failed = [each for each in acted if each.outcome == "failed"]
    for each in failed:
        text = f"trigger {each.rule}, pane {each.pane}: {each.message}"
        report_event("trigger", text, FAILED, session)
    refused = ""
    if config.llm.url is not None:
        from evenflow.pipelines.engine.panes import llm_server

        refused = llm_server.refused(outcome, config)
    if refused:
        report_event("llm", refused, FAILED, session)
    if outcome.unread is not None:
        report_event("unread", outcome.unread, BLOCKED, session)
    if not train.may or outcome.unread is not None:
        return BLOCKED
    if not outcome.entries.totals.documents and not allow_empty:
        return empty(session)
    return FAILED if failed or refused else 0


def _before(config: Config, quiet: bool) -> Iterator[str]:
    """What a user should know before anything is read; `quiet`: where something is wrong."""
    if config.llm.url is not None and config.has_sentence_table:
        from evenflow.pipelines.engine.panes import llm_server

        yield from llm_server.probe(config)
        yield from () if quiet else (llm_server.budget(config),)
    elif config.llm.url is not None:
        yield "the language model is asked nothing: neither repair nor stereotypes are on"
    if not quiet and config.changes_sentences:
        from evenflow.transforms.substitution import reading

        yield from reading.promises(config)


def _acting(
    output: Storage, config: Config, session: Session
) -> AbstractContextManager[Sequence[ActionOutcome]]:
    """What acts on triggers beside a run, loaded where there are any."""
    if not config.triggers:
        return nullcontext(())
    from evenflow.pipelines.triggers.worker import acting

    return acting(output, config, session.note)


def _observer(
    session: Session, metrics: Watched | None, show: Callable[[PaneProgress], None]
) -> Observer:
    """What prints notes, and shows panes and tells metrics about them."""
    from evenflow.pipelines.terminal.outcome import Observer

    def pane(done: PaneProgress) -> None:
        show(done)
        if metrics is not None:
            metrics.committed(done)
        session.go_on()

    out = Observer(pane, session.note)
    if metrics is not None:
        out.backlog, out.health = metrics.look_at_topic, metrics.health
    return out


def advice(outcome: Outcome, output: Storage, step: str) -> list[str]:
    """What a user of a held gate needs to know."""
    from evenflow.gates.facts import steps

    lines = [f"stopped before the end of the input: {outcome.held}"]
    entry = outcome.entries[-1] if outcome.entries else None
    if entry is not None and entry.folder == "quarantine":
        first, last = entry.source[0], entry.source[-1]
        other = "" if last.file == first.file else f"{last.file}, "
        lines.append(
            f"pane {entry.pane} is {first.file}, record {first.first} to {other}record {last.last};"
            f" it was set aside in {output.address('quarantine')}"
        )
    return [*lines, *steps(step)]


@contextmanager
def _serving_metrics(
    config: Config, result: ResultOptions, session: Session
) -> Iterator[Watched | None]:
    """Serve metrics within the block where a port is configured, and print their address.

    Raises ConfigError for a port that cannot be had.
    """
    if config.metrics.port is None:
        yield None
        return
    from evenflow.pipelines.metrics.serving import serving
    from evenflow.pipelines.metrics.watching import Watched

    metrics = Watched(result.output, config)
    with serving([metrics], config.metrics.host, config.metrics.port) as address:
        if not result.quiet:
            report_event("metrics", f"metrics at {address}", 0, session)
        yield metrics


def _print_result(
    outcome: Outcome, page: str, result: ResultOptions, config: Config, nothing_new: str
) -> Answer:
    """Print the state of the gate as a table or as JSON, and answer whether one may train."""
    from evenflow.gates import facts
    from evenflow.pipelines.terminal import summaries, tables

    found, as_json = summaries.of_run(outcome, result.output, page, config)

    def draw(_: object) -> None:
        if not outcome.new and not outcome.halted and outcome.entries:
            print(f"{visible(str(result.output))} is finished; {nothing_new}.")
        off = [each for each in as_json["exchanges"] if each.startswith("off ")]
        said = wrap("; ".join(each.partition(";")[0] for each in off), tables.WIDTH)
        most = tables.MOST - len(said)
        tables.gate(found, result.output, list(facts.notes(outcome.entries)), most)
        print(*said, f"report: {visible(page)}", sep="\n")

    if result.as_json or not result.quiet:
        show(as_json, result.as_json, draw)
    return found.train
