"""The configuration of a run: defaults, validation with the nearest known key, and its commented form.

Sources of a value, the later winning: defaults here, the --config file (YAML), options of the command line.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator


class ConfigError(ValueError):
    """A configuration that cannot be used; the message names file, key, value and what was expected."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Fields(Section):
    text: str = Field(default="text", description="field that holds a document's text")
    id: str = Field(default="id", description="field that holds a document's id; made from file and ordinal where it is missing")


class Pane(Section):
    docs: int | None = Field(default=None, ge=1, description="documents a pane; null: cut by mib alone")
    mib: int = Field(default=64, ge=1, description="MiB of input a pane at most")
    rolling: int = Field(default=4, ge=1, description="panes that the rolling score looks back on, this one included")


class Attribute(Section):
    wordlist: str | None = Field(default=None, description="path of a word list; null: the shipped list of that name")
    target: dict[str, float] | None = Field(default=None, description="share each group should have; null: all the same")
    warn: float | None = Field(default=None, ge=0, le=1, description="DR from which a pane is warned of; null: gate.warn")
    block: float | None = Field(default=None, ge=0, le=1, description="DR from which a pane is blocked; null: gate.block")


class Gate(Section):
    warn: float = Field(default=0.25, ge=0, le=1, description="lower bound of the rolling DR from which a pane is warned of")
    block: float = Field(default=0.45, ge=0, le=1, description="lower bound of the rolling DR from which a pane is blocked")
    min_mentions: int = Field(default=200, ge=0, description="mentions below which there is no verdict")
    hysteresis: float = Field(default=0.02, ge=0, le=1, description="how far below a threshold DR must fall to leave its state")
    policy: Literal["quarantine", "halt"] = Field(
        default="quarantine", description="a blocked pane: set aside and go on, or stop"
    )
    confidence: float = Field(default=0.95, gt=0.5, lt=1, description="confidence of the intervals")


class Checks(Section):
    suite: str | None = Field(default=None, description="a YAML file with further expectations, [{type, kwargs}]")


class Shards(Section):
    rows: int = Field(default=50_000, ge=1, description="documents a shard at most")


class Config(Section):
    fields: Fields = Field(default_factory=Fields)
    pane: Pane = Field(default_factory=Pane)
    attributes: dict[str, Attribute] = Field(
        default_factory=lambda: {name: Attribute() for name in ("gender", "age", "religion")},
        description="the protected attributes that are measured",
    )
    gate: Gate = Field(default_factory=Gate)
    checks: Checks = Field(default_factory=Checks)
    shards: Shards = Field(default_factory=Shards)
    max_text_mib: int = Field(default=32, ge=1, description="a longer text goes to the dead letters")

    @model_validator(mode="after")
    def _warn_below_block(self) -> Config:
        for name, attribute in {"gate": self.gate, **self.attributes}.items():
            warn = self.gate.warn if attribute.warn is None else attribute.warn
            block = self.gate.block if attribute.block is None else attribute.block
            if block < warn:
                raise ValueError(f"{name}: block ({block}) is below warn ({warn})")
        return self


def load(path: Path | None, overrides: Mapping[str, Any] | None = None) -> Config:
    """The effective configuration: a YAML file (or none) with overrides, a mapping of dotted keys to values.

    Raises ConfigError.
    """
    data: Any = {}
    if path is not None:
        try:
            data = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror}") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: not YAML in UTF-8: {error}") from error
        if not isinstance(data, dict):
            raise ConfigError(f"{path}: a configuration is a mapping of keys")
    for key, value in (overrides or {}).items():
        section: Any = data
        *parents, last = key.split(".")
        for parent in parents:
            section = section.setdefault(parent, {})
            if not isinstance(section, dict):
                raise ConfigError(f"{path}: {parent}: a section of keys was expected")
        section[last] = value
    if isinstance(data.get("attributes"), dict):
        data["attributes"] = {name: {} if value is None else value for name, value in data["attributes"].items()}
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        lines = [_explain(part) for part in error.errors()]
        raise ConfigError("\n".join(f"{path or 'options'}: {line}" for line in lines)) from error


def _explain(part: Any) -> str:
    """One line for one of pydantic's errors; the nearest known key for an unknown one."""
    place = [str(item) for item in part["loc"]]
    key = ".".join(place)
    if part["type"] == "extra_forbidden":
        model: Any = Config
        for item in place[:-1]:
            field = model.model_fields.get(item) if isinstance(model, type) else None
            annotation = field.annotation if field else Attribute
            model = annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else Attribute
        known = list(model.model_fields)
        near = difflib.get_close_matches(place[-1], known, 1, 0.5)
        return f"unknown key {key!r}; " + (f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}")
    if part["type"] == "value_error":
        return part["msg"].removeprefix("Value error, ")
    return f"{key}: {part['msg'].lower()}, not {part['input']!r}"


def commented(config: Config) -> str:
    """The configuration as YAML with each key's meaning."""
    lines: list[str] = []

    def write(model: BaseModel, depth: int) -> None:
        for name, field in type(model).model_fields.items():
            value = getattr(model, name)
            pad = "  " * depth
            if isinstance(value, BaseModel):
                lines.append(f"{pad}{name}:")
                write(value, depth + 1)
            elif isinstance(value, dict) and all(isinstance(item, BaseModel) for item in value.values()):
                lines.append(f"{pad}{name}:  # {field.description}")
                for key, item in value.items():
                    lines.append(f"{pad}  {key}:")
                    write(item, depth + 2)
            else:
                text = yaml.safe_dump(value, default_flow_style=True).removesuffix("...\n").strip()
                lines.append(f"{pad}{name}: {text}  # {field.description}")

    write(config, 0)
    return "\n".join(lines) + "\n"
