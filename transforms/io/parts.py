"""Texts that lie deeper in a record, or in several of its fields: a document of parts.

A path says where they are: `data.body`, `messages[].content`, `messages[role=assistant].content`,
with several values as `[role=user|assistant]`. The parts of a document are read, counted and
repaired as one text, with SEPARATOR between them, and are written back where they were.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from evenflow.schemas.config.fields import Fields
from evenflow.transforms.io import fields

# Ends sentences and paragraphs, is no whitespace that a repair would change, and is in no text
SEPARATOR = "\n\n\u2063\n\n"
STEP = re.compile(r"[^.\[\]]+|\[[^\]]*\]")


class Place(NamedTuple):
    """Where a text is: in a list or an object, under a number or a name."""

    holder: Any
    key: Any


class Paths:
    """The paths to a document's texts.

    Args:
        paths: As the configuration gives them.
    """

    def __init__(self, paths: Sequence[str]):
        self._paths = [(path, STEP.findall(path) or [path]) for path in paths]
        self.names = tuple(dict.fromkeys([steps[0] for _, steps in self._paths] + [*paths]))

    def read(self, record: Mapping[str, Any]) -> list[str]:
        """The texts of a record, in the order of the paths; none that is blank."""
        return [place.holder[place.key] for place in self._places(record)]

    def write(self, record: Mapping[str, Any], parts: Sequence[str]) -> dict[str, Any]:
        """A copy of a record with other texts, as many as it has."""
        changed = copy.deepcopy(dict(record))
        for place, part in zip(self._places(changed), parts, strict=True):
            place.holder[place.key] = part
        return changed

    def _places(self, record: Mapping[str, Any]) -> list[Place]:
        found: dict[tuple[int, Any], Place] = {}
        for path, steps in self._paths:
            steps = [path] if path in record else steps  # a field's own name may have a dot
            for place in _walk(Place([record], 0), steps):
                found.setdefault((id(place.holder), place.key), place)
        return list(found.values())


def names_of(own: Fields) -> tuple[str, ...]:
    """The fields of a record that hold its text, or with which the paths to its parts begin."""
    return (own.column,) if own.paths is None else Paths(own.paths).names


def _walk(place: Place, steps: Sequence[str]) -> Iterator[Place]:
    """The places of texts below one, by the steps of a path."""
    value = place.holder[place.key]
    if not steps:
        if isinstance(value, str) and value.strip():
            yield place
    elif steps[0][0] != "[" or not steps[0].endswith("]"):
        if isinstance(value, dict) and steps[0] in value:
            yield from _walk(Place(value, steps[0]), steps[1:])
    elif isinstance(value, list):
        name, _, wanted = steps[0][1:-1].partition("=")
        for number, each in enumerate(value):
            if not name or (isinstance(each, dict) and each.get(name) in wanted.split("|")):
                yield from _walk(Place(value, number), steps[1:])


def written_back(
    paths: Paths, texts: Sequence[str], columns: Mapping[pa.Field, Any]
) -> dict[pa.Field, Any]:
    """The other fields of documents with the texts as they are now.

    Args:
        paths: The paths to the texts.
        texts: The texts (D,), of parts.
        columns: The fields as they were staged (D,).

    Returns:
        The fields; a document whose text has lost a mark between two parts keeps its own.
    """
    own = {
        column: values
        for column, values in columns.items()
        if column.name in paths.names or fields.is_all(column)
    }
    rows: dict[pa.Field, list[Any]] = {
        column: fields.values_of(column, values) for column, values in own.items()
    }
    changed = False
    for number, text in enumerate(texts):
        record: dict[str, Any] = {}
        for column, values in rows.items():
            value = values[number]
            record |= value if fields.is_all(column) else {column.name: value}
        before, parts = paths.read(record), text.split(SEPARATOR)
        if before == parts or len(before) != len(parts):
            continue
        changed, record = True, paths.write(record, parts)
        for column, values in rows.items():
            is_all = fields.is_all(column)
            values[number] = {**values[number], **record} if is_all else record[column.name]
    if not changed:
        return dict(columns)
    made = {column: fields.column_of(column, values) for column, values in rows.items()}
    return {**columns, **made}
