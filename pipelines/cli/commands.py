"""How a command is declared: options in groups that several commands share, and help in panels."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand
from typer.main import get_command_from_info
from typer.models import CommandInfo

from evenflow.pipelines.cli import keys

EVERY = "evenflow.every_option"  # in a context: its help explains rare options too


class PanelCommand(TyperCommand):
    """A command whose help lists its options by panel, as plain text in the whole width.

    Attributes:
        rare: Options that the help only names, since few people need them, with blanks between.
    """

    rare: str = ""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each panel, in the order in which the options are declared.

        Args:
            ctx: Click's context of the command.
            formatter: Click's formatter of the help, which is written to.
        """
        panels: dict[str, list[tuple[str, str]]] = {}
        rare: list[str] = []
        for parameter in map(keys.explain, self.get_params(ctx)):
            is_rare = parameter.opts[0] in self.rare.split() and not ctx.meta.get(EVERY)
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

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Name what may stand next on the command line, with its meaning."""
        for parameter in self.params:
            keys.explain(parameter)
        return super().shell_complete(ctx, incomplete)


@dataclass(frozen=True)
class Declaration:
    """What a command says of itself beside its signature and docstring.

    Attributes:
        examples: Command lines for the end of its help.
        cls: The class of the command.
        rare: Options that its help only names.
    """

    examples: Sequence[str]
    cls: type[PanelCommand]
    rare: str


DECLARED: dict[Callable[..., None], Declaration] = {}


def command(
    *examples: str,
    options: Sequence[str] = (),
    cls: type[PanelCommand] = PanelCommand,
    rare: str = "",
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare a function as a command.

    Typer reads options from a function's signature, one parameter each. A parameter whose type is
    a dataclass stands for all fields of it here, so that commands can share them. One that is a
    `keys.Keys` gets the options that are keys of the configuration.

    Args:
        *examples: Command lines for the end of its help.
        options: Keys of the configuration that have an option of their own, as `keys.KEYS` says.
        cls: The class of the command.
        rare: Options that its help only names.

    Returns:
        A decorator. The function's docstring is the help.
    """

    def declare(function: Callable[..., None]) -> Callable[..., None]:
        done = _flat(function, options)
        DECLARED[done] = Declaration(examples, cls, rare)
        return done

    return declare


def built(name: str, function: Callable[..., None]) -> PanelCommand:
    """Build the command that a function declares.

    Args:
        name: The command's name.
        function: What `command` returned.

    Returns:
        The command.
    """
    declared = DECLARED[function]
    # Click's mark (\b) keeps it from wrapping the lines
    epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in declared.examples)
    info = CommandInfo(name, cls=declared.cls, callback=function, epilog=epilog)
    out: Any = get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode=None)
    out.rare = declared.rare
    return out


def _flat(function: Callable[..., None], options: Sequence[str]) -> Callable[..., None]:
    """The function with a parameter for each field of its dataclasses, and for each key."""
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []

    def add(name: str, kind: Any, default: Any) -> None:
        declared = getattr(kind, "__metadata__", [None])[0]
        # Typer takes the first name for a default
        if get_args(kind)[:1] == (bool,) and declared.default is ... and not declared.param_decls:
            declared.param_decls = (f"--{name.replace('_', '-')}",)  # and no --no-…
        parameters.append(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default
            )
        )

    own: dict[str, list[str]] = {name: [] for name in groups}  # the fields that are options
    for name, parameter in inspect.signature(function).parameters.items():
        if (group := groups.get(name)) is None:
            add(name, hints[name], parameter.default)
            continue
        kinds = get_type_hints(group, include_extras=True)
        for field in fields(group):
            if field.name != keys.FIELD:
                own[name].append(field.name)
                add(field.name, kinds[field.name], _default(field))
        if issubclass(group, keys.Keys):
            for key in options:
                add(keys.parameter(key), keys.annotation(key), keys.default(key))

    @wraps(function)
    def flat(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{each: values.pop(each) for each in own[name]})
            if isinstance(values[name], keys.Keys):
                found = {key: values.pop(keys.parameter(key)) for key in options}
                values[name].keys.update(
                    {key: text for key, text in found.items() if text not in (None, False)}
                )
        function(**values)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {each.name: each.annotation for each in parameters}
    return flat


def option(value: str | None, text: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """Declare an option, as the second part of an `Annotated` type.

    Args:
        value: What the help calls its value; None: as its type is called.
        text: Its help.
        *names: Its names; none: the parameter's, with blanks as hyphens.
        panel: Part of the help that it stands in; None for the general one.
        **more: Further settings of Typer, such as `min`.
    """
    return typer.Option(*names, metavar=value, help=text, rich_help_panel=panel, **more)


def flag(text: str, *names: str, panel: str | None = None) -> Any:
    """Declare an option without a value; without names it has the parameter's."""
    return option(None, text, *names, panel=panel)


def argument(value: str, text: str, *, panel: str | None = None, **more: Any) -> Any:
    """Declare an argument, as `option` does."""
    return typer.Argument(metavar=value, help=text, rich_help_panel=panel, **more)


def options_of(words: Sequence[str]) -> Sequence[str]:
    """The words of a command line before --, after which nothing is an option."""
    return words[: words.index("--")] if "--" in words else words


def one_of(value: str, choices: Sequence[str], option: str) -> None:
    """Refuse a value that is not among an option's choices.

    Args:
        value: The value that was given.
        choices: All values that the option takes.
        option: The option's name, such as --values.

    Raises:
        typer.BadParameter: The value is not among the choices.
    """
    if value not in choices:
        *first, last = choices
        among = (
            f"none of {', '.join(first)} and" if len(first) > 1 else f"neither {''.join(first)} nor"
        )
        raise typer.BadParameter(f"{value!r} is {among} {last}", param_hint=f"'{option}'")


def _default(field: Field[Any]) -> Any:
    """The default of a field as a signature has it."""
    return inspect.Parameter.empty if field.default is MISSING else field.default
