"""Counts the labels of word lists in the documents of a corpus, with the gate's label finder."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evenflow.schemas.config import Config
from evenflow.transforms.io import documents
from evenflow.transforms.lab.masking.top import Top
from evenflow.transforms.labels.finder import BETWEEN, LabelFinder, pieces
from evenflow.transforms.text.sentences import sentences
from evenflow.wordlists.loader import WordList

PIECE = 1 << 20  # characters that are searched together: one search has a fixed cost
EXAMPLES = 10  # sentences that are kept for a label
AROUND = 300  # characters on each side of a mention in which its sentence is looked for

Ints = npt.NDArray[np.int64]


@dataclass
class Mentions:
    """The mentions of a list's labels in a corpus.

    `labels`: Its labels (L,), in the order of the columns of `counts`. `groups`: Index of each
    label's group (L,). `counts`: Mentions by document and label, (D, L). All documents count, also
    those without a mention.
    """

    words: WordList
    labels: list[str]
    groups: Ints
    counts: sparse.csr_array
    documents: int
    examples: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def totals(self) -> Ints:
        """Mentions of each label (L,)."""
        return np.asarray(self.counts.sum(axis=0), np.int64).reshape(-1)

    @property
    def frequencies(self) -> dict[str, int]:
        """Mentions by label."""
        return dict(zip(self.labels, self.totals.tolist(), strict=True))

    def by_group(self, chosen: npt.NDArray[np.bool_] | None = None) -> Ints:
        """Count the mentions of each group in each document.

        `chosen`: The labels that count (L,); all unless given. Returns the counts (D, M).
        """
        kept = np.ones(len(self.labels), bool) if chosen is None else chosen
        member = self.groups[:, None] == np.arange(len(self.words.groups))[None, :]
        return np.asarray(self.counts @ (member & kept[:, None]).astype(np.int64), np.int64)


def texts(inputs: Sequence[str], config: Config) -> Iterator[list[str]]:
    """Read the texts of a corpus, block by block."""
    return (block.texts for block in documents.read(inputs, config))


def count(
    source: Iterable[Sequence[str]], lists: Sequence[WordList], examples: int = 0
) -> list[Mentions]:
    """Count the labels of lists in a corpus."""
    finder = LabelFinder(lists)
    labels = [finder.labels(number) for number in range(len(lists))]
    rows: list[list[Ints]] = [[] for _ in lists]
    columns: list[list[Ints]] = [[] for _ in lists]
    kept = [_Examples(examples) for _ in lists]
    documents = 0
    for block in source:
        for first, last in pieces(block, PIECE):
            text = BETWEEN.join(block[first:last])
            sizes = [len(each) + len(BETWEEN) for each in block[first:last]]
            starts = np.cumsum([0, *sizes[:-1]])
            for number, found in enumerate(finder.find_all(text)):
                own = np.searchsorted(starts, found.starts, "right") - 1 + documents
                rows[number].append(own)
                columns[number].append(found.labels)
                if examples:
                    spans = zip(found.starts.tolist(), found.ends.tolist(), strict=True)
                    for place, label, (start, end) in zip(
                        own.tolist(), found.labels.tolist(), spans, strict=True
                    ):
                        kept[number].add(place, labels[number][label], text, start, end)
            documents += last - first
    return [
        Mentions(
            words,
            own,
            np.array([words.labels[label] for label in own], np.int64),
            _matrix(row, column, (documents, len(own))),
            documents,
            example.found(),
        )
        for words, own, row, column, example in zip(lists, labels, rows, columns, kept, strict=True)
    ]


def _matrix(rows: list[Ints], columns: list[Ints], shape: tuple[int, int]) -> sparse.csr_array:
    """The mentions by document and label."""
    row = np.concatenate([np.zeros(0, np.int64), *rows])
    column = np.concatenate([np.zeros(0, np.int64), *columns])
    return sparse.csr_array(
        sparse.coo_array((np.ones(len(row), np.int64), (row, column)), shape=shape)
    )


class _Examples:
    """Keeps sentences of each label from documents that are spread over the corpus.

    The same corpus gives the same sentences: those whose checksums of document and label are
    smallest. Sentences are cut out of windows all together: one search has a fixed cost.
    """

    def __init__(self, most: int):
        self._most = most
        self._kept: dict[str, Top] = {}

    def add(self, document: int, label: str, text: str, start: int, end: int) -> None:
        """Keep what is around a mention text[start:end], or not."""
        own, name = self._kept.setdefault(label, Top(self._most)), f"{document:012}"
        key = zlib.crc32(f"{document} {label}".encode())
        if not own.wants(-key, name):
            return
        above, below = max(start - AROUND, 0), end + AROUND
        if (blank := text.rfind(BETWEEN, above, start)) >= 0:
            above = blank + len(BETWEEN)
        if (blank := text.find(BETWEEN, end, below)) >= 0:
            below = blank
        own.add(-key, name, (text[above:below], start - above))

    def found(self) -> dict[str, list[str]]:
        """The sentences by label, each on one line."""
        windows = [item for own in self._kept.values() for *_, item in own.best()]
        bounds = np.array(sentences(BETWEEN.join(text for text, _ in windows))).reshape(-1, 2)
        cut: list[str] = []
        begin = 0
        for text, at in windows:
            place = np.searchsorted(bounds[:, 0], begin + at, "right") - 1
            first, last = (bounds[place] - begin).tolist() if place >= 0 else (0, len(text))
            inside = first <= at < last
            cut.append(" ".join((text[max(first, 0) : last] if inside else text).split()))
            begin += len(text) + len(BETWEEN)
        made = iter(cut)
        return {label: [next(made) for _ in own.best()] for label, own in self._kept.items()}
