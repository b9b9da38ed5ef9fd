"""Looks at a sample of an input: its fields, languages and groups.

`evenflow init` writes a configuration from it.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import Score, Sums
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.annotation.sample import sample_blocks
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.lines import fields, header_fields
from evenflow.transforms.io.records import validate
from evenflow.transforms.io.shapes import paths_in, shape_of
from evenflow.transforms.measures.representation.dr import score, sums

SAMPLE = 2000  # documents that are looked at
PANES = 20  # that a small input is cut into: enough to see a course
DEEPEST = 3  # objects around a field that is seen
FEW_VALUES = 20  # different values of a field that names languages, at most
SOURCE = re.compile(r"([^.]*_)?(source|dataset|subset|corpus|domain|kind|origin|site)(_.*)?", re.I)
MOST_SOURCES = 256  # different values of a field that names sources, at most
LANGUAGE = re.compile(r"lang(uage)?(_.*|s)?", re.IGNORECASE)


# A text of one word, of any length, is none: an id, a URL, a path, a date
NO_PROSE = re.compile(r"\s*\S*\s*")


class NoTextError(ValueError):
    """No field of the sampled records holds texts."""


@dataclass
class Field:
    """A field as the sampled records have it.

    `prose`: Characters of its texts of several words. `values`: How often it has each of its
    values; texts of up to 80 characters and numbers.
    """

    records: int = 0
    texts: int = 0
    characters: int = 0
    prose: int = 0
    values: Counter[str] = field(default_factory=Counter[str])

    def add(self, value: Any) -> None:
        """Note a value."""
        self.records += value is not None
        if isinstance(value, str):
            self.texts += 1
            self.characters += len(value)
            self.prose += len(value) * (NO_PROSE.fullmatch(value) is None)
        if isinstance(value, int) or (isinstance(value, str) and len(value) <= 80):
            self.values[str(value)] += 1

    @property
    def is_unique(self) -> bool:
        """Whether each record has a value of its own."""
        return len(self.values) == self.records > 1


@dataclass(frozen=True)
class Seen:
    """What a sample says of one attribute."""

    groups: tuple[str, ...]
    score: Score
    sums: Sums

    @property
    def total(self) -> float:
        """All mentions of the sample."""
        return sum(self.sums.counts)


@dataclass(frozen=True)
class Look:
    """What was seen.

    Attributes:
        fields: The fields of records; none where files are texts.
        text: The field of the text, or paths to its parts; none where files are texts.
        shape: What shape of records it was chosen by; none where it is a field with texts.
        id: The field of the id; None where no field is unique.
        source: The field of the source; none where no field names one.
        languages: Values of the field of languages with their shares; none where there is none.
        attributes: What the sample says of each attribute.
    """

    looked: int
    documents: int
    size: float
    fields: Mapping[str, Field]
    text: str | list[str] | None
    shape: str | None
    id: str | None
    source: str | None
    languages: Mapping[str, float]
    pane: int
    attributes: Mapping[str, Seen]


def look(found: Mapping[str, int], config: Config, sample: int = SAMPLE) -> Look:
    """Look at an input.

    Args:
        found: The stored bytes of each file, by its name.
        config: The configuration: its word lists, targets and limits are used. Its field of the
            text counts where the records have it.
        sample: About how many documents are looked at.

    Raises:
        NoTextError: Records have no field with texts, or nothing could be read.
        OSError: A file cannot be read.
        WordListError: A word list cannot be used.
    """
    blocks = [(block, stored) for block, stored in sample_blocks(found, sample) if block.size]
    fields, shapes = _fields(block for block, _ in blocks)
    text, own_id, shape = config.fields.text, config.fields.id, None
    if fields and config.fields.paths is None and config.fields.column not in fields:
        text, shape = _text(fields, shapes, own_id)
    known_id = own_id if own_id in fields else _id(fields)
    if known_id in ([text] if isinstance(text, str) else text):
        known_id = None
    names = {"text": text, "id": known_id or own_id}
    config = config.model_copy(update={"fields": config.fields.model_copy(update=names)})
    annotator = Annotator(config)
    counts: list[list[npt.NDArray[np.int64]]] = []
    figures = Figures()
    for block, _ in blocks:
        read = validate(block, config, annotator.own, False)
        part, own, *_ = annotator.mentions.count(read, with_sentences=False)
        figures.add(part)
        counts.append(own)
    if not figures.documents:
        raise NoTextError("no document could be read")
    stored = sum(share for _, share in blocks)
    documents = max(round(sum(found.values()) * figures.documents / max(stored, 1)), 1)
    size = figures.text_bytes / figures.documents
    joined = [np.concatenate(each) for each in zip(*counts, strict=True)]
    pane = _pane(documents, size, joined, config)
    seen = {
        words.attribute: _seen(own, words.groups, config.target(words), config)
        for words, own in zip(annotator.lists, joined, strict=True)
    }
    own = (text, shape, known_id) if fields else (None, None, None)
    named = _source(fields), _languages(fields)
    return Look(figures.documents, documents, size, fields, *own, *named, pane, seen)


def _text(
    fields: Mapping[str, Field], shapes: Mapping[str, int], own_id: str
) -> tuple[str | list[str], str | None]:
    """The text of records that have no such field, and the shape that they are of.

    Raises:
        NoTextError: No field holds texts.
    """
    prose = [name for name, each in fields.items() if each.prose]
    if found := shape_of(prose, [*fields], shapes, max(each.records for each in fields.values())):
        return found
    text = max(fields, key=lambda name: (name != own_id, fields[name].prose))
    if not fields[text].prose or text == own_id:
        raise NoTextError(
            f"no field holds texts; there are {', '.join(fields)}. Name a field or a path with"
            " --set fields.text=NAME"
        )
    return text, None


def _fields(blocks: Iterable[Block]) -> tuple[dict[str, Field], Counter[str]]:
    """The fields of records; none of files that are texts. And how many have each of SHAPES."""
    fields: dict[str, Field] = {}
    shapes = Counter[str]()
    for block in blocks:
        for record in _records(block):
            for name, value in _flat(record):
                fields.setdefault(name, Field()).add(value)
            shapes.update(paths_in(record))
    return fields, shapes


def _flat(record: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a record and, as paths, those of the objects in it."""
    for name, value in record.items():
        yield within + name, value
        if isinstance(value, dict) and within.count(".") < DEEPEST:
            yield from _flat(value, f"{within}{name}.")


def _records(block: Block) -> Iterator[Mapping[str, Any]]:
    """The records of a block that are objects."""
    if block.rows is not None:
        yield from block.rows.to_pylist()
        return
    own = block.format
    if own.is_text:
        return
    for number, raw in enumerate(block.records):
        with suppress(orjson.JSONDecodeError, UnicodeDecodeError, csv.Error):
            if block.header is not None:
                names = header_fields(block.header, own.delimiter)
                yield dict(zip(names, fields(raw, own.delimiter), strict=False))
                continue
            record = orjson.loads(own.value(raw, block.first + number == 0))
            if isinstance(record, dict):
                yield record


def _id(fields: Mapping[str, Field]) -> str | None:
    """The field whose values are each record's own, and whose name says id; None: there is none."""
    most = max((each.records for each in fields.values()), default=0)
    named = [
        name
        for name, each in fields.items()
        if re.search(r"(^|_)(id|uuid|key|url)$", name, re.IGNORECASE)
        and each.is_unique
        and each.records == most
    ]
    return named[0] if named else None


def _source(fields: Mapping[str, Field]) -> str | None:
    """The field that names sources: it has few values, and nearly each record has it."""
    most = max((each.records for each in fields.values()), default=0)
    for name, each in fields.items():
        few = 1 < len(each.values) <= min(MOST_SOURCES, most // 20)
        if SOURCE.fullmatch(name) and few and each.values.total() >= 0.9 * most:
            return name
    return None


def _languages(fields: Mapping[str, Field]) -> dict[str, float]:
    """The values of the field that names languages, with their shares."""
    for name, each in fields.items():
        if LANGUAGE.fullmatch(name) and 0 < len(each.values) <= FEW_VALUES:
            total = each.values.total()
            return {value: count / total for value, count in each.values.most_common()}
    return {}


def _pane(documents: int, size: float, counts: list[npt.NDArray[np.int64]], config: Config) -> int:
    """How many documents a pane should have.

    A small input is cut into PANES, unless the verdict would have too few mentions then; a large
    one by the size of a pane.
    """
    most = max(int((config.pane.mib << 20) / max(size, 1)), 1)
    rate = max((fmean(each.sum(axis=1).tolist()) for each in counts if len(each)), default=0.0)
    needed = config.gate.min_mentions / (rate * config.pane.rolling) if rate else 0
    return min(most, _round(max(documents / PANES, needed, 1)), max(documents, 1))


def _round(number: float) -> int:
    """A number of two digits that is not below it."""
    step = 10 ** max(len(str(int(number))) - 2, 0)
    return int(-(-number // step) * step)


def _seen(
    counts: npt.NDArray[np.int64],
    groups: tuple[str, ...],
    target: list[float] | None,
    config: Config,
) -> Seen:
    """What the sample says of an attribute."""
    shares = np.array(target or [1 / len(groups)] * len(groups))
    total = sums(counts)
    found = score(total, shares.tolist(), config.gate.confidence)
    return Seen(groups, found, total)
