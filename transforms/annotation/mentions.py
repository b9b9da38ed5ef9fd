"""Finds and counts the mentions of labels in the documents of a block."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.schemas import documents
from evenflow.transforms.io.blocks import position
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.finder import LabelFinder, Mention, pieces, uncut
from evenflow.transforms.labels.searched import Searched, sentence_starts
from evenflow.transforms.measures.measure import Columns, Counter
from evenflow.transforms.staging.sentence_table import Relevant
from evenflow.transforms.text import language
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.wordlists.loader import WordList

if TYPE_CHECKING:
    from evenflow.transforms.annotation.people import PeopleCounter

PIECE = 1 << 20  # characters that are searched at a time: it bounds the memory of the arrays

Ints = npt.NDArray[np.int64]


class MentionCounts(NamedTuple):
    """What was counted in D documents.

    `mentions`: For each attribute the mentions of its M groups in each of them, (D, M).
    """

    figures: documents.Figures
    mentions: list[Ints]
    searched: list[Searched]
    columns: Columns


class MentionCounter:
    """Counts the mentions of some attributes; built once a process.

    Args:
        attributes: The attributes, in the same order.
        counters: Count what measures need, by the measure's name.
        passages: Most passages of each attribute that are read to count people; None: words alone
            are counted.
        language_field: Field of a document that says its language, where languages matter.
        sentences: Whether sentences are found too; they are if a measure needs them.

    Raises:
        ModelError: A file of the model that counts people is missing or damaged.
    """

    def __init__(
        self,
        lists: Sequence[WordList],
        attributes: Sequence[documents.Attribute],
        counters: Mapping[str, Counter],
        passages: int | None = None,
        language_field: str | None = None,
        sentences: bool = False,
    ):
        self._lists, self._attributes, self._counters = lists, attributes, counters
        self._by_language = any(each.by_language for each in attributes)
        self._guess = next((each.guess for each in lists if each.guess is not None), None)
        self._listed = {code for each in lists for code in each.language.split()}
        self._language_field = language_field
        self._needs_sentences = any(each.needs_sentences for each in counters.values())
        self._sentences = sentences or self._needs_sentences
        self._finder = LabelFinder(lists)
        self._people: PeopleCounter | None = None
        if passages is not None:
            from evenflow.transforms.annotation.people import PeopleCounter

            labels = [self._finder.labels(number) for number in range(len(lists))]
            self._people = PeopleCounter(lists, labels, passages)

    def count(
        self,
        found: Documents,
        with_sentences: bool = True,
        known: Columns | None = None,
        keep: bool = False,
    ) -> MentionCounts:
        """Count the mentions in D documents, and what measures need.

        Args:
            with_sentences: False: sentences are found only if a measure needs them.
            known: What measures have said of single documents; they are not asked again.
            keep: Whether what was found is kept, for `relevant`.
        """
        texts = found.texts
        with_sentences = self._sentences if with_sentences else self._needs_sentences
        figures = documents.Figures(documents=len(texts), text_bytes=sum(map(_utf8_length, texts)))
        for attribute in self._attributes:
            figures.attributes[attribute.name] = documents.AttributeFigures.empty(
                len(attribute.groups)
            )
        parts: list[list[Ints]] = []
        searched: list[Searched] = []
        columns: Columns = dict(known or {})
        languages: Sequence[str | None] | None = None
        if self._by_language:
            languages = spoken = self._languages(found)
            figures.languages = dict(collections.Counter(spoken))
            columns[documents.LANGUAGE.name] = languages
        elif self._guess is not None:
            languages = [language.other(text, self._guess) for text in texts]
        unlisted = [each for each in languages or () if each and each not in self._listed]
        figures.other_languages = dict(collections.Counter(unlisted) if self._listed else {})
        for first, last in pieces(texts, PIECE):
            own = None if languages is None else languages[first:last]
            piece = self._searched(first, texts[first:last], with_sentences, own)
            part, counts = self._piece(
                found.file, found.ids[first:last], found.places[first:last], piece
            )
            for name, counter in self._counters.items():
                part.measures[name] = counter.count(found, piece, None if known else columns)
            figures.add(part)
            searched += [piece] if keep else []
            parts.append(counts)
        none = [np.zeros((0, len(attribute.groups)), np.int64) for attribute in self._attributes]
        counts = [np.concatenate(each) for each in zip(none, *parts, strict=True)]
        return MentionCounts(figures, counts, searched, columns)

    def relevant(self, searched: Sequence[Searched], every: bool = False) -> Iterator[Relevant]:
        """The documents that name a label, from what a count found; in the block's order.

        Where languages matter, these are documents in English. Without `measure.by_language`, those
        that may be in English.
        """
        names = [words.attribute for words in self._lists]
        ranks = np.array([sorted(names).index(name) for name in names])
        labels = [self._finder.labels(number) for number in range(len(names))]
        for piece in searched:
            lists = np.repeat(np.arange(len(names)), [len(found.starts) for found in piece.every])
            begins, ends, numbers, groups = (
                np.concatenate([getattr(found, name) for found in piece.every])
                for name in ("starts", "ends", "labels", "groups")
            )
            # By start, the longest first, then by attribute
            order = np.lexsort((ranks[lists], -ends, begins))
            owners = np.searchsorted(piece.begins, begins[order], "right") - 1
            begins, ends = begins[order] - piece.begins[owners], ends[order] - piece.begins[owners]
            columns = (begins, ends, numbers[order], groups[order], lists[order])
            edges = np.searchsorted(owners, np.arange(len(piece.texts) + 1)).tolist()
            for owner, (first, last) in enumerate(pairwise(edges)):
                begin, text = int(piece.begins[owner]), piece.texts[owner]
                spoken = piece.languages and piece.languages[owner]
                if (first == last and not every) or spoken not in (None, language.ENGLISH):
                    continue
                low, high = np.searchsorted(piece.starts, (begin, begin + len(text)))
                own = [
                    Mention(start, end, labels[at][label], names[at], self._lists[at].groups[group])
                    for start, end, label, group, at in zip(
                        *(each[first:last].tolist() for each in columns), strict=True
                    )
                ]
                starts = (piece.starts[low:high] - begin).tolist()
                sentences = trimmed(text, starts if starts and not starts[0] else [0, *starts])
                yield Relevant(piece.first + owner, text, sentences, own)

    def _languages(self, found: Documents) -> list[str]:
        """The language of each document, as its field says or as it is detected."""
        fields = {field.name: values for field, values in found.fields.items()}
        said = fields.get(self._language_field or "")
        values = [None] * len(found.texts) if said is None else said.to_pylist()
        return list(map(language.of, found.texts, values))

    def read(self, text: str) -> tuple[str, list[tuple[int, int]], list[Mention]]:
        """Read an English text: itself, its sentences and mentions, as `relevant` gives them."""
        every = self._finder.find_all(text, language.ENGLISH)
        sentences = trimmed(text, uncut(bounds(text), every).tolist())
        return text, sentences, self._finder.named(every)

    def _searched(
        self,
        first: int,
        texts: Sequence[str],
        with_sentences: bool,
        languages: Sequence[str | None] | None,
    ) -> Searched:
        """Search texts together; `first` is the number of the first one in the block."""
        joined, begins, every = self._finder.find_together(texts, languages)
        starts = sentence_starts(joined, every) if with_sentences else np.zeros(0, np.int64)
        return Searched(first, texts, begins, every, starts, languages)

    def _piece(
        self, file: str, ids: Sequence[str], places: Sequence[int], piece: Searched
    ) -> tuple[documents.Figures, list[Ints]]:
        """The figures and mentions of documents that were searched together."""
        _, texts, begins, every, starts, _ = piece
        figures = documents.Figures(sentences=len(starts) or None)
        counts: list[Ints] = []
        for number, (words, found) in enumerate(zip(self._lists, every, strict=True)):
            each = piece.counts(number, len(words.groups))
            named = each[each.any(axis=1)]
            numbers = np.bincount(found.labels, minlength=1)
            labels = self._finder.labels(number)
            totals = each.sum(axis=1)
            top = [
                int(i) for i in np.argsort(-totals, kind="stable")[: documents.HEAVY] if totals[i]
            ]
            figures.attributes[words.attribute] = documents.AttributeFigures(
                documents=len(named),
                counts=[int(n) for n in named.sum(axis=0)],
                products=[[int(n) for n in row] for row in named.T @ named],
                relevant=_changes(np.searchsorted(starts, found.starts, "right"))
                if len(starts)
                else None,
                labels={labels[i]: int(numbers[i]) for i in np.flatnonzero(numbers)},
                heavy=[
                    {
                        "id": ids[i],
                        "at": list(position(file, places[i])),
                        "counts": [int(n) for n in each[i]],
                        "snippet": texts[i][: documents.SNIPPET],
                    }
                    for i in top
                ],
            )
            counts.append(each)
        if self._people is not None:
            found = self._people.count(ids, texts, begins, every)
            for words, people in zip(self._lists, found, strict=True):
                figures.attributes[words.attribute].people = people
        return figures, counts


def _changes(values: Ints) -> int:
    """How many different values an ascending array (n,) holds."""
    return int(np.count_nonzero(values[1:] != values[:-1])) + (len(values) > 0)


def _utf8_length(text: str) -> int:
    """How many bytes a text has in UTF-8, lone surrogates included."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
