"""Stages the documents of a pane in a temporary folder, where the engine's steps find them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apache_beam as beam

from evenflow.beam.annotating import staged_block
from evenflow.beam.elements import Document
from evenflow.pipelines.engine.panes.closing import Staged, stage
from evenflow.schemas.config import Config
from evenflow.schemas.documents import ORDINAL, Figures, RepairedPane
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.blocks import BLOCK_RECORDS
from evenflow.transforms.repair import realise
from evenflow.transforms.staging.block import Part, StagedBlock
from evenflow.transforms.staging.shards import ShardLayout, write_shards

WEIGHT = "weight"  # a document's weight


@dataclass(frozen=True)
class Files:
    """The staged documents of a pane.

    Attributes:
        folder: The temporary folder.
        blocks: The blocks, in order.
    """

    folder: Path
    blocks: list[Staged]

    @property
    def staged(self) -> list[StagedBlock]:
        """The blocks' files that have documents."""
        found = [StagedBlock(self.folder, each.stem) for each in self.blocks]
        return [each for each in found if each.has(Part.DOCUMENTS)]

    @property
    def figures(self) -> Figures:
        """The sum of the blocks' figures."""
        return RepairedPane.unchanged(each.figures for each in self.blocks).figures


class PaneStep(beam.DoFn):
    """A step on whole panes.

    Args:
        settings: The configuration, as plain data.
    """

    def __init__(self, settings: dict[str, Any]):
        self._settings = settings

    def setup(self) -> None:
        """Build the tables, and load models where they are needed."""
        self.config = Config.model_validate(self._settings)
        self.annotator = Annotator(self.config)

    @contextmanager
    def files(self, pane: int, documents: Sequence[Document]) -> Iterator[Files]:
        """Stage the documents of a pane in a temporary folder, for a with-block."""
        with TemporaryDirectory(prefix="evenflow-") as name:
            folder, blocks = Path(name), []
            for first in range(0, len(documents), BLOCK_RECORDS):
                part = staged_block(f"pane-{pane}", documents[first : first + BLOCK_RECORDS], first)
                done, stem = self.annotator.annotate(part), f"{first:012d}"
                stage(done, StagedBlock(folder, stem), self.annotator)
                blocks.append(Staged((0, first), stem, done.figures))
            yield Files(folder, blocks)

    def layout(self) -> ShardLayout:
        """How shards are laid out."""
        own = self.config.fields
        return ShardLayout(self.annotator.attributes, own.text, own.id, self.config.shards.rows)

    def write(self, pane: int, documents: Sequence[Document], files: Files) -> list[Any]:
        """Write the shards of a pane, with its documents' weights, into its folder."""
        give = None
        if self.config.has_weights:
            places = [
                block.read(Part.DOCUMENTS)[ORDINAL.name].to_pylist() for block in files.staged
            ]
            weights = [[documents[at].get(WEIGHT, 1.0) for at in each] for each in places]
            give = realise.as_column(weights)  # pyright: ignore[reportArgumentType]
        return write_shards(files.staged, files.folder, pane, self.layout(), give)
