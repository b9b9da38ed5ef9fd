"""What `evenflow measure` does: figures of the input, nothing written. Without Beam, whose import
takes a second.
"""

from __future__ import annotations

from collections.abc import Iterator

from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io import files
from evenflow.transforms.io.blocks import join_texts, read_blocks


def measure(inputs: list[str], config: Config) -> Iterator[Figures]:
    """Figures of each block of the input, in order. Raises InputError, OSError, WordListError."""
    annotator = Annotator(config)
    source = (block for name in files.match(inputs) for block in read_blocks(name))
    for block in join_texts(source):
        yield annotator.measure(block)
