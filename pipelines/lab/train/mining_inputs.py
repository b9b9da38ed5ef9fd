"""What is mined, and what scores it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenflow.gates.ledger.files import read_meta
from evenflow.pipelines.lab.train.rows import Row, select
from evenflow.schemas.config import Config
from evenflow.transforms.io import documents, files
from evenflow.transforms.lab.masking.scoring import MaskedScorer, Scorer
from evenflow.transforms.storage.storage import at
from evenflow.wordlists.loader import WordList


@dataclass(frozen=True)
class Source:
    """What is mined."""

    record: dict[str, Any]
    documents: Iterable[Row]


def source(inputs: list[str], config: Config) -> Source:
    """Open what is mined."""
    first = inputs[0]
    if len(inputs) == 1 and (Path(first).is_dir() or "://" in first) and read_meta(at(first)):
        data = select(at(first))
        return Source(data.record(), data.rows())
    names = files.match(inputs)
    root = files.root(names)
    sizes = {name.removeprefix(root): size for name, size in names.items()}
    blocks = documents.read(inputs, config)
    return Source(
        {"files": sizes}, (row for each in blocks for row in map(Row, each.ids, each.texts))
    )


def scorer_of(model: str, words: WordList) -> tuple[Scorer, str]:
    """Load what scores sentences."""
    from evenflow.transforms.lab.language_models.masked import MaskedModel
    from evenflow.transforms.models import loading

    loaded = loading.load(model, kind="masked")
    return MaskedScorer(MaskedModel(loaded), words.groups), loading.digest(model)
