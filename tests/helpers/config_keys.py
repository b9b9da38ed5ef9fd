"""All keys of the configuration, from its schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo


def keys(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, FieldInfo]]:
    """All keys of a section and those below it, by dotted path; * is any name."""
    for name, field in model.model_fields.items():
        here = (*path, name)
        yield ".".join(here), field
        yield from below(field.annotation, here)


def below(annotation: Any, path: tuple[str, ...]) -> Iterator[tuple[str, FieldInfo]]:
    """The keys of the sections in a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from keys(annotation, path)
    elif getattr(annotation, "__origin__", None) is dict:
        yield from below(get_args(annotation)[1], (*path, "*"))
    else:
        for each in get_args(annotation):
            yield from below(each, path)
