"""What is mined, and what scores it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from evenflow.gates.ledger.files import read_meta
from evenflow.pipelines.lab.train.rows import select
from evenflow.schemas.config import Config
from evenflow.transforms.io import files
from evenflow.transforms.io.blocks import join_texts, read_blocks
from evenflow.transforms.io.records import validate
from evenflow.transforms.lab.masking.scoring import MaskedScorer, Scorer
from evenflow.transforms.storage.storage import at
from evenflow.wordlists.loader import WordList


class Document(NamedTuple):
    """A document."""

    id: str
    text: str


@dataclass(frozen=True)
class Source:
    """What is mined."""

    record: dict[str, Any]
    documents: Iterable[Document]


def source(inputs: list[str], config: Config) -> Source:
    """Open what is mined."""
    first = inputs[0]
    if len(inputs) == 1 and (Path(first).is_dir() or "://" in first) and read_meta(at(first)):
        data = select(at(first))
        return Source(data.record(), (Document(row.id, row.text) for row in data.rows()))
    names = files.match(inputs)
    root = files.root(names)

    def read() -> Iterator[Document]:
        blocks = (block for name in names for block in read_blocks(name))
        for block in join_texts(blocks):
            found = validate(block, config, frozenset(), keep_fields=False, root=root)
            yield from map(Document, found.ids, found.texts)

    return Source(
        {"files": {name.removeprefix(root): size for name, size in names.items()}}, read()
    )


def scorer_of(model: str, words: WordList) -> tuple[Scorer, str]:
    """Load what scores sentences."""
    from evenflow.transforms.lab.language_models.masked import MaskedModel
    from evenflow.transforms.models import loading

    loaded = loading.load(model, kind="masked")
    return MaskedScorer(MaskedModel(loaded), words.groups), loading.digest(model)
