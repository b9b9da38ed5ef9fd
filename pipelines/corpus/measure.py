"""Measures files for `evenflow measure`: nothing is written.

Beam is not used, since its import takes a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io import documents, files
from evenflow.transforms.measures.measure import Counter


def measure(
    inputs: list[str], config: Config, more: Mapping[str, Counter] | None = None
) -> Iterator[Figures]:
    """Measure the input.

    Args:
        inputs: Paths, folders or globs.
        more: What counts besides the measures of the configuration, by name.

    Yields:
        The figures of each block, in order.

    Raises:
        InputError: An input names no file, or a file cannot be read as its kind.
        OSError: A file cannot be read.
        WordListError: A word list cannot be used.
    """
    names = list(files.find(inputs, config.strict_input).files)
    blocks = documents.blocks(names, config.fields)
    annotator = Annotator(config, more=more)
    for block in blocks:
        yield annotator.measure(block)
