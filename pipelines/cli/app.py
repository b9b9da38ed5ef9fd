"""The command line: which command is which function, and how a command ends (see endings)."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections import UserDict
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

import click

from evenflow.pipelines.cli.commands import HELP_NAMES, Function, built
from evenflow.pipelines.engine.one_thread import one_thread
from evenflow.pipelines.terminal.endings import Session, Stopped, failed, stoppable, stopped

DEBUG = "--debug"
HELP = """A data-quality gate for training data.

It measures how evenly documents name the groups of a protected attribute, judges them pane by pane,
and accepts each pane or sets it aside.
"""
# The commands below some words, by the module of this room that has their functions. It is imported
# when a command is asked for; `gate hold` is its function gate_hold
COMMANDS = {
    "": {
        "init": "init",
        "doctor": "doctor",
        "run": "run stream",
        "measure": "measure compare",
        "explain": "explain",
    },
    "gate": {
        "gate": "status why hold release accept report",
        "verify": "verify",
        "export": "export card",
        "board": "board",
        "trigger": "trigger",
    },
    "words": {"lab.word_lists": "show check", "lab.drafts": "generate review"},
    "coverage": {"coverage": "gaps", "lab.coverage": "plan"},
    "lab": {
        "lab.mine": "mine",
        "lab.bias_score": "bias-score",
        "lab.finetune": "finetune",
        "lab.benchmark": "benchmark",
        "lab.paper": "paper",
    },
}
WORDS = {
    f"{above} {name}".strip(): module
    for above, modules in COMMANDS.items()
    for module, names in modules.items()
    for name in names.split()
}
GROUPS = {
    "gate": "The state of a gate, what it accepted, and decisions on it.",
    "words": "Word lists: those shipped, and yours.",
    "coverage": "Rare intersections of attributes, and what fills them.",
    "lab": "The laboratory: mine sentences, train and measure models.",
}


class Below(UserDict[str, Any]):
    """The commands and groups below some words, by name, each built when it is asked for."""

    def __init__(self, above: str = ""):
        own = (words.removeprefix(above) for words in WORDS if words.startswith(above))
        super().__init__({words.split()[0]: above + words.split()[0] for words in own})

    def __getitem__(self, name: str) -> click.Command:
        """The command of a name; raises KeyError."""
        return _command(self.data[name])


class Group(click.Group):
    """Words of which the next one is a command, or leads to further ones."""

    commands: Any

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands; none is imported."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first line of what each command says of itself; none is built."""
        below = self.commands.data.items()
        texts = [(name, GROUPS.get(path) or function(path).__doc__ or "") for name, path in below]
        with formatter.section("Commands"):
            formatter.write_dl([(name, text.partition("\n")[0]) for name, text in texts])


@cache
def _command(words: str) -> click.Command:
    """Build a command or a group."""
    name = words.split()[-1]
    if words not in GROUPS:
        return built(name, function(words))
    below: Any = Below(f"{words} ")
    return Group(name, help=GROUPS[words], commands=below, no_args_is_help=True)


def function(words: str) -> Function:
    """Import the function of a command."""
    module = import_module(f"evenflow.pipelines.cli.{WORDS[words]}")
    return getattr(module, re.sub(r"\W", "_", words))


def application() -> click.Group:
    """Declare all commands.

    Returns:
        The application; calling it with words runs a command.
    """
    taken: dict[str, Any] = {"is_eager": True, "expose_value": False}
    debug = "Show the traceback of an error; with any command."  # main has read it already
    completion = 'Print the completion of a shell: eval "$(evenflow --completion bash)".'
    shells = click.Choice(["bash", "zsh", "fish"])
    below: Any = Below()
    named = {"help_option_names": HELP_NAMES, "max_content_width": 100}
    out = Group(help=HELP, commands=below, no_args_is_help=True, context_settings=named)
    said = {"message": "%(prog)s %(version)s", "help": "Print the version."}
    click.version_option(package_name="evenflow", **said)(out)
    out.params += [
        click.Option([DEBUG], is_flag=True, expose_value=False, help=debug),
        click.Option(["--completion"], type=shells, callback=_completion, help=completion, **taken),
    ]
    return out


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end with its status."""
    _usable_streams()
    if "numpy" not in sys.modules:  # otherwise it is too late
        one_thread()
    words = list(sys.argv[1:] if arguments is None else arguments)
    # Taken wherever it stands: a user who wants a traceback adds it at the end of the command.
    first = words[: words.index("--")] if "--" in words else words  # after it nothing is an option
    session = Session(debug=DEBUG in first)
    words = [word for word in first if word != DEBUG] + words[len(first) :]
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


def _completion(ctx: click.Context, _: click.Parameter, shell: str | None) -> None:
    """Print what makes a shell complete commands and options, and end."""
    if shell is not None:
        from click.shell_completion import get_completion_class

        if found := get_completion_class(shell):
            print(found(application(), {}, "evenflow", "_EVENFLOW_COMPLETE").source())
        ctx.exit()


def _usable_streams() -> None:
    """Make any text printable, also a path that is not UTF-8; a closed stream drops its output."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 (for the process)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
