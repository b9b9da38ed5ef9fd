"""How a command is declared: as a function, which the command line calls.

Parameters before `*` are arguments, those after it options: --pane-seconds is `pane_seconds`. Type,
bounds and default stand in the signature. What help says of a parameter stands in the section Args
of the docstring, as `name (VALUE): text`, where VALUE may be left out; the section Examples has
command lines. A parameter whose type is a
dataclass stands for options that several commands share, its fields. One that is `Values` has the
options that are keys of the configuration as well: the schema says all of them but which ones.

A command returns its exit status, or what it has found (`Shown`), and has --json then.
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections import abc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from pathlib import Path, PurePath
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import click

from evenflow.pipelines.cli.options import COMMON, Shown, Values, check
from evenflow.pipelines.terminal.endings import Session, show
from evenflow.schemas.errors import EvenflowError

EVERY = "evenflow.every_option"  # in a context: its help explains rare options too
KEYS = "evenflow.keys"  # in a context: given options that are keys, as Values.keys
HELP_NAMES = ["-h", "--help"]
OUTPUT = "directory"  # the parameter of commands that look at an output
# What figures raise that do not fit each other: a ledger may come from anybody
OF_DATA = (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError)
MOST_SAID = 300  # characters of such an error
# One-letter names, and names that are no names of Python
SHORT = {"inputs": "-i", "config": "-c", "wordlist": "-w", "attribute": "-a", "quiet": "-q"}
SHORT |= {"output": "-o"}
NAMES = {"as_json": "json", "sets": "set", "inputs": "input"}
VALUES = {"str": "NAME", "int": "N", "float": "X", "Path": "FILE"}  # what help calls a value
WIDEST = 18  # characters of choices that the help shows beside the option
ENTRY = re.compile(r"^    (\w+)(?: \((.*?)\))?: (.*(?:\n {5,}.*)*)", re.M)


class ForeignError(EvenflowError):
    """A ledger that holds what no run writes."""


class Command(click.Command):
    """A command whose help only names its rare options, until --all asks for them."""

    rare: Sequence[str] = ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note whether --all stands beside --help."""
        if {*HELP_NAMES} & {*args} and "--all" in args:
            ctx.meta[EVERY] = True
            args = [each for each in args if each != "--all"]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and the names of the rare ones."""
        rare = [] if ctx.meta.get(EVERY) else [f"--{each}" for each in self.rare]
        for each in self.params:
            if isinstance(each, click.Option):
                each.hidden = each.opts[-1] in rare
        super().format_options(ctx, formatter)
        if rare:
            with formatter.section("More, with --help --all"):
                formatter.write_text(", ".join(sorted(rare)))


class Declaration(NamedTuple):
    """What a command says of itself beside its signature and docstring.

    Attributes:
        keys: Keys of the configuration that are options.
        section: The section of those keys whose options leave its name out.
        rare: Options that its help only names.
    """

    keys: Sequence[str] = ()
    section: str = ""
    rare: Sequence[str] = ()


Function = Callable[..., Shown | int | None]
DECLARED: dict[Function, Declaration] = {}


def command(keys: Sequence[str], section: str, rare: str = "") -> Callable[[Function], Function]:
    """Declare that a command has keys of the configuration as options, or rare options."""

    def declare(function: Function) -> Function:
        DECLARED[function] = Declaration(keys, section, rare.split())
        return function

    return declare


def built(name: str, function: Function) -> Command:
    """Build the command that a function declares."""
    declared, (text, said, examples) = DECLARED.get(function, Declaration()), _documented(function)
    hints = get_type_hints(function, include_extras=True)
    returned = hints.pop("return")
    groups: dict[str, Any] = {}
    params: list[click.Parameter] = []
    for each in inspect.signature(function).parameters.values():
        kind: Any = hints[each.name]
        if is_dataclass(kind) and kind is not Session:
            groups[each.name] = kind
            params += _shared(kind, declared)
        elif kind is not Session:
            entry = said.get(each.name) or COMMON[each.name]
            is_option = each.kind is inspect.Parameter.KEYWORD_ONLY
            params.append(_parameter(each.name, kind, each.default, entry, is_option))
    if adds_json := Shown in (returned, *get_args(returned)) and "as_json" not in hints:
        params.append(_parameter("as_json", bool, False, COMMON["as_json"], True))

    @click.pass_context
    def call(ctx: click.Context, **given: Any) -> None:
        as_json = given.pop("as_json") if adds_json else given.get("as_json", False)
        values: dict[str, Any] = {name: ctx.obj for name, kind in hints.items() if kind is Session}
        values |= {key: list(v) if isinstance(v, tuple) else v for key, v in given.items()}
        for name, kind in groups.items():
            taken = [each.name for each in fields(kind) if each.name in values]
            own: dict[str, Any] = {each: values.pop(each) for each in taken}
            keys = {"keys": ctx.meta.get(KEYS, {})} if issubclass(kind, Values) else {}
            values[name] = kind(**own, **keys)
        ctx.exit(_ended(function, values, as_json))

    # Click's mark (\b) keeps it from wrapping the lines
    epilog = "\b\nExamples:\n" + re.sub("^  ", "", examples, flags=re.M)
    named = {"help_option_names": HELP_NAMES}  # also where nothing stands above the command
    out = Command(name, named, callback=call, params=params, help=text, epilog=epilog)
    out.rare = declared.rare
    return out


def _ended(function: Function, values: dict[str, Any], as_json: bool) -> int:
    """Run a command, and show what it has found; its exit status."""
    output = values.get(OUTPUT)
    if output is not None:
        check(output)
    try:
        found = function(**values)
        if isinstance(found, Shown):
            show(found.result, as_json, found.draw)
    except OF_DATA as error:
        if output is None or isinstance(error, EvenflowError):
            raise
        raise ForeignError(f"{output}: {_said(error)}") from error
    return (found.status if isinstance(found, Shown) else found) or 0


def _documented(thing: Any) -> tuple[str, dict[str, tuple[str, str]], str]:
    """A docstring's text, by name what a value is called and what is said of it, and examples."""
    text, _, examples = (inspect.getdoc(thing) or "").partition("\nExamples:\n")
    text, *below = re.split(r"\n(?:Args|Attributes):\n", text)
    found = ENTRY.finditer("".join(below))
    said = {each[1]: (each[2] or "", " ".join(each[3].split())) for each in found}
    return text, said, examples


def _shared(group: Any, declared: Declaration) -> Iterator[click.Parameter]:
    """The options of a dataclass's fields, and of keys where it makes a configuration."""
    said, kinds = _documented(group)[1], get_type_hints(group, include_extras=True)
    for base in group.__mro__[1:]:
        said = _documented(base)[1] | said
    for each in fields(group):
        if each.name in said:
            default = inspect.Parameter.empty if each.default is MISSING else each.default
            yield _parameter(each.name, kinds[each.name], default, said[each.name], True)
    if issubclass(group, Values):
        yield from (_key(key, declared.section) for key in declared.keys)


def _parameter(
    name: str, kind: Any, default: Any, entry: tuple[str, str], is_option: bool
) -> click.Parameter:
    """The option or argument that a parameter of Python is."""
    value, text = entry
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not NoneType)
    if many := get_origin(kind) in (list, abc.Sequence):
        [kind] = get_args(kind)
    given: dict[str, Any] = {"help": text, "required": default is inspect.Parameter.empty}
    if not given["required"]:
        given["default"] = default
    option = "--" + NAMES.get(name, name.strip("_")).replace("_", "-")
    names = [name, *([SHORT[name]] if name in SHORT else []), option]
    if kind is bool:
        names[-1] += f"/--no-{option[2:]}" if default is None else ""
        return click.Option(names, is_flag=True, **given)
    if get_origin(kind) is Annotated:
        kind, given["type"] = get_args(kind)
    elif get_origin(kind) is Literal:
        given["type"] = click.Choice(get_args(kind))
    else:
        given["type"] = click.Path(path_type=Path) if kind is Path else kind
    value = value or VALUES.get(getattr(kind, "__name__", ""), "")
    if is_option:
        shown = default not in (None, "", (), inspect.Parameter.empty)
        return click.Option(
            names, multiple=many, metavar=value or None, show_default=shown, **given
        )
    value = value if given["required"] else f"[{value}]"
    return click.Argument([name], nargs=-1 if many else 1, metavar=value + "..." * many, **given)


def _key(key: str, section: str) -> click.Option:
    """The option that a key of the configuration is; its value is read later."""
    from evenflow.schemas.config import described

    option = "--" + re.sub(r"[._]", "-", key.removeprefix(f"{section}."))
    kind, usual, text = described(key)
    first = re.split(r"(?<=\.)\s", text)[0]
    noted: dict[str, Any] = {"expose_value": False, "callback": partial(_note, key)}
    name = key.replace(".", "__")  # which no other one has
    if kind is bool:
        return click.Option([name, option], is_flag=True, help=first, **noted)
    choices = [str(each) for each in get_args(kind)] if get_origin(kind) is Literal else []
    null = re.search(r"null: (.*?)(?:[.;]\s|\.$)", text) if usual is None else None
    shown = ",".join(usual) if isinstance(usual, list) else null[1] if null else usual
    value = "|".join(choices) or _value(kind) or key.rpartition(".")[2].upper()
    if len(value) > WIDEST:  # the metavar of a narrow column is one word
        shown, value = f"{shown}; or {', '.join(sorted({*choices} - {shown}))}", "WHAT"
    first += "" if shown is None else f"  [default: {shown}]"
    return click.Option([name, option], metavar=value, help=first, **noted)


def _note(key: str, ctx: click.Context, option: click.Parameter, value: Any) -> None:
    """Note what is given for a key."""
    if value not in (None, False):
        ctx.meta.setdefault(KEYS, {})[key] = option.opts[0], value


def _value(kind: Any) -> str:
    """What the help calls a value of a type."""
    inner = [each for each in get_args(kind) if each is not NoneType]
    return _value(inner[0]) if inner else VALUES.get(getattr(kind, "__name__", ""), "")


def _said(error: Exception) -> str:
    """What is wrong with a ledger that a command could not show, and what to do."""
    [*_, frame] = traceback.extract_tb(error.__traceback__)
    place = f"{PurePath(frame.filename).name}, line {frame.lineno}"
    said = f"{type(error).__name__}: {error}"[:MOST_SAID]
    return (
        f"its ledger cannot be shown: {said} ({place}). It may hold what no run writes:"
        " `evenflow gate verify` looks through it, --debug shows the traceback"
    )
