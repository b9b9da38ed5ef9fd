"""Looks at a sample of an input: its fields, languages, groups, and thresholds that fit it.

`evenflow init` writes a configuration from it.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
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
from evenflow.transforms.io.lines import BOM, fields, header_fields
from evenflow.transforms.io.records import validate
from evenflow.transforms.measures.representation.alarms import lower_bounds
from evenflow.transforms.measures.representation.dr import score, sums

SAMPLE = 2000  # documents that are looked at
PANES = 20  # that a small input is cut into: enough to see a course
WARN_ALARMS, BLOCK_ALARMS = 0.01, 0.001  # shares of windows that may be at a threshold by chance
LEAST_WARN = 0.1  # a DR that is surely below is hardly worth an alarm
STEP = 0.01  # thresholds are rounded up to it
FEW_VALUES = 20  # different values of a field that names languages, at most
LANGUAGE = re.compile(r"lang(uage)?(_.*|s)?", re.IGNORECASE)


class NoTextError(ValueError):
    """No field of the sampled records holds texts."""


@dataclass
class Field:
    """A field as the sampled records have it.

    Attributes:
        records: How many have it.
        texts: How many have a text there.
        characters: Characters of these texts.
        values: How often it has each of its values; texts of up to 80 characters and numbers.
    """

    records: int = 0
    texts: int = 0
    characters: int = 0
    values: Counter[str] = field(default_factory=Counter[str])

    def add(self, value: Any) -> None:
        """Note a value."""
        self.records += value is not None
        if isinstance(value, str):
            self.texts += 1
            self.characters += len(value)
        if isinstance(value, int) or (isinstance(value, str) and len(value) <= 80):
            self.values[str(value)] += 1

    @property
    def is_unique(self) -> bool:
        """Whether each record has a value of its own."""
        return len(self.values) == self.records > 1


@dataclass(frozen=True)
class Seen:
    """What a sample says of one attribute.

    Attributes:
        groups: Its groups.
        score: DR of the sample.
        sums: The sample's sums.
        warn: A threshold of which chance alone warns in WARN_ALARMS of the panes; None: most
            windows have too few mentions to be judged.
        block: The same for BLOCK_ALARMS.
        judged: Mentions of an average window.
    """

    groups: tuple[str, ...]
    score: Score
    sums: Sums
    warn: float | None
    block: float | None
    judged: float

    @property
    def total(self) -> float:
        """All mentions of the sample."""
        return sum(self.sums.counts)


@dataclass(frozen=True)
class Look:
    """What was seen.

    Attributes:
        looked: Documents of the sample.
        documents: Documents of the input, estimated.
        size: Bytes of an average text.
        fields: The fields of records; none where files are texts.
        text: The field of the text; None where files are texts.
        id: The field of the id; None where no field is unique.
        languages: Values of the field of languages with their shares; none where there is none.
        pane: Documents of a pane.
        attributes: What the sample says of each attribute.
        windows: Documents that the verdict on a pane looks at: rolling panes of that size.
    """

    looked: int
    documents: int
    size: float
    fields: Mapping[str, Field]
    text: str | None
    id: str | None
    languages: Mapping[str, float]
    pane: int
    attributes: Mapping[str, Seen]
    windows: int


def look(found: Mapping[str, int], config: Config, sample: int = SAMPLE) -> Look:
    """Look at an input.

    Args:
        found: The stored bytes of each file, by its name.
        config: The configuration: its word lists, targets and limits are used. Its field of the
            text counts where the records have it.
        sample: About how many documents are looked at.

    Returns:
        What was seen.

    Raises:
        NoTextError: Records have no field with texts, or nothing could be read.
        OSError: A file cannot be read.
        WordListError: A word list cannot be used.
    """
    blocks = [(block, stored) for block, stored in sample_blocks(found, sample) if block.size]
    fields = _fields(block for block, _ in blocks)
    text, own_id = config.fields.text, config.fields.id
    if fields and text not in fields:
        text = max(fields, key=lambda name: fields[name].characters)
        if not fields[text].characters:
            raise NoTextError(f"no field holds texts; there are {', '.join(fields)}")
    known_id = own_id if own_id in fields else _id(fields)
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
    windows = min(pane * config.pane.rolling, documents)
    seen = {
        words.attribute: _seen(own, words.groups, config.target(words), windows, config)
        for words, own in zip(annotator.lists, joined, strict=True)
    }
    return Look(
        figures.documents,
        documents,
        size,
        fields,
        text if fields else None,
        known_id if fields else None,
        _languages(fields),
        pane,
        seen,
        windows,
    )


def _fields(blocks: Iterable[Block]) -> dict[str, Field]:
    """The fields of records; none of files that are texts."""
    fields: dict[str, Field] = {}
    for block in blocks:
        for record in _records(block):
            for name, value in record.items():
                fields.setdefault(name, Field()).add(value)
    return fields


def _records(block: Block) -> Iterator[Mapping[str, Any]]:
    """The records of a block that are objects."""
    if block.rows is not None:
        yield from block.rows.to_pylist()
        return
    if block.is_text:
        return
    for raw in block.records:
        with suppress(orjson.JSONDecodeError, UnicodeDecodeError, csv.Error):
            if block.header is not None:
                yield dict(zip(header_fields(block.header), fields(raw), strict=False))
                continue
            record = orjson.loads(raw.removeprefix(BOM))
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
    windows: int,
    config: Config,
) -> Seen:
    """What the sample says of an attribute."""
    shares = np.array(target or [1 / len(groups)] * len(groups))
    total = sums(counts)
    found = score(total, shares.tolist(), config.gate.confidence)
    judged = sum(total.counts) / len(counts) * windows
    seen = Seen(groups, found, total, None, None, judged)
    if judged < config.gate.min_mentions:
        return seen
    bounds = lower_bounds(counts, shares, windows, config.gate.confidence)
    warn, block = (
        float(np.ceil(round(np.quantile(bounds, 1 - share) / STEP, 6)) * STEP)
        for share in (WARN_ALARMS, BLOCK_ALARMS)
    )
    warn = round(max(warn, LEAST_WARN), 2)
    # A state ends only below its threshold less the hysteresis
    return replace(seen, warn=warn, block=round(max(block, warn + config.gate.hysteresis), 2))
