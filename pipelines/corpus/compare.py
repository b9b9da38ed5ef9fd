"""Compares two inputs for `evenflow compare`: nothing is written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from evenflow.schemas.config import Config, ConfigError
from evenflow.schemas.ledger import DOCUMENT_FOLDERS
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io import documents, files
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.files import InputError
from evenflow.transforms.io.records import Documents, make_id, validate
from evenflow.transforms.io.unforeseen import Spoilt, without_spoilt
from evenflow.transforms.measures.representation.comparison import (
    Side,
    compare,
    gravity,
    moves,
    standardised,
)

MOST_SOURCES = 100  # that are compared each; the mentions of all others are one source
OTHERS = "(others)"
NO_SOURCE = "(none)"


@dataclass
class _Read:
    """What is known of the documents of an input (D,)."""

    ids: list[str | None] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    counts: list[list[Any]] = field(default_factory=list)
    dead: int = 0
    named: bool = False


def compared(
    first: Sequence[str],
    second: Sequence[str],
    config: Config,
    by: str | None = None,
    unpaired: bool = False,
    note: Callable[[str], object] = lambda text: None,
) -> dict[str, Any]:
    """Compare two inputs.

    Args:
        first: Paths, folders or globs of what was kept, or of the older version.
        second: Those of what was removed, or of the newer version.
        by: The field that names a document's source; None: there is one source.
        unpaired: Whether equal ids name different documents.
        note: Called with what is left out of the input, in words.

    Returns:
        names (short ones of the inputs), documents and dead_letters of both, shared (ids on both
        sides; with any, the inputs are versions of one corpus), filtered (whether the second is
        what was removed), and of each attribute groups, all (comparison.compare), same_mix
        (comparison.standardised) and sources, by the group that moved most surely.

    Raises:
        InputError: An input names no file, or no record has the field of the source.
        ConfigError: The configuration counts people.
        OSError: A file cannot be read.
        WordListError: A word list cannot be used.
    """
    if config.measure.count == "people":
        raise ConfigError("measure.count: people cannot be compared yet; use words")
    annotator = Annotator(config)
    read = [_read(list(each), config, annotator, by, note) for each in (first, second)]
    if by is not None and not any(each.named for each in read):
        raise InputError(f"no record has the field {by!r}, which was to name the source")
    numbers: dict[str, int] = {}
    ids = [_numbers(each.ids, numbers, side) for side, each in enumerate(read)]
    shared = 0 if unpaired else len(np.intersect1d(*ids))
    names = names_of(first[0], second[0])
    found: dict[str, Any] = {
        "names": names,
        "filtered": shared > 0 or names == [*DOCUMENT_FOLDERS],
        "documents": [len(each.sources) for each in read],
        "dead_letters": [each.dead for each in read],
        "shared": shared,
        "confidence": config.gate.confidence,
        "by": by,
        "attributes": {},
    }
    for at, words in enumerate(annotator.lists):
        one, other, sources = _sides(read, ids, at, len(words.groups))
        rest = (config.target(words), config.gate.confidence, shared > 0)
        own: dict[str, Any] = {"groups": list(words.groups), "all": compare(one, other, *rest)}
        if by is not None:
            own["same_mix"] = standardised(one, other, *rest)
            each = {
                name: compare(one.from_source(number), other.from_source(number), *rest)
                for number, name in enumerate(sources)
            }
            worst = {name: min(map(gravity, moves(each[name], found["filtered"]))) for name in each}
            own["sources"] = {name: each[name] for name in sorted(each, key=worst.__getitem__)}
        found["attributes"][words.attribute] = own
    return found


def names_of(first: str, second: str) -> list[str]:
    """Short names that tell two inputs apart: the last parts of their paths that differ."""
    paths = [PurePosixPath(each).parts[::-1] for each in (first, second)]
    pair = next(([*parts] for parts in zip(*paths, strict=False) if parts[0] != parts[1]), None)
    if pair is None:  # one path ends as the whole other
        return [first, second] if first != second else [first, f"{first} again"]
    words = [re.findall(r"[^\W_]+", each.split(".")[0]) for each in pair]
    while all(words) and words[0][0] == words[1][0]:
        words = [each[1:] for each in words]
    while all(words) and words[0][-1] == words[1][-1]:
        words = [each[:-1] for each in words]
    return [" ".join(each) for each in words] if all(words) else pair


def _read(
    inputs: list[str],
    config: Config,
    annotator: Annotator,
    by: str | None,
    note: Callable[[str], object],
) -> _Read:
    """Count the mentions of each document of an input."""
    names = list(files.match(inputs, config.strict_input, note))
    out = _Read(counts=[[] for _ in annotator.lists])
    for block in documents.blocks(names, config.fields):
        found, counts = without_spoilt(
            lambda spoilt, block=block: _counted(block, config, annotator, by, spoilt),
            block.size,
            annotator.probe,
        )
        made = (make_id(found.file, place) for place in found.places)
        out.ids += [
            None if own == other else own for own, other in zip(found.ids, made, strict=True)
        ]
        out.sources += _sources(found, by, out)
        out.dead += sum(found.reasons.values())
        for every, own in zip(out.counts, counts, strict=True):
            every.append(own.astype(np.int32))
    return out


def _counted(
    block: Block, config: Config, annotator: Annotator, by: str | None, spoilt: Spoilt
) -> tuple[Documents, list[Any]]:
    """The documents of a block, and their mentions by attribute."""
    found = validate(block, config, annotator.own, keep_fields=by is not None, spoilt=spoilt)
    return found, annotator.mentions.count(found, with_sentences=False).mentions


def _sources(found: Documents, by: str | None, out: _Read) -> Iterator[str]:
    """The source of each document."""
    values: list[Any] = [None] * len(found.texts)
    for column, own in found.fields.items():
        if column.name == by:
            out.named, values = True, own.to_pylist()
    return (NO_SOURCE if each is None else str(each) for each in values)


def _numbers(ids: Sequence[str | None], known: dict[str, int], side: int) -> Any:
    """Numbers of documents; one without an id of its own gets a negative of this side alone."""
    numbers = (
        -1 - 2 * at - side if own is None else known.setdefault(own, len(known))
        for at, own in enumerate(ids)
    )
    return np.fromiter(numbers, np.int64, len(ids))


def _sides(
    read: Sequence[_Read], ids: Sequence[Any], at: int, groups: int
) -> tuple[Side, Side, list[str]]:
    """The documents that name an attribute, and the names of their sources, the largest first."""
    sizes: Counter[str] = Counter()
    parts = []
    for each, numbers in zip(read, ids, strict=True):
        counts = np.concatenate([np.zeros((0, groups), np.int32), *each.counts[at]])
        chosen = np.flatnonzero(counts.any(axis=1))
        names = [each.sources[number] for number in chosen.tolist()]
        for name, size in zip(names, counts[chosen].sum(axis=1).tolist(), strict=True):
            sizes[name] += size
        parts.append((numbers[chosen], names, counts[chosen].astype(np.int64)))
    order = [name for name, _ in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))]
    if len(order) > MOST_SOURCES:
        order[MOST_SOURCES:] = [OTHERS]
    places = {name: place for place, name in enumerate(order)}
    one, other = (
        Side(own, np.array([places.get(name, len(order) - 1) for name in names], np.int64), counts)
        for own, names, counts in parts
    )
    return one, other, order
