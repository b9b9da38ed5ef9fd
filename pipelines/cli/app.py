"""The command line: which command is which function, and how a command ends (see endings)."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, NoReturn

import typer
from typer.core import TyperGroup

from evenflow.pipelines.cli import (
    alerts,
    bias_score,
    coverage,
    doctor,
    estimate,
    explain,
    init,
    measure,
    metrics,
    pruning,
    run,
    stream,
)
from evenflow.pipelines.cli import board as cli_board
from evenflow.pipelines.cli import card as cli_card
from evenflow.pipelines.cli import compare as cli_compare
from evenflow.pipelines.cli import export as cli_export
from evenflow.pipelines.cli import gate as cli_gate
from evenflow.pipelines.cli import llm as cli_llm
from evenflow.pipelines.cli import plugins as cli_plugins
from evenflow.pipelines.cli import trigger as cli_trigger
from evenflow.pipelines.cli.commands import PanelCommand, options_of
from evenflow.pipelines.cli.lab import benchmark as cli_benchmark
from evenflow.pipelines.cli.lab import coverage_generate, coverage_plan, drafts
from evenflow.pipelines.cli.lab import experiment as cli_experiment
from evenflow.pipelines.cli.lab import finetune as cli_finetune
from evenflow.pipelines.cli.lab import lists as cli_lists
from evenflow.pipelines.cli.lab import mine as cli_mine
from evenflow.pipelines.cli.lab import word_lists as cli_word_lists
from evenflow.pipelines.terminal.endings import Session, Stopped, failed, stoppable, stopped

DEBUG = "--debug"
HELP = """A data-quality gate for training data.

It measures how evenly documents name the groups of a protected attribute, judges them pane by pane,
and accepts each pane or sets it aside.
"""

CONFIG = "The configuration: every key with its meaning, and the plug-ins that it may name."
GATE = "The state of a gate, what it has accepted, and decisions about it."
# The words of earlier versions, which still work in this one
OLD = {
    ("ledger", "verify"): "gate verify",
    ("ledger", "export"): "gate ledger",
    ("alerts", "rules"): "gate alerts",
    ("estimate",): "llm estimate",
    ("wordlists",): "words",
    **{
        (word,): f"gate {word}"
        for word in ("ls", "export", "card", "report", "board", "metrics", "trigger")
    },
    **{
        (word,): f"lab {word}"
        for word in ("mine", "finetune", "benchmark", "experiment", "bias-score")
    },
}


def application() -> typer.Typer:
    """Declare all commands.

    Returns:
        The application; calling it runs a command.
    """
    # Plain help: boxes leave too few of 80 columns for the words. Tracebacks are dealt with in
    # main.
    settings = {
        "no_args_is_help": True,
        "rich_markup_mode": None,
        "pretty_exceptions_enable": False,
    }
    names = {"help_option_names": ["-h", "--help"]}
    app = typer.Typer(help=HELP, context_settings=names, add_completion=True, **settings)
    app.callback()(_common)

    def group(
        name: str, text: str, parent: typer.Typer = app, cls: type[TyperGroup] | None = None
    ) -> typer.Typer:
        below = typer.Typer(help=text, cls=cls, **settings)
        below.callback()(lambda: None)  # so that it stays a group where it has one command
        parent.add_typer(below, name=name)
        return below

    def add(
        name: str,
        function: Callable[..., None],
        examples: str,
        parent: typer.Typer = app,
        cls: type[PanelCommand] = PanelCommand,
    ) -> None:
        parent.command(name, cls=cls, epilog=examples)(function)

    add("init", init.init, init.EXAMPLES)
    add("doctor", doctor.doctor, doctor.EXAMPLES)
    add("run", run.run, run.EXAMPLES, cls=run.RunCommand)
    add("stream", stream.stream, stream.EXAMPLES, cls=stream.StreamCommand)
    add("measure", measure.measure, measure.EXAMPLES)
    add("compare", cli_compare.compare, cli_compare.EXAMPLES)
    add("explain", explain.explain, explain.EXAMPLES)
    config = group("config", CONFIG)
    add("show", cli_lists.config_show, cli_lists.CONFIG_EXAMPLES, config)
    add("plugins", cli_plugins.plugins, cli_plugins.EXAMPLES, config)
    gate = group("gate", GATE)
    add("status", cli_gate.gate_status, cli_gate.STATUS_EXAMPLES, gate)
    add("why", cli_gate.gate_why, cli_gate.WHY_EXAMPLES, gate)
    add("hold", cli_gate.gate_hold, cli_gate.HOLD_EXAMPLES, gate)
    add("release", cli_gate.gate_release, cli_gate.RELEASE_EXAMPLES, gate)
    add("accept", cli_gate.gate_accept, cli_gate.ACCEPT_EXAMPLES, gate)
    add("reject", cli_gate.gate_reject, cli_gate.REJECT_EXAMPLES, gate)
    add("undo", cli_gate.gate_undo, cli_gate.UNDO_EXAMPLES, gate)
    add("ls", cli_gate.ls, cli_gate.LS_EXAMPLES, gate)
    add("report", cli_gate.report, cli_gate.REPORT_EXAMPLES, gate)
    add("board", cli_board.board, cli_board.EXAMPLES, gate)
    add("metrics", metrics.metrics, metrics.EXAMPLES, gate)
    add("alerts", alerts.rules, alerts.EXAMPLES, gate)
    add("verify", cli_gate.ledger_verify, cli_gate.VERIFY_EXAMPLES, gate)
    add("ledger", pruning.ledger_export, pruning.EXPORT_EXAMPLES, gate)
    add("export", cli_export.export, cli_export.EXAMPLES, gate)
    add("card", cli_card.card, cli_card.EXAMPLES, gate)
    add("prune", pruning.gate_prune, pruning.PRUNE_EXAMPLES, gate)
    rules = group("trigger", cli_trigger.HELP, gate)
    add("list", cli_trigger.trigger_list, cli_trigger.LIST_EXAMPLES, rules)
    add("run", cli_trigger.trigger_run, cli_trigger.RUN_EXAMPLES, rules)
    add("history", cli_trigger.trigger_history, cli_trigger.HISTORY_EXAMPLES, rules)
    lists = group("words", "Word lists: those shipped, and yours.")
    add("list", cli_lists.wordlists_list, cli_lists.LIST_EXAMPLES, lists)
    add("show", cli_lists.wordlists_show, cli_lists.SHOW_EXAMPLES, lists)
    add("check", cli_lists.wordlists_check, cli_lists.CHECK_EXAMPLES, lists)
    add("complete", cli_word_lists.complete, cli_word_lists.COMPLETE_EXAMPLES, lists)
    add("compare", cli_word_lists.compare, cli_word_lists.COMPARE_EXAMPLES, lists)
    add("generate", drafts.generate, drafts.GENERATE_EXAMPLES, lists)
    add("review", drafts.review, drafts.REVIEW_EXAMPLES, lists)
    add("finish", drafts.finish, drafts.FINISH_EXAMPLES, lists)
    meetings = group("coverage", coverage.HELP, cls=coverage.CoverageGroup)
    add(coverage.GAPS, coverage.gaps, coverage.EXAMPLES, meetings)
    add("plan", coverage_plan.plan, coverage_plan.EXAMPLES, meetings)
    add("generate", coverage_generate.generate, coverage_generate.EXAMPLES, meetings)
    llm = group("llm", "The language model that a run may ask.")
    add("check", cli_llm.llm_check, cli_llm.CHECK_EXAMPLES, llm)
    add("estimate", estimate.estimate, estimate.EXAMPLES, llm)
    lab = group("lab", "The laboratory: mine sentences, train and measure models.")
    add("mine", cli_mine.mine, cli_mine.EXAMPLES, lab)
    add("finetune", cli_finetune.finetune, cli_finetune.EXAMPLES, lab)
    add("benchmark", cli_benchmark.benchmark, cli_benchmark.EXAMPLES, lab)
    add("experiment", cli_experiment.experiment, cli_experiment.EXAMPLES, lab)
    leaning = group("bias-score", "What the neutral words of sentences lean to.", lab)
    add("direction", bias_score.direction, bias_score.DIRECTION_EXAMPLES, leaning)
    add("reference", bias_score.reference, bias_score.REFERENCE_EXAMPLES, leaning)
    return app


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end with its status.

    Args:
        arguments: The words after the program's name; None for those of the process.

    Raises:
        SystemExit: Always, with the exit status.
    """
    _usable_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    session = Session(debug=DEBUG in options_of(words))
    # Taken wherever it stands: a user who wants a traceback adds it at the end of the command.
    first = options_of(words)
    words = [word for word in first if word != DEBUG] + words[len(first) :]
    words = present(words)
    try:
        with stoppable(session):
            application()(words, prog_name="evenflow", obj=session)
    except (Stopped, Exception) as error:
        if session.signal is not None or not isinstance(error, Exception):
            stopped(session.signal or signal.SIGINT, session)
        sys.exit(failed(error, session))
    finally:
        # The end of the process looks through all objects otherwise, for a part of a second
        gc.freeze()
    sys.exit(0)


def present(words: list[str]) -> list[str]:
    """Replace words of earlier versions, and name the present ones on standard error.

    Args:
        words: The words after the program's name.

    Returns:
        The words that this version knows.
    """
    for size in (2, 1):
        if new := OLD.get(tuple(words[:size])):
            old = " ".join(words[:size])
            print(f"evenflow: `evenflow {old}` is `evenflow {new}` now", file=sys.stderr)
            return [*new.split(), *words[size:]]
    return words


def _version(wanted: bool) -> None:
    """Print the version and end, where it was asked for."""
    if wanted:
        from importlib.metadata import version  # it loads a parser of mails

        print(f"evenflow {version('evenflow')}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option(DEBUG, help="Show the traceback of an error; with any command.")
    ] = False,
) -> None:
    """Accept the options of every command; main has already read --debug."""


def _usable_streams() -> None:
    """Make any text printable, also a path that is not UTF-8; a closed stream drops its output."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 (for the process)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
