"""Validates and annotates a block: parses its records, finds labels and sentences, counts. What fails is a dead letter."""

from __future__ import annotations

import base64
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.config import Config
from evenflow.transforms.files import Block
from evenflow.transforms.labels import LabelFinder
from evenflow.transforms.sentences import bounds
from evenflow.wordlists import loader

DEAD_BYTES = 1 << 20  # of a dead letter's raw bytes are kept; its position leads to the rest
BETWEEN = "\n\n"  # joins documents: neither a sentence nor a label crosses a blank line


@dataclass
class Annotated:
    """A block after reading: its table (documents.schema), dead letters as JSON-able records, and figures."""

    table: pa.Table
    dead: list[dict[str, Any]]
    figures: documents.Figures


class Annotator:
    """Annotates blocks under a configuration; built once a worker."""

    def __init__(self, config: Config):
        self.config = config
        self.lists = [loader.load(each.wordlist or name) for name, each in config.attributes.items()]
        self.attributes = tuple(documents.Attribute(words.attribute, words.groups) for words in self.lists)
        self.schema = documents.schema(self.attributes)
        self._finder = LabelFinder(self.lists)
        self._max_text = config.max_text_mib << 20

    def annotate(self, block: Block, sentences: bool = True) -> Annotated:
        """The block's documents with their mentions; sentences are bounded only where they are asked for."""
        ids: list[str] = []
        texts: list[str] = []
        extras: list[str] = []
        places: list[int] = []
        dead: list[dict[str, Any]] = []
        reasons: Counter[str] = Counter()
        for place, raw in enumerate(block.records, block.first):
            try:
                identity, text, extra = self._parse(block, place, raw)
            except Unusable as error:
                reasons[error.kind] += 1
                dead.append(_letter(block.file, place, str(error), raw))
                continue
            ids.append(identity)
            texts.append(text)
            extras.append(extra)
            places.append(place)
        if block.fault is not None:
            reasons["unreadable file"] += 1
            dead.append(_letter(block.file, block.first, block.fault, b""))
        figures = documents.Figures(len(texts), 0, block.bytes, 0, dict(reasons), {})
        columns = self._count(block, ids, texts, places, figures, sentences)
        table = pa.Table.from_arrays(
            [
                pa.array(ids, pa.string()),
                pa.array(texts, pa.large_string()),
                pa.array(extras, pa.large_string()),
                *columns,
            ],
            schema=self.schema,
        )
        figures.text_bytes = table["text"].nbytes - 8 * (len(texts) + 1) if texts else 0
        return Annotated(table, dead, figures)

    def _parse(self, block: Block, place: int, raw: bytes) -> tuple[str, str, str]:
        """Id, text and other fields of a record; raises Unusable."""
        made = f"{block.file.rsplit('/', 1)[-1]}#{place}"
        if block.text:
            try:
                return made, self._text(raw.decode("utf-8")), "{}"
            except UnicodeDecodeError as error:
                raise Unusable("invalid UTF-8", f"invalid UTF-8 at byte {error.start}") from error
        try:
            record = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise Unusable("not JSON", f"not JSON: {error}") from error
        if not isinstance(record, dict):
            raise Unusable("not an object", f"a JSON object was expected, not {type(record).__name__}")
        fields = self.config.fields
        if fields.text not in record:
            raise Unusable("text missing", f"field {fields.text!r} is missing")
        text = record.pop(fields.text)
        if not isinstance(text, str):
            what = "null" if text is None else f"of type {type(text).__name__}"
            raise Unusable("text not a string", f"field {fields.text!r} is {what}; text was expected")
        identity = record.pop(fields.id, None)
        if identity is not None and not isinstance(identity, str | int):
            raise Unusable("id unusable", f"field {fields.id!r} is neither text nor a whole number")
        return (
            made if identity in (None, "") else str(identity),
            self._text(text),
            orjson.dumps(record).decode() if record else "{}",
        )

    def _text(self, text: str) -> str:
        if not text.strip():
            raise Unusable("text empty", "the text is empty")
        if len(text) > self._max_text:
            raise Unusable("text too long", f"the text has {len(text)} characters; max_text_mib is {self.config.max_text_mib}")
        return text

    def _count(
        self,
        block: Block,
        ids: list[str],
        texts: list[str],
        places: list[int],
        figures: documents.Figures,
        sentences: bool,
    ) -> list[pa.Array]:
        """Fill in the figures of labels and sentences; the mentions' columns in the schema's order."""
        joined = BETWEEN.join(texts)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + len(BETWEEN)
        begins = np.cumsum(lengths) - lengths
        bounded = bounds(joined) if sentences and texts else np.zeros(0, np.int64)
        figures.sentences = len(bounded)
        columns: list[pa.Array] = []
        for number, (words, found) in enumerate(zip(self.lists, self._finder.find_all(joined), strict=True)):
            size = len(words.groups)
            owner = np.searchsorted(begins, found.starts, "right") - 1
            counts = np.bincount(owner * size + found.groups, minlength=len(texts) * size).reshape(len(texts), size)
            said = counts[counts.any(axis=1)].astype(np.int64)
            numbers = np.bincount(found.labels, minlength=1)
            labels = self._finder.labels(number)
            relevant = len(np.unique(np.searchsorted(bounded, found.starts, "right"))) if len(bounded) else 0
            totals = counts.sum(axis=1)
            top = [int(i) for i in np.argsort(-totals, kind="stable")[: documents.HEAVY] if totals[i]]
            figures.attributes[words.attribute] = documents.AttributeFigures(
                documents=len(said),
                counts=[int(n) for n in said.sum(axis=0)],
                products=[[int(n) for n in row] for row in said.T @ said],
                relevant=relevant,
                labels={labels[i]: int(numbers[i]) for i in np.flatnonzero(numbers)},
                heavy=[
                    {
                        "id": ids[i],
                        "at": [block.file, places[i]],
                        "counts": [int(n) for n in counts[i]],
                        "snippet": texts[i][: documents.SNIPPET],
                    }
                    for i in top
                ],
            )
            columns += [pa.array(counts[:, group], pa.int32()) for group in range(size)]
        return columns


class Unusable(ValueError):
    """A record that cannot become a document. kind: its class, for counting."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


def _letter(file: str, place: int, reason: str, raw: bytes) -> dict[str, Any]:
    return {
        "file": file,
        "ordinal": place,
        "reason": reason,
        "bytes": len(raw),
        "raw_base64": base64.b64encode(raw[:DEAD_BYTES]).decode(),
    }
