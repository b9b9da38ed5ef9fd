"""The configuration that the functions take, and the error for an argument of another type."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from evenflow.schemas.config import Config, load

Configuration: TypeAlias = "Config | str | os.PathLike[str] | Mapping[str, Any] | None"

SHOWN = 40  # characters of an argument that an error shows


def wrong(name: str, wanted: str, given: object) -> TypeError:
    """The error for an argument of another type."""
    return TypeError(f"{name}: {wanted} was expected, not {shown(given)} ({type(given).__name__})")


def shown(given: object) -> str:
    """An argument as an error shows it: its beginning."""
    text = repr(given[: SHOWN + 1] if isinstance(given, str | bytes) else given)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _names(name: str, given: object) -> None:
    """Check names in a list. Raises TypeError."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise wrong(name, f"a list of names such as [{given!r}]", given)
    for each in given:
        if not isinstance(each, str | os.PathLike):
            raise wrong(name, "a list of names", each)


def configuration(
    config: Configuration = None, attributes: Sequence[str] = (), wordlists: Sequence[str] = ()
) -> Config:
    """Make a configuration from what a caller gave.

    Args:
        config: A configuration; the path of a YAML file; or a mapping of dotted keys to values,
            such as {"gate.warn": 0.2, "fields.text": "body"}. None stands for the defaults.
        attributes: Names of the attributes that are measured; empty for all. Not with a Config.
        wordlists: Paths of further word lists. Not with a Config.

    Raises:
        ConfigError: It cannot be used; every mistake is named.
        WordListError: A word list cannot be used.
        TypeError: Attributes or word lists are given beside a Config, which has its own; or an
            argument is of another type.
    """
    _names("attributes", attributes)
    _names("wordlists", wordlists)
    if isinstance(config, Config):
        if attributes or wordlists:
            raise TypeError("a Config has its own attributes and word lists; give none beside it")
        return config
    if not isinstance(config, Mapping | str | os.PathLike | None):
        raise wrong("config", "a Config, the path of a YAML file or a mapping", config)
    overrides = config if isinstance(config, Mapping) else None
    path = None if config is None or isinstance(config, Mapping) else Path(config)
    return load(path, overrides, attributes, wordlists)
