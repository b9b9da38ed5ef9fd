"""Texts of a record that are exchanged together: the document's text, then some of its fields.

A premise and its hypothesis speak of the same people, so they are read as one text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import pyarrow as pa

from evenflow.schemas.config import Config
from evenflow.transforms.labels.finder import BETWEEN
from evenflow.transforms.substitution.sets import Edit, apply, within


def field_names(config: Config) -> tuple[str, ...]:
    """The fields besides the text in which swapped copies have other words (bias_score.fields)."""
    return tuple(name for name in config.bias_score.fields if name != config.fields.column)


def texts_of(
    texts: Sequence[str], fields: Mapping[pa.Field, pa.Array], names: Sequence[str]
) -> list[list[str]]:
    """The texts of D documents that belong together.

    Returns:
        For each document its text and the values of the fields; an empty text where there is none.
    """
    known = {each.name: values.to_pylist() for each, values in fields.items() if each.name in names}
    columns = [known.get(name, [None] * len(texts)) for name in names]
    return [
        [text, *(value if isinstance(value, str) else "" for value in values)]
        for text, *values in zip(texts, *columns, strict=True)
    ]


def apply_apart(texts: Sequence[str], edits: Sequence[Edit]) -> list[str]:
    """Apply edits of joined texts to each of them.

    Args:
        edits: The edits by offsets in BETWEEN.join(texts), in order.
    """
    begins = accumulate((len(text) + len(BETWEEN) for text in texts), initial=0)
    places = [(begin, end - len(BETWEEN)) for begin, end in pairwise(begins)]
    return [apply(text, within(edits, *place)) for text, place in zip(texts, places, strict=True)]
