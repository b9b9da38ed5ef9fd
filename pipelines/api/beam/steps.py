"""What the engine's steps need as DoFns: a configuration of their own, and a pane's files.

A pane's documents are staged in a temporary folder, where the engine finds them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apache_beam as beam
import orjson

from evenflow.beam.elements import ADDED, Document, checked_document
from evenflow.pipelines.engine.panes.closing import Staged, stage
from evenflow.schemas.config import Config
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.blocks import BLOCK_RECORDS, Block
from evenflow.transforms.measures import registry
from evenflow.transforms.staging.block import StagedBlock


class PaneStep(beam.DoFn):
    """A step of the engine, whose tables are built and models loaded once a worker.

    Args:
        settings: The configuration, as plain data. `narrow` switches off what the step leaves out.

    Attributes:
        config: The step's configuration, from `setup` on.
        annotator: The engine's annotator under it, from `setup` on.
    """

    config: Config
    annotator: Annotator

    def __init__(self, settings: dict[str, Any]):
        self._settings = self.narrow(Config.model_validate(settings).model_dump())

    def narrow(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the configuration of the step; the given one may be changed."""
        return settings

    def setup(self) -> None:
        """Build the tables, and load models where they are needed."""
        self.config = Config.model_validate(self._settings)
        self.annotator = Annotator(self.config)

    @contextmanager
    def files(
        self, pane: int, documents: Sequence[Document]
    ) -> Iterator[tuple[Path, list[Staged]]]:
        """Stage the documents of a pane for a with-block: a temporary folder, and its blocks."""
        with TemporaryDirectory(prefix="evenflow-") as name:
            folder, blocks = Path(name), []
            for first in range(0, len(documents), BLOCK_RECORDS):
                part = staged_block(f"pane-{pane}", documents[first : first + BLOCK_RECORDS], first)
                done, stem = self.annotator.annotate(part), f"{first:012d}"
                stage(done, StagedBlock(folder, stem), self.annotator)
                blocks.append(Staged((0, first), stem, done.figures))
            yield folder, blocks


def without_measures(settings: dict[str, Any], kept: Container[str]) -> dict[str, Any]:
    """Switch off the measures that ship, in a configuration and its attributes, but some."""
    for name, each in registry.measures().items():
        for section in (settings, *settings["attributes"].values()):
            if name in section and name not in kept:
                section[name] |= each.off
    return settings


def staged_block(name: str, documents: Sequence[Mapping[str, Any]], first: int = 0) -> Block:
    """Documents as a block of records, which the engine reads.

    Args:
        name: Stands in the place of a file's name, for ids that are made.
        documents: The documents; what `AnnotateDocuments` added is left out.
        first: Ordinal of the first one, from 0.

    Raises:
        UnusableError: A document is no dict.
    """
    records = [
        orjson.dumps(
            {key: value for key, value in checked_document(each).items() if key not in ADDED}
        )
        for each in documents
    ]
    return Block(name, first, records, 0)
