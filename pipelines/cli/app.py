"""The command line: which command is which function, and how a command ends (see endings)."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from evenflow.pipelines.cli.commands import built, options_of
from evenflow.pipelines.terminal.endings import Session, Stopped, failed, stoppable, stopped

DEBUG = "--debug"
HELP = """A data-quality gate for training data.

It measures how evenly documents name the groups of a protected attribute, judges them pane by pane,
and accepts each pane or sets it aside.
"""
# The words of a command, and the function that it is: of a module of this room, which is imported
# when the command is asked for
WORDS = {
    "init": "init:init",
    "doctor": "doctor:doctor",
    "run": "run:run",
    "stream": "stream:stream",
    "measure": "measure:measure",
    "compare": "measure:compare",
    "explain": "explain:explain",
    "config show": "config:config_show",
    "config plugins": "config:plugins",
    "gate status": "gate:gate_status",
    "gate why": "gate:gate_why",
    "gate hold": "gate:gate_hold",
    "gate release": "gate:gate_release",
    "gate accept": "gate:gate_accept",
    "gate reject": "gate:gate_reject",
    "gate undo": "gate:gate_undo",
    "gate ls": "gate:ls",
    "gate report": "gate:report",
    "gate board": "board:board",
    "gate metrics": "metrics:metrics",
    "gate alerts": "metrics:rules",
    "gate verify": "gate:ledger_verify",
    "gate ledger": "pruning:ledger_export",
    "gate export": "export:export",
    "gate card": "export:card",
    "gate prune": "pruning:gate_prune",
    "gate trigger list": "trigger:trigger_list",
    "gate trigger run": "trigger:trigger_run",
    "gate trigger history": "trigger:trigger_history",
    "words list": "lab.word_lists:wordlists_list",
    "words show": "lab.word_lists:wordlists_show",
    "words check": "lab.word_lists:wordlists_check",
    "words complete": "lab.word_lists:complete",
    "words compare": "lab.word_lists:compare",
    "words generate": "lab.drafts:generate",
    "words review": "lab.drafts:review",
    "words finish": "lab.drafts:finish",
    "coverage gaps": "coverage:gaps",
    "coverage plan": "lab.coverage:plan",
    "coverage generate": "lab.coverage:generate",
    "llm check": "llm:llm_check",
    "llm estimate": "llm:estimate",
    "lab mine": "lab.mine:mine",
    "lab finetune": "lab.finetune:finetune",
    "lab promote": "lab.finetune:promote",
    "lab benchmark": "lab.benchmark:benchmark",
    "lab experiment": "lab.experiment:experiment",
    "lab effect": "lab.effect:effect",
    "lab bias-score direction": "bias_score:direction",
    "lab bias-score reference": "bias_score:reference",
    "lab bias-score top": "lab.bias_top:top",
}
GROUPS = {
    "config": "The configuration: every key with its meaning, and the plug-ins that it may name.",
    "gate": "The state of a gate, what it has accepted, and decisions about it.",
    "gate trigger": "Rules that start an action on a condition (section triggers).",
    "words": "Word lists: those shipped, and yours.",
    "coverage": "Meetings of attributes that are too rare, and a plan that fills the gaps.\n\n"
    "`evenflow coverage INPUT…` stands for `evenflow coverage gaps INPUT…`.",
    "llm": "The language model that a run may ask.",
    "lab": "The laboratory: mine sentences, train and measure models.",
    "lab bias-score": "What the neutral words of sentences lean to.",
}
# Of a group, the command that needs no name: what is no command is its first argument
USUAL = {"coverage": "gaps"}
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
# Plain help: boxes leave too few of 80 columns for the words
PLAIN: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": None}


class Below(MutableMapping[str, Any]):
    """The commands and groups below some words, by name, each built when it is asked for.

    Args:
        above: The words, each with a blank behind it.
    """

    def __init__(self, above: str = ""):
        own = (words.removeprefix(above) for words in WORDS if words.startswith(above))
        self._above = above
        self._built: dict[str, Any] = dict.fromkeys(words.split()[0] for words in own)

    def __getitem__(self, name: str) -> Any:
        """The command of a name; raises KeyError."""
        if self._built[name] is None:
            words = self._above + name
            self._built[name] = (
                Group(words, name=name, help=GROUPS[words], commands=Below(f"{words} "), **PLAIN)
                if words in GROUPS
                else built(name, function(words))
            )
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        """Put a command in the place of another."""
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        """Take a command away."""
        del self._built[name]

    def __iter__(self) -> Iterator[str]:
        """The names; no command is imported."""
        return iter(self._built)

    def __len__(self) -> int:
        """The number of commands."""
        return len(self._built)


class Group(TyperGroup):
    """Words of which the next one is a command, or leads to further ones.

    Args:
        words: The words up to here; empty for the program.
        **settings: Those of Typer's groups.
    """

    def __init__(self, words: str = "", **settings: Any):
        super().__init__(**settings)
        self._usual = USUAL.get(words)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands; none is imported."""
        return list(self.commands)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the usual command before arguments without one."""
        if self._usual and args and args[0] not in (*self.commands, "--help", "-h"):
            args = [self._usual, *args]
        return super().parse_args(ctx, args)


def function(words: str) -> Callable[..., None]:
    """Import the function of a command.

    Args:
        words: The words of the command.

    Returns:
        The function.
    """
    module, _, name = WORDS[words].partition(":")
    return getattr(import_module(f"evenflow.pipelines.cli.{module}"), name)


def application() -> TyperGroup:
    """Declare all commands.

    Returns:
        The application; calling it with words runs a command.
    """
    names = {"help_option_names": ["-h", "--help"]}
    app = typer.Typer(cls=Group, help=HELP, context_settings=names, **PLAIN)
    app.callback()(_common)
    group: Any = typer.main.get_command(app)
    group.commands = Below()
    return group


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
