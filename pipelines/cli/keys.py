"""Options that are keys of the configuration: name here, type, help and default in the schema."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args, get_origin

import typer

if TYPE_CHECKING:
    from evenflow.schemas.config import Config

DATA, PANES, REPAIR = "Data", "Panes and verdicts", "Repair"
PATTERNS, RESULT = "Patterns", "Result"
FIELD = "keys"  # of `Keys`: no option
WIDEST = 18  # characters of choices that the help shows beside the option
VALUES = {"str": "NAME", "int": "N", "float": "X"}  # what the help calls a value of a type


class Key(NamedTuple):
    """How a key of the configuration is given as an option.

    Attributes:
        option: The option.
        panel: Part of the help that it stands in; None for the general one.
        value: What the help calls its value; None: as the type says.
        kind: A value; a flag, which stands for true; or a value that must be given.
    """

    option: str
    panel: str | None = None
    value: str | None = None
    kind: Literal["value", "flag", "required"] = "value"


KEYS = {
    "fields.text": Key("--text-field", DATA),
    "fields.id": Key("--id-field", DATA),
    "measure.count": Key("--count", DATA),
    "measure.epsilon": Key("--epsilon", value="E"),
    "pane.docs": Key("--pane-docs", PANES),
    "pane.mib": Key("--pane-mib", PANES),
    "pane.rolling": Key("--rolling", PANES),
    "gate.warn": Key("--warn", PANES, "DR"),
    "gate.block": Key("--block", PANES, "DR"),
    "gate.policy": Key("--policy", PANES),
    "repair.mode": Key("--mode", REPAIR, "MODE"),
    "repair.strictness": Key("--strictness", REPAIR, "S"),
    "stereotypes.policy": Key("--stereotypes", REPAIR),
    "coverage.attributes": Key("--attributes", value="A,B,…", kind="required"),
    "coverage.tau": Key("--tau", value="T", kind="required"),
    "coverage.by": Key("--by", PATTERNS),
    "coverage.unit": Key("--unit", PATTERNS),
    "coverage.entities": Key("--entities", DATA, "FILE"),
    "bias_score.vectors": Key("--vectors", value="FILE|DIR"),
    "metrics.port": Key("--metrics-port", RESULT),
    "finetune.objective": Key("--objective"),
    "finetune.rank": Key("--rank"),
    "finetune.rate": Key("--rate"),
    "finetune.batch": Key("--batch"),
    "finetune.micro_batch": Key("--micro-batch"),
    "finetune.context": Key("--context"),
    "finetune.epochs": Key("--epochs"),
    "finetune.steps": Key("--steps"),
    "finetune.seed": Key("--seed"),
    "finetune.weights": Key("--weights"),
    "finetune.merge": Key("--merge", kind="flag"),
}
FINETUNE = tuple(key for key in KEYS if key.startswith("finetune."))


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The configuration as options give it.

    Attributes:
        keys: Values of the options that are keys, by dotted key, as text; of a flag, True.
    """

    keys: dict[str, Any] = field(default_factory=dict[str, Any])

    def configuration(self, more: Mapping[str, object] | None = None) -> Config:
        """Make the configuration that a command works under.

        Args:
            more: Further values by dotted key; None leaves a key as it is.

        Returns:
            The configuration file (or the defaults) under the options.

        Raises:
            ConfigError: The configuration cannot be used; every mistake is named.
            WordListError: A word list cannot be used.
        """
        from evenflow.schemas.config import load, value

        names = {key: each.option for key, each in KEYS.items()}
        own = {
            key: value(key, given, names[key]) if isinstance(given, str) else given
            for key, given in self.keys.items()
        }
        more = {key: each for key, each in (more or {}).items() if each is not None}
        return load(
            getattr(self, "config", None),
            {**own, **more},
            getattr(self, "attribute", None) or (),
            getattr(self, "wordlist", None) or (),
            names,
            getattr(self, "sets", None) or (),
        )


def parameter(key: str) -> str:
    """The name of a key's parameter, which no other one has."""
    return key.replace(".", "_")


def annotation(key: str) -> Any:
    """What Typer expects of a key's parameter; its help is filled in when it is shown."""
    option, panel, _, kind = KEYS[key]
    shown = typer.Option(option, rich_help_panel=panel, show_default=False)
    types: dict[str, Any] = {"value": str | None, "flag": bool, "required": str}
    return Annotated[types[kind], shown]


def default(key: str) -> Any:
    """The default of a key's parameter: the schema's is used where nothing was given."""
    return {"value": None, "flag": False, "required": inspect.Parameter.empty}[KEYS[key].kind]


def explain(option: Any) -> Any:
    """Fill in what the help says of an option that is a key, from the schema.

    Args:
        option: A parameter of a command.

    Returns:
        The same.
    """
    key = next((key for key in KEYS if parameter(key) == option.name), None)
    if key is None or option.help is not None:
        return option
    from evenflow.schemas.config import described

    kind, usual, text = described(key)
    _, _, value, form = KEYS[key]
    choices = [str(each) for each in get_args(kind)] if get_origin(kind) is Literal else []
    null = re.search(r"null: (.*?)(?:[.;]\s|\.$)", text) if usual is None else None
    shown = null[1] if null else None if usual is None else _text(usual)
    if len("|".join(choices)) > WIDEST:  # the metavar of a narrow column is one word
        shown, value = f"{shown}; or {', '.join(sorted({*choices} - {shown}))}", "WHAT"
    default = f"  [default: {shown}]" if shown and form == "value" else ""
    option.help = re.split(r"(?<=\.)\s", text)[0] + default
    option.metavar = None if form == "flag" else value or "|".join(choices) or _value(kind)
    return option


def _text(value: Any) -> str:
    """A default as a person writes it."""
    return ",".join(value) if isinstance(value, list) else f"{value}"


def _value(kind: Any) -> str:
    """What the help calls a value of a type."""
    inner = [each for each in get_args(kind) if each is not type(None)]
    return _value(inner[0]) if inner else VALUES.get(getattr(kind, "__name__", ""), "VALUE")
