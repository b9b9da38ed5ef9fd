"""What the engine's steps need as DoFns: a configuration of their own, and a pane's files.

A step acts on some sections of the configuration only. A pane's documents are staged in a temporary
folder, where the engine finds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import apache_beam as beam
import orjson

from evenflow.beam.elements import ADDED, Document, checked_document
from evenflow.pipelines.engine.panes.closing import Staged, stage
from evenflow.schemas.config import Config
from evenflow.schemas.documents import ORDINAL, Figures, RepairedPane
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.blocks import BLOCK_RECORDS, Block
from evenflow.transforms.measures import registry
from evenflow.transforms.repair import realise
from evenflow.transforms.staging.block import Part, StagedBlock
from evenflow.transforms.staging.shards import ShardLayout, write_shards

WEIGHT = "weight"  # a document's weight


class EngineStep(beam.DoFn):
    """A step of the engine, whose tables are built and models loaded once a worker.

    Args:
        settings: The configuration, as plain data. What the step does not act on is switched off.

    Attributes:
        sections: The sections of the configuration that the step acts on.
        of_attributes: Keys of each attribute's settings that it acts on.
        config: The step's configuration, from `setup` on.
    """

    sections: ClassVar[tuple[str, ...]] = ()
    of_attributes: ClassVar[tuple[str, ...]] = ()
    config: Config

    def __init__(self, settings: dict[str, Any]):
        self._settings = measured(Config.model_validate(settings))
        self._settings |= {key: settings[key] for key in self.sections}
        for name, attribute in self._settings["attributes"].items():
            attribute |= {key: settings["attributes"][name][key] for key in self.of_attributes}

    def setup(self) -> None:
        """Read the configuration."""
        self.config = Config.model_validate(self._settings)


@dataclass(frozen=True)
class Files:
    """The staged documents of a pane."""

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


class PaneStep(EngineStep):
    """A step on whole panes.

    Attributes:
        annotator: The engine's annotator under the step's configuration, from `setup` on.
    """

    annotator: Annotator

    def setup(self) -> None:
        """Build the tables, and load models where they are needed."""
        super().setup()
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
        return ShardLayout(self.annotator.attributes, own.column, own.id, self.config.shards.rows)

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


def measured(config: Config) -> dict[str, Any]:
    """A configuration, as plain data, in which texts are measured and never changed.

    Weights that are a column stay.
    """
    data = config.model_dump()
    keeps = config.repair.realise == "weight"
    for name, each in data["attributes"].items():
        each["mode"] = ["weight"] if keeps and config.weighs(name) else ["measure"]
    data["repair"]["mode"] = ["measure"]
    for name, each in registry.measures().items():
        for section in (data, *data["attributes"].values()):
            if name in section:
                section[name] |= each.off
    data["measures"] = {}
    return data


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
