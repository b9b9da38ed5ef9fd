"""The command line: which command is which function, and how a command ends (see endings)."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from evenflow.pipelines.cli import gate as cli_gate
from evenflow.pipelines.cli import lists as cli_lists
from evenflow.pipelines.cli import llm as cli_llm
from evenflow.pipelines.cli import run, text
from evenflow.pipelines.terminal.endings import Session, Stopped, failed, stoppable, stopped

DEBUG = "--debug"
HELP = """A data-quality gate for training data.

It measures how evenly documents name the groups of a protected attribute, judges them pane by pane, and accepts each
pane or sets it aside.
"""


def application() -> typer.Typer:
    """All commands."""
    # Plain help: boxes leave too few of 80 columns for the words. Tracebacks are dealt with in
    # main.
    settings = {
        "no_args_is_help": True,
        "rich_markup_mode": None,
        "pretty_exceptions_enable": False,
    }
    names = {"help_option_names": ["-h", "--help"]}
    app = typer.Typer(help=HELP, context_settings=names, add_completion=False, **settings)
    app.callback()(_common)
    app.command("run", epilog=run.EXAMPLES)(run.run)
    app.command("measure", epilog=text.MEASURE_EXAMPLES)(text.measure)
    app.command("explain", epilog=text.EXPLAIN_EXAMPLES)(text.explain)
    app.command("report", epilog=cli_gate.REPORT_EXAMPLES)(cli_gate.report)
    gate = typer.Typer(help="The state of a gate.", **settings)
    gate.command("status", epilog=cli_gate.STATUS_EXAMPLES)(cli_gate.gate_status)
    gate.command("hold", epilog=cli_gate.HOLD_EXAMPLES)(cli_gate.gate_hold)
    gate.command("release", epilog=cli_gate.RELEASE_EXAMPLES)(cli_gate.gate_release)
    app.add_typer(gate, name="gate")
    ledger = typer.Typer(help="The ledger of a run.", **settings)
    ledger.command("verify", epilog=cli_gate.VERIFY_EXAMPLES)(cli_gate.ledger_verify)
    ledger.callback()(lambda: None)  # a group, although it has one command
    app.add_typer(ledger, name="ledger")
    lists = typer.Typer(help="Word lists: those shipped, and yours.", **settings)
    lists.command("list", epilog=cli_lists.LIST_EXAMPLES)(cli_lists.wordlists_list)
    lists.command("show", epilog=cli_lists.SHOW_EXAMPLES)(cli_lists.wordlists_show)
    lists.command("check", epilog=cli_lists.CHECK_EXAMPLES)(cli_lists.wordlists_check)
    app.add_typer(lists, name="wordlists")
    llm = typer.Typer(help="The language model that a run may ask.", **settings)
    llm.command("check", epilog=cli_llm.CHECK_EXAMPLES)(cli_llm.llm_check)
    llm.callback()(lambda: None)  # a group, although it has one command
    app.add_typer(llm, name="llm")
    app.command("estimate", epilog=cli_llm.ESTIMATE_EXAMPLES)(cli_llm.estimate)
    config = typer.Typer(help="The configuration.", **settings)
    config.command("show", epilog=cli_lists.CONFIG_EXAMPLES)(cli_lists.config_show)
    config.callback()(lambda: None)  # a group, although it has one command
    app.add_typer(config, name="config")
    return app


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end with its status; arguments are those of the process unless given.
    Raises SystemExit.
    """
    _usable_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    session = Session(debug=DEBUG in _options(words))
    # Taken wherever it stands: who wants a traceback adds it at the end of the command.
    words = [word for word in _options(words) if word != DEBUG] + words[len(_options(words)) :]
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


def _version(wanted: bool) -> None:
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
    """What every command takes; main has looked at both before."""


def _options(words: Sequence[str]) -> Sequence[str]:
    """The words before --, after which nothing is an option."""
    return words[: words.index("--")] if "--" in words else words


def _usable_streams() -> None:
    """Any text can be printed, a path that is no UTF-8 too; a closed stream takes and loses it."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 (for the process)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
