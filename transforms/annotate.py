"""Annotates the documents of a block: label mentions, sentence bounds, counts; and stages the block as Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.config import Config
from evenflow.transforms.files import Block
from evenflow.transforms.labels import LabelFinder, uncut
from evenflow.transforms.records import Documents, validate
from evenflow.transforms.sentences import bounds
from evenflow.wordlists import loader

BETWEEN = "\n\n"  # joins documents: neither a sentence nor a label crosses a blank line
# Characters that are searched at a time; a longer document is searched alone. It bounds the memory of the arrays.
PIECE = 4 << 20

Ints = npt.NDArray[np.int64]


@dataclass
class Annotated:
    """A block after reading: its table (documents.staged_schema), dead letters as JSON-able records, and figures."""

    table: pa.Table
    dead: list[dict[str, Any]]
    figures: documents.Figures


class Annotator:
    """Annotates blocks under a configuration; built once a process. Raises WordListError."""

    def __init__(self, config: Config):
        self.config = config
        self.lists = [loader.load(each.wordlist or name) for name, each in config.attributes.items()]
        self.attributes = tuple(documents.Attribute(words.attribute, words.groups) for words in self.lists)
        self.own = frozenset(documents.own_columns(self.attributes))
        self._finder = LabelFinder(self.lists)

    def measure(self, block: Block) -> documents.Figures:
        """The figures of a block; no sentences are bounded and no other fields kept."""
        found = validate(block, self.config, self.own, keep_fields=False)
        figures, _ = self.count(found.file, found.ids, found.texts, found.places, with_sentences=False)
        figures.input_bytes = sum(block.weights())
        figures.dead_reasons = dict(found.reasons)
        return figures

    def annotate(self, block: Block) -> Annotated:
        """The block's documents with their mentions."""
        return self.annotated(validate(block, self.config, self.own), sum(block.weights()))

    def annotated(self, found: Documents, input_bytes: int) -> Annotated:
        """Validated documents with their mentions; input_bytes: of the records that they came from."""
        figures, counts = self.count(found.file, found.ids, found.texts, found.places)
        figures.input_bytes = input_bytes
        figures.dead_reasons = dict(found.reasons)
        return Annotated(self._table(found, counts), found.dead, figures)

    def _table(self, found: Documents, counts: list[Ints]) -> pa.Table:
        columns: list[tuple[pa.Field, Any]] = [
            (documents.ID, pa.array(found.ids, pa.string())),
            (documents.TEXT, pa.array(found.texts, pa.large_string())),
            (documents.ORDINAL, pa.array(found.places, pa.int64())),
        ]
        for attribute, each in zip(self.attributes, counts, strict=True):
            for number, column in enumerate(documents.mention_fields(attribute)):
                columns.append((column, pa.array(each[:, number], pa.int32())))
        columns += found.fields.items()
        schema = pa.schema([column for column, _ in columns], metadata={documents.FILE: found.file.encode()})
        return pa.Table.from_arrays([values for _, values in columns], schema=schema)

    def count(
        self, file: str, ids: Sequence[str], texts: Sequence[str], places: Sequence[int], with_sentences: bool = True
    ) -> tuple[documents.Figures, list[Ints]]:
        """Figures of D documents, and for each attribute the mentions of its groups in each of them, (D, M)."""
        figures = documents.Figures(documents=len(texts), text_bytes=sum(map(_utf8_length, texts)))
        for attribute in self.attributes:
            figures.attributes[attribute.name] = documents.AttributeFigures.empty(len(attribute.groups))
        parts: list[list[Ints]] = []
        for first, last in _pieces(texts):
            part, counts = self._piece(file, ids[first:last], texts[first:last], places[first:last], with_sentences)
            figures.add(part)
            parts.append(counts)
        none = [np.zeros((0, len(attribute.groups)), np.int64) for attribute in self.attributes]
        return figures, [np.concatenate(each) for each in zip(none, *parts, strict=True)]

    def _piece(
        self, file: str, ids: Sequence[str], texts: Sequence[str], places: Sequence[int], with_sentences: bool
    ) -> tuple[documents.Figures, list[Ints]]:
        joined = BETWEEN.join(texts)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + len(BETWEEN)
        begins = np.cumsum(lengths) - lengths
        every = self._finder.find_all(joined)
        starts = uncut(bounds(joined), every) if with_sentences else np.zeros(0, np.int64)
        figures = documents.Figures(sentences=len(starts))
        counts: list[Ints] = []
        for number, (words, found) in enumerate(zip(self.lists, every, strict=True)):
            size = len(words.groups)
            owner = np.searchsorted(begins, found.starts, "right") - 1
            each = np.bincount(owner * size + found.groups, minlength=len(texts) * size).reshape(len(texts), size)
            said = each[each.any(axis=1)].astype(np.int64)
            numbers = np.bincount(found.labels, minlength=1)
            labels = self._finder.labels(number)
            totals = each.sum(axis=1)
            top = [int(i) for i in np.argsort(-totals, kind="stable")[: documents.HEAVY] if totals[i]]
            figures.attributes[words.attribute] = documents.AttributeFigures(
                documents=len(said),
                counts=[int(n) for n in said.sum(axis=0)],
                products=[[int(n) for n in row] for row in said.T @ said],
                relevant=_changes(np.searchsorted(starts, found.starts, "right")) if len(starts) else 0,
                labels={labels[i]: int(numbers[i]) for i in np.flatnonzero(numbers)},
                heavy=[
                    {
                        "id": ids[i],
                        "at": [file, places[i]],
                        "counts": [int(n) for n in each[i]],
                        "snippet": texts[i][: documents.SNIPPET],
                    }
                    for i in top
                ],
            )
            counts.append(each)
        return figures, counts


def _pieces(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Ranges first..last (last excluded) of documents that are searched together."""
    first, size = 0, 0
    for i, text in enumerate(texts):
        if size and size + len(text) > PIECE:
            yield first, i
            first, size = i, 0
        size += len(text)
    if len(texts) > first:
        yield first, len(texts)


def _changes(values: Ints) -> int:
    """How many different values an ascending array (n,) holds."""
    return int(np.count_nonzero(values[1:] != values[:-1])) + (len(values) > 0)


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
