"""Reads the documents of files, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evenflow.schemas.config import Config
from evenflow.schemas.config.fields import Fields
from evenflow.transforms.io import files
from evenflow.transforms.io.blocks import Block, join_files, read_blocks
from evenflow.transforms.io.first_records import check_text_field
from evenflow.transforms.io.records import Documents, validate


def blocks(names: Sequence[str], own: Fields) -> Iterator[Block]:
    """Read files in blocks.

    Raises:
        InputError: The first records have no text in the field that `own` names.
    """
    check_text_field(names, own)
    return join_files(block for name in names for block in read_blocks(name))


def read(inputs: Sequence[str], config: Config, keep_fields: bool = False) -> Iterator[Documents]:
    """Read paths, folders or globs."""
    names = files.match(list(inputs))
    root = files.root(names)
    for block in blocks(list(names), config.fields):
        yield validate(block, config, frozenset(), keep_fields=keep_fields, root=root)
