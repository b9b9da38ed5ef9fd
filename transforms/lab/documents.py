"""Reads the documents of a corpus that no gate has read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evenflow.schemas.config import Config
from evenflow.transforms.io import files
from evenflow.transforms.io.blocks import join_texts, read_blocks
from evenflow.transforms.io.first_records import check_text_field
from evenflow.transforms.io.records import Documents, validate


def read(inputs: Sequence[str], config: Config, keep_fields: bool = False) -> Iterator[Documents]:
    """Read paths, folders or globs, block by block."""
    names = files.match(list(inputs))
    check_text_field(list(names), config.fields)
    root = files.root(names)
    for block in join_texts(block for name in names for block in read_blocks(name)):
        yield validate(block, config, frozenset(), keep_fields=keep_fields, root=root)
