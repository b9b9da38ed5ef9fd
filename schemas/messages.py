"""Messages about mistakes in a configuration, in plain words.

A message names the key, what was expected, and the value that was given instead.
"""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from evenflow.schemas.guards import is_list, is_mapping
from evenflow.schemas.renamed import new_name

LONGEST_SHOWN = 60  # characters of a value in a message
NEAR = 0.6  # least similarity (difflib's ratio) of a key that is suggested
KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}

Key = tuple[str, ...]


@dataclass(frozen=True)
class Problem:
    """A mistake in a configuration.

    Attributes:
        key: The key's parts, from the outside in; empty for the configuration as a whole.
    """

    key: Key
    text: str

    def __str__(self) -> str:
        """The key and the text, as a message shows them."""
        return f"{'.'.join(self.key)}: {self.text}" if self.key else self.text


def refuse(problems: Sequence[Problem]) -> None:
    """Raise the problems that a pydantic validator found, if there are any.

    Args:
        problems: Problems with keys relative to the validator's model.

    Raises:
        PydanticCustomError: There is at least one problem.
    """
    if problems:
        raise PydanticCustomError(
            "configuration", "{text}", {"text": "; ".join(map(str, problems)), "problems": problems}
        )


def problems(error: ValidationError, root: type[BaseModel]) -> list[Problem]:
    """Collect every problem that a validation found.

    Returns:
        The problems, in pydantic's order.
    """
    found: list[Problem] = []
    for part in error.errors():
        # Of a section or a word, what is wrong with the section is told
        if any(str(item).startswith("literal[") for item in part["loc"]):
            continue
        key = tuple(str(item) for item in part["loc"] if not str(item).startswith("dict["))
        if part["type"] == "extra_forbidden":
            found.append(Problem(key, _unknown(key, root)))
        elif part["type"] == "configuration":
            found += [
                Problem(key + each.key, each.text) for each in part.get("ctx", {})["problems"]
            ]
        else:
            found.append(
                Problem(key, f"{_expected(key, root)} was expected, not {shown(part['input'])}")
            )
    return found


def shown(value: object) -> str:
    """Describe a value for a message: shortly, and a container only by its kind."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        cut = value if len(value) <= LONGEST_SHOWN else value[:LONGEST_SHOWN] + "…"
        return f"the text {cut!r}"
    if isinstance(value, int | float):
        return str(value)[:LONGEST_SHOWN]
    if is_mapping(value):
        return "a section of keys" if value else "an empty section"
    if is_list(value):
        return "a list"
    return "binary data" if isinstance(value, bytes) else f"a {type(value).__name__}"


def nearest(word: str, known: Sequence[str]) -> str | None:
    """Find the known word that a misspelled one most likely means.

    Args:
        word: The misspelled word; case does not count.

    Returns:
        The nearest known word; None if none is near.
    """
    folded = {each.lower(): each for each in reversed(known)}
    near = difflib.get_close_matches(word.lower(), list(folded), 1, NEAR)
    return folded[near[0]] if near else None


def _unknown(key: Key, root: type[BaseModel]) -> str:
    """Message for an unknown key: the nearest key of its section, or a section that has the key."""
    if name := new_name(key):
        return f"this key is now called {name}"
    section = _section(key[:-1], root)
    known = list(section.model_fields) if section else []
    if near := nearest(key[-1], known):
        return f"unknown key; did you mean {near!r}?"
    elsewhere = [".".join(place) for place in _places(root) if place[-1] == key[-1].lower()]
    if elsewhere:
        return f"unknown key; did you mean {' or '.join(elsewhere)}?"
    return f"unknown key; known here are {', '.join(known)}"


def holds_text(key: Key, root: type[BaseModel]) -> bool:
    """Whether a key of a model holds text, a list of texts, or null: 7 is then a text too.

    Args:
        key: The key's parts, from the outside in.
    """
    kind, _ = _type(key, root)
    parts = get_args(kind) if _is_union(kind) else (kind,)
    return _section(key[:-1], root) is not None and {*parts} - {type(None), list[str]} == {str}


def _places(model: type[BaseModel], above: Key = ()) -> Iterator[Key]:
    """Every key below a model; NAME stands for a key that the user chooses."""
    for name, field in model.model_fields.items():
        yield (*above, name)
        for inner in get_args(field.annotation) or (field.annotation,):
            if _is_model(inner):
                chosen = ("NAME",) if get_origin(field.annotation) is dict else ()
                yield from _places(inner, (*above, name, *chosen))


def _section(key: Key, root: type[BaseModel]) -> type[BaseModel] | None:
    """The model at a key; None if there is none."""
    kind, _ = _type(key, root)
    return kind if _is_model(kind) else None


def _type(key: Key, root: type[BaseModel]) -> tuple[Any, list[Any]]:
    """Type and constraints at a key; (None, []) if there is no such key."""
    kind: Any = root
    limits: list[Any] = []
    for item in key:
        bare = (
            next((each for each in get_args(kind) if each is not type(None)), kind)
            if _is_union(kind)
            else kind
        )
        if _is_model(bare):
            field = bare.model_fields.get(item)
            kind, limits = (field.annotation, field.metadata) if field else (None, [])
        elif get_origin(bare) is dict and item != "[key]":
            kind, limits = _bare(get_args(bare)[1])
        else:
            return (str, []) if item == "[key]" else (None, [])
    return kind, limits


def _bare(kind: Any) -> tuple[Any, list[Any]]:
    """Type and constraints of Annotated[type, Field(…)], or of a type."""
    marks = getattr(kind, "__metadata__", ())
    limits = [
        limit
        for mark in marks
        for limit in (mark.metadata if isinstance(mark, FieldInfo) else [mark])
    ]
    return (kind.__origin__ if marks else kind), limits


def _is_model(kind: object) -> TypeGuard[type[BaseModel]]:
    """Whether a type is a pydantic model."""
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _is_union(kind: Any) -> bool:
    """Whether a type is a union, in either notation."""
    return get_origin(kind) in (Union, types.UnionType)


def _expected(key: Key, root: type[BaseModel]) -> str:
    """What a key may hold, in words."""
    kind, limits = _type(key, root)
    parts = get_args(kind) if _is_union(kind) else (kind,)
    bare = [_bare(each) for each in parts if each is not type(None)]
    words = [_kind(each) + _range([*limits, *own]) for each, own in bare]
    return ", or ".join([*words, *(["null,"] if type(None) in parts else [])])


def _kind(kind: Any) -> str:
    """A type in words."""
    if get_origin(kind) is Literal:
        return " or ".join(map(str, get_args(kind)))
    if get_origin(kind) is dict or _is_model(kind):
        return "a section of keys"
    return KINDS.get(kind, "something else")


def _range(limits: Sequence[Any]) -> str:
    """Bounds in words, such as “ from 0 to 1”, “ of 1 or more” or “ above 0.5 and below 1”."""
    low: annotated_types.Ge | annotated_types.Gt | None = None
    high: annotated_types.Le | annotated_types.Lt | None = None
    for limit in reversed(limits):  # the first of a kind counts
        if isinstance(limit, annotated_types.MinLen):
            return " that is not empty"
        if isinstance(limit, annotated_types.Ge | annotated_types.Gt):
            low = limit
        elif isinstance(limit, annotated_types.Le | annotated_types.Lt):
            high = limit
    if isinstance(low, annotated_types.Ge) and isinstance(high, annotated_types.Le):
        return f" from {low.ge} to {high.le}"
    if isinstance(low, annotated_types.Ge) and high is None:
        return f" of {low.ge} or more"
    words: list[str] = []
    if low is not None:
        words.append(
            f"above {low.gt}" if isinstance(low, annotated_types.Gt) else f"of at least {low.ge}"
        )
    if high is not None:
        words.append(
            f"below {high.lt}" if isinstance(high, annotated_types.Lt) else f"of at most {high.le}"
        )
    return " " + " and ".join(words) if words else ""
