"""Knows common shapes of records by the fields that hold their texts."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenflow.transforms.io.parts import Paths

# Paths of common shapes of fine-tuning data
SHAPES = {
    "messages[].content": "chat (messages)",
    "conversations[].value": "chat (ShareGPT)",
    "conversations[].content": "chat (conversations)",
    "conversation[].content": "chat (conversation)",
    "messages[].content[].text": "chat (messages of parts)",
    "chosen[].content": "preferences (chosen and rejected)",
}
# The columns of others; all must be there
COLUMNS = {
    ("instruction", "output"): "Alpaca (instruction and output)",
    ("instruction", "response"): "instructions (instruction and response)",
    ("prompt", "chosen", "rejected"): "preferences (prompt, chosen and rejected)",
    ("chosen", "rejected"): "preferences (chosen and rejected)",
    ("prompt", "completion"): "prompt and completion",
    ("prompt", "response"): "prompt and response",
    ("question", "answer"): "question and answer",
    ("inputs", "targets"): "inputs and targets",
}
OPTIONAL = {
    ("instruction", "output"): ("input", "system"),
    ("instruction", "response"): ("context", "system"),
}
PATHS = {path: Paths([path]) for path in SHAPES}


def paths_in(record: Mapping[str, Any]) -> Iterator[str]:
    """The paths of SHAPES at which a record has texts."""
    return (path for path, own in PATHS.items() if own.read(record))


def shape_of(
    texts: Sequence[str], names: Sequence[str], shapes: Mapping[str, int], records: int
) -> tuple[str | list[str], str] | None:
    """Find where records of a common shape have their texts.

    Args:
        texts: Fields with texts.
        names: All fields.
        shapes: How many records have texts at each path of SHAPES.

    Returns:
        The field, path, or several of them, and the shape; None where it is no common one.
    """
    for path, shape in SHAPES.items():
        if shapes.get(path, 0) * 2 > records:
            return [path, "rejected[].content"] if path.startswith("chosen") else path, shape
    for own, shape in COLUMNS.items():
        if all(name in texts for name in own):
            return [*own, *(name for name in OPTIONAL.get(own, ()) if name in names)], shape
    return None


def advice(names: Sequence[str], records: Sequence[Mapping[str, Any]]) -> str:
    """Say which fields there are, and how to name that of the text.

    Args:
        names: The fields.
        records: The first records; none where only the names of fields are known.
    """
    shapes = Counter(path for record in records for path in paths_in(record))
    found = shape_of(names, names, shapes, max(len(records), 1))
    text = "NAME" if found is None else found[0]
    value = text if isinstance(text, str) else f"[{', '.join(text)}]"
    shape = "" if found is None else f"The shape is that of {found[1]}. "
    return (
        f"there are {', '.join(names)}. {shape}Name the field of the text with --set"
        f" {shlex.quote(f'fields.text={value}')}, in Python with the configuration"
        f" {{'fields.text': {text!r}}}"
    )
