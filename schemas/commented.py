"""Settings as YAML, with the meaning of each key in a comment above it.

What is written loads back as the same settings.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import BaseModel

from evenflow.schemas.guards import is_mapping

WIDTH = 80  # columns of a comment: it is read in a terminal


def commented(settings: BaseModel) -> str:
    """Write a pydantic model as YAML; each field's description is a comment above it."""
    return "\n".join(_lines(settings, 0, explained=True)).lstrip("\n") + "\n"


def _lines(settings: BaseModel, depth: int, explained: bool) -> Iterator[str]:
    """Lines of a section at a depth of indentation; explained: with comments."""
    pad = "  " * depth
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if explained and field.description:
            if not depth:
                yield ""
            yield from textwrap.wrap(
                field.description,
                WIDTH,
                initial_indent=f"{pad}# ",
                subsequent_indent=f"{pad}# ",
                break_on_hyphens=False,
            )
        if isinstance(value, BaseModel):
            yield f"{pad}{name}:"
            yield from _lines(value, depth + 1, explained)
        elif is_mapping(value) and value:
            yield f"{pad}{name}:"
            first = explained
            for key, item in value.items():
                if isinstance(item, BaseModel):
                    yield f"{pad}  {scalar(key)}:"
                    yield from _lines(item, depth + 2, first)
                    first = False  # equal sections are explained once
                else:
                    yield f"{pad}  {scalar(key)}: {scalar(item)}"
        else:
            yield f"{pad}{name}: {scalar(value)}"


def scalar(value: Any) -> str:
    """Write a value on one line, in quotes where YAML would read something else."""
    style = None
    if isinstance(value, str) and not (value.isprintable() and value.isascii()):
        style = '"'  # this style escapes, so any character fits on one line
    dumped = yaml.dump(
        value, Dumper=yaml.SafeDumper, default_style=style, default_flow_style=True, width=math.inf
    )
    return dumped.removesuffix("\n").removesuffix("\n...")
