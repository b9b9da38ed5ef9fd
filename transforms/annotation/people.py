"""Counts people: the first stage over all mentions, and a reader over a sample of their cells."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evenflow.schemas.config import Config
from evenflow.schemas.documents import Cell, Figures, PeopleFigures
from evenflow.transforms.labels.finder import BETWEEN, Found
from evenflow.transforms.measures.representation.people import read_until
from evenflow.transforms.models.passages import AFTER, BEFORE, CELL, Excerpt, Place, excerpt
from evenflow.transforms.models.people import DEVIATIONS, PeopleHead, to_bytes
from evenflow.wordlists.loader import WordList

if TYPE_CHECKING:
    from evenflow.transforms.models.reader import Reader

Ints = npt.NDArray[np.int64]
MOST_CELLS = 1 << 20  # more than the longest text has
_MIX = tuple(map(np.uint64, (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))  # of splitmix64
_STEP = np.uint64(0x9E3779B97F4A7C15)
PUBLISHED = (0.25, 0.45)  # scores that matter where no threshold is set


class PeopleCounter:
    """Counts the people of some attributes by the first stage, and draws cells to read."""

    def __init__(self, lists: Sequence[WordList], labels: Sequence[Sequence[str]], budget: int):
        self._head, self._lists, self._budget = PeopleHead.shipped(), lists, budget
        self._names = labels
        self._sure = [
            self._head.sure(words.attribute, own) for words, own in zip(lists, labels, strict=True)
        ]
        self._labels = [
            self._head.labels(words.attribute, own)
            for words, own in zip(lists, labels, strict=True)
        ]

    def chances(
        self, number: int, text: npt.NDArray[np.uint8], found: Found, lows: Ints, highs: Ints
    ) -> Ints:
        """The first stage's chances.

        `lows`: Where the document of each begins, (n,). `highs`: Where it ends, (n,).

        Returns thousandths, (n,).
        """
        out = self._sure[number][found.labels]
        rest = np.flatnonzero(out < 0)
        places = self._head.vocabulary.places(
            text, found.starts[rest], found.ends[rest], lows[rest], highs[rest]
        )
        labels = self._labels[number][found.labels[rest]]
        out[rest] = self._head.chances(self._lists[number].attribute, places, labels)
        return out

    def count(
        self, ids: Sequence[str], texts: Sequence[str], begins: Ints, every: Sequence[Found]
    ) -> list[PeopleFigures]:
        """Count the people of documents that were searched together.

        `ids`: The documents' ids, (D,). `texts`: Their texts, (D,). `begins`: Where each begins in
        the joined text, (D,).
        """
        text = to_bytes(BETWEEN.join(texts))
        ends = begins + np.fromiter(map(len, texts), np.int64, len(texts))
        digests: dict[int, int] = {}
        out: list[PeopleFigures] = []
        for number, (words, found) in enumerate(zip(self._lists, every, strict=True)):
            size = len(words.groups)
            owner = np.searchsorted(begins, found.starts, "right") - 1
            chance = self.chances(number, text, found, begins[owner], ends[owner])
            whole = _by_group(owner, found.groups, chance, len(texts), size)
            named = np.bincount(owner, minlength=len(texts)) > 0
            figures = PeopleFigures(
                int(named.sum()),
                whole.sum(0).tolist(),
                (whole.T @ whole).tolist(),
                self._budget,
                labels={
                    self._names[number][at]: count
                    for at, count in enumerate(
                        np.bincount(found.labels, chance).astype(np.int64).tolist()
                    )
                    if count
                },
            )
            out.append(figures)
            if not len(owner):
                continue
            place = found.starts - begins[owner]
            place_keys = owner * MOST_CELLS + place // CELL
            keys, index = np.unique(place_keys, return_inverse=True)
            first = _by_group(index, found.groups, chance, len(keys), size)
            sizes = np.bincount(index, DEVIATIONS[chance]).astype(np.int64)
            owners, cells = keys // MOST_CELLS, keys % MOST_CELLS
            for at in sorted(set(map(int, owners)) - digests.keys()):
                digests[at] = digest_of(ids[at], texts[at])
            ranks = uniform(words.attribute, owners, cells, digests) / sizes
            least = np.argsort(ranks, kind="stable")[: self._budget + 1]
            for at in least.tolist():
                own, cell = int(owners[at]), int(cells[at])
                part, places, low = cut_cell(texts[own], cell, int(begins[own]), found, chance)
                inside = np.searchsorted(place_keys, [keys[at], keys[at] + 1]) - low
                figures.cells.append(
                    Cell(
                        float(ranks[at]),
                        int(sizes[at]),
                        f"{digests[own]:016x}",
                        whole[own].tolist(),
                        first[at].tolist(),
                        *part,
                        places,
                        (int(inside[0]), int(inside[1])),
                    )
                )
        return out


def cut_cell(
    text: str, cell: int, begin: int, found: Found, chance: Ints
) -> tuple[tuple[str, int, int], list[list[int]], int]:
    """Cut what the reader needs to read a cell.

    `chance`: Their chances, (n,).
    """
    part = excerpt(text, cell)
    edges = np.clip([cell * CELL - BEFORE, (cell + 1) * CELL + AFTER], 0, len(text)) + begin
    low, high = np.searchsorted(found.starts, edges).tolist()
    moved = begin + part.skipped
    columns = (found.starts - moved, found.ends - moved, found.groups, chance)
    return part[:3], np.stack([each[low:high] for each in columns], 1).tolist(), low


def _by_group(index: Ints, groups: Ints, values: Ints, rows: int, size: int) -> Ints:
    """Sum values by row and group, (rows, size)."""
    found = np.bincount(index * size + groups, values, rows * size)
    return found.reshape(rows, size).astype(np.int64)


def digest_of(identity: str, text: str) -> int:
    """A number of 64 bits that depends on a document's id and text."""
    data = f"{identity}\0{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


def uniform(
    attribute: str, owners: Ints, places: Ints, digests: Mapping[int, int]
) -> npt.NDArray[np.float64]:
    """Draw a number in (0, 1) for each of n places of documents.

    `owners`: Number of the document of each, (n,). `places`: The place in it, (n,).

    Returns numbers that depend on document, place and attribute alone, (n,).
    """
    seed = np.uint64(digest_of(attribute, ""))
    of = np.array([digests[at] for at in owners.tolist()], np.uint64)
    mixed = of + seed + (places.astype(np.uint64) + np.uint64(1)) * _STEP
    for shift, factor in zip((30, 27), _MIX, strict=True):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
    mixed ^= mixed >> np.uint64(31)
    return ((mixed >> np.uint64(12)).astype(float) + 0.5) / 2.0**52


def judged(cell: Cell, attribute: str, groups: int, reader: Reader | None = None) -> list[int]:
    """Read a cell: how many of its mentions name people of each group.

    Reader and first stage together err less than each alone (the page “Quality”). A mention that
    does not fit into the passage keeps the first stage's chance.

    `reader`: The reader; None: the shipped one.

    Returns thousandths, (M,).
    """
    out = [0] * groups
    for at, chance in mention_chances(cell, attribute, reader).items():
        out[cell.places[at][2]] += chance
    return out


def mention_chances(cell: Cell, attribute: str, reader: Reader | None = None) -> dict[int, int]:
    """Read a cell: the chance of each of its mentions, in thousandths, by index of its place."""
    # It takes a part of a second to load, and the first stage does not wait for it
    from evenflow.transforms.models.reader import NEVER, PEOPLE, Reader

    reader, head = reader or Reader.shipped(), PeopleHead.shipped()
    places = [Place(start, end) for start, end, _, _ in cell.places]
    part = Excerpt(cell.text, cell.low, cell.high, 0)
    out: dict[int, int] = {}
    for at, said in reader.of_excerpt(part, places, range(*cell.own)).items():
        own = cell.places[at][3]
        if said.right != NEVER:
            own = head.with_reader(attribute, float(said.who[: len(PEOPLE)].sum()), own)
        out[at] = own
    return out


def resolve(figures: Figures, config: Config) -> None:
    """Read cells of whole figures as far as their verdict needs, and estimate the people.

    Args:
        figures: The figures of a pane or an input; their cells are dropped.

    Raises:
        ModelError: A file of a model is missing or damaged, or a library failed.
    """
    if config.measure.count != "people":
        return
    for words in config.word_lists():
        seen = figures.attributes.get(words.attribute)
        if seen is None or seen.people is None:
            continue
        groups = len(words.groups)
        sums, seen.people.read = read_until(
            seen.people,
            partial(judged, attribute=words.attribute, groups=groups),
            config.measure.passages,
            config.target(words),
            config.gate.confidence,
            [each for each in config.thresholds(words.attribute) if each is not None] or PUBLISHED,
            PeopleHead.shipped().doubt(words.attribute),
        )
        seen.people.estimate, seen.people.cells = sums.model_dump(), []
