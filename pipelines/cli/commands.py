"""How a command is declared: options in groups that several commands share, and help in panels."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, ClassVar, get_type_hints

import typer
from typer.core import TyperCommand

EVERY = "evenflow.every_option"  # in a context: its help explains rare options too


class PanelCommand(TyperCommand):
    """A command whose help lists its options by panel, as plain text in the whole width.

    Attributes:
        rare: Options that the help only names, since few people need them.
    """

    rare: ClassVar[frozenset[str]] = frozenset()

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each panel, in the order in which the options are declared.

        Args:
            ctx: Click's context of the command.
            formatter: Click's formatter of the help, which is written to.
        """
        panels: dict[str, list[tuple[str, str]]] = {}
        rare: list[str] = []
        for parameter in self.get_params(ctx):
            is_rare = parameter.opts[0] in self.rare and not ctx.meta.get(EVERY)
            if (record := parameter.get_help_record(ctx)) and is_rare:
                rare.append(parameter.opts[0])
            elif record:
                is_argument = parameter.param_type_name == "argument"
                if is_argument:  # without its type in Python
                    record = (str(parameter.metavar), record[1])
                kind = "Arguments" if is_argument else "Options"
                panel = getattr(parameter, "rich_help_panel", None) or kind
                panels.setdefault(panel, []).append(record)
        for panel, records in panels.items():
            with formatter.section(panel):
                formatter.write_dl(records)
        if rare:
            with formatter.section("Also, see the page “Commands”"):
                formatter.write_text(", ".join(sorted(rare)))


def examples(*lines: str) -> str:
    r"""The end of a command's help.

    Args:
        *lines: Command lines, each of which is shown as it is.

    Returns:
        A heading and the lines, after Click's mark (\b) that keeps it from wrapping them.
    """
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def with_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Make the fields of a command's dataclass parameters its options.

    Typer reads options from a function's signature, one parameter each. A parameter whose type is
    a dataclass stands for all fields of it here, so that commands can share them.

    Args:
        function: The command. A field has the annotation that Typer expects of a parameter.

    Returns:
        The same command with a parameter for each field.
    """
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            own = get_type_hints(groups[name], include_extras=True)
            declared = [
                (each.name, own[each.name], _default(each)) for each in fields(groups[name])
            ]
        else:
            declared = [(name, hints[name], parameter.default)]
        parameters += [
            inspect.Parameter(
                each, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default
            )
            for each, kind, default in declared
        ]

    @wraps(function)
    def command(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{each.name: values.pop(each.name) for each in fields(kind)})
        function(**values)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def options_of(words: Sequence[str]) -> Sequence[str]:
    """The words of a command line before --, after which nothing is an option."""
    return words[: words.index("--")] if "--" in words else words


def one_of(value: str, choices: Sequence[str], option: str) -> None:
    """Refuse a value that is not among an option's choices.

    Args:
        value: The value that was given.
        choices: Both values that the option takes.
        option: The option's name, such as --values.

    Raises:
        typer.BadParameter: The value is not among the choices.
    """
    if value not in choices:
        raise typer.BadParameter(
            f"{value!r} is neither {' nor '.join(choices)}", param_hint=f"'{option}'"
        )


def _default(each: Field[Any]) -> Any:
    """The default of a field as a signature has it."""
    return inspect.Parameter.empty if each.default is MISSING else each.default
