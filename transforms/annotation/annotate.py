"""Annotates the documents of a block: label mentions, sentence bounds, counts; and stages the block
as Arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.config import Config
from evenflow.transforms.io.files import Block, position
from evenflow.transforms.io.records import Documents, validate
from evenflow.transforms.io.unforeseen import Spoilt, without_spoilt
from evenflow.transforms.labels.finder import BETWEEN, Found, LabelFinder, Mention, pieces, uncut
from evenflow.transforms.staging.sentence_table import Relevant, Rows
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.wordlists import loader
from evenflow.wordlists.loader import WordList

if TYPE_CHECKING:
    from evenflow.transforms.llm.questions import Answer, Question
    from evenflow.transforms.llm.worker import Tier
    from evenflow.transforms.staging.proposals import Proposed, Proposer
    from evenflow.transforms.stereotypes.filter import StereotypeFilter

# Characters that are searched at a time. It bounds the memory of the arrays.
PIECE = 4 << 20

Ints = npt.NDArray[np.int64]


@dataclass
class Annotated:
    """A block after reading: its table, dead letters as JSON-able records, figures; details: what
    the repair of its text needs, if it has one; aside: documents that are set aside, with the
    reason; heard: what may still be asked."""

    table: pa.Table
    dead: list[dict[str, Any]]
    figures: documents.Figures
    details: Details | None = None
    aside: pa.Table | None = None
    heard: Deferred | None = None


@dataclass
class Deferred:
    """What a language model with a budget may be asked about a block once its pane is whole, and
    its documents as read.
    """

    questions: list[Question]
    read: Documents


@dataclass
class Details:
    """What is known of a block's sentences: rows of the table of sentences, and proposed
    substitutions.
    """

    rows: Rows
    proposed: list[Proposed]


class Searched(NamedTuple):
    """Documents first.. of a block that were searched together: where each begins in the joined
    text, what was found there, and where sentences begin."""

    first: int
    texts: Sequence[str]
    begins: Ints
    every: list[Found]
    starts: Ints


class Annotator:
    """Annotates blocks under a configuration; built once a process. tier: a language model in the
    place of the configured one.

    Raises WordListError.
    """

    def __init__(self, config: Config, tier: Tier | None = None):
        self.config = config
        self.lists = [
            loader.load(each.wordlist or name) for name, each in config.attributes.items()
        ]
        self.attributes = tuple(
            documents.Attribute(words.attribute, words.groups, config.mode(words.attribute))
            for words in self.lists
        )
        self.own = frozenset(documents.own_columns(self.attributes))
        self._finder = LabelFinder(self.lists)
        self.tier = tier or _tier(config)
        self.proposer = _proposer(config, self.lists, self.tier)
        self.screen = _screen(config, self.tier)
        weighs = any(each.mode == "reweight" for each in self.attributes)
        # Whether panes are more than measured
        self.repairs = self.proposer is not None or self.screen is not None or weighs

    def measure(self, block: Block) -> documents.Figures:
        """The figures of a block; no sentences are bounded and no other fields kept."""

        def measured(spoilt: Spoilt) -> documents.Figures:
            found = validate(block, self.config, self.own, keep_fields=False, spoilt=spoilt)
            figures, _ = self.count(
                found.file, found.ids, found.texts, found.places, with_sentences=False
            )
            figures.input_bytes = sum(block.weights())
            figures.dead_reasons = dict(found.reasons)
            return figures

        return without_spoilt(measured, block.size, self.probe)

    def annotate(self, block: Block, root: str | None = None) -> Annotated:
        """The block's documents with their mentions. root: as in records.validate."""

        def done(spoilt: Spoilt) -> Annotated:
            return self.annotated(
                validate(block, self.config, self.own, root=root, spoilt=spoilt),
                sum(block.weights()),
            )

        return without_spoilt(done, block.size, self.probe)

    def probe(self) -> Annotated:
        """A plain document of its own, annotated."""
        return self.annotated(Documents("", ["probe"], ["She paid."], [0]), 0)

    def annotated(
        self, found: Documents, input_bytes: int, known: Mapping[str, Answer] | None = None
    ) -> Annotated:
        """Validated documents with their mentions.

        input_bytes: of the records that they came from. known: what a language model with a budget
        has answered so far.
        """
        if self.tier is None:
            return self._annotated(found, input_bytes)
        with self.tier.block(known) as asked:
            done = self._annotated(found, input_bytes)
            done.figures.llm, heard = asked()
        done.heard = Deferred(heard, found) if heard else None
        return done

    def _annotated(self, found: Documents, input_bytes: int) -> Annotated:
        searched: list[Searched] = []
        look = searched.append if self.proposer is not None or self.screen is not None else None
        figures, counts = self.count(found.file, found.ids, found.texts, found.places, look=look)
        details, aside = None, None
        if look is not None:
            rows = Rows({words.attribute: words.groups for words in self.lists})
            relevant = list(self._relevant(searched))
            kept = found
            if self.screen is None:
                self._fill(rows, found, relevant)
            else:
                kept, aside = self._screened(found, relevant, rows, self.screen)
            if kept is not found:
                searched.clear()
                figures, counts = self.count(
                    kept.file, kept.ids, kept.texts, kept.places, look=look
                )
                relevant = list(self._relevant(searched)) if self.proposer is not None else []
            propose = partial(self._proposed, kept, relevant)
            details = Details(rows, propose() if self.tier is None else self.tier.together(propose))
            found = kept
        figures.input_bytes = input_bytes
        figures.dead_reasons = dict(found.reasons)
        return Annotated(self._table(found, counts), found.dead, figures, details, aside)

    def _screened(
        self, found: Documents, relevant: Sequence[Relevant], rows: Rows, screen: StereotypeFilter
    ) -> tuple[Documents, pa.Table | None]:
        """The documents without what was taken out of them, and those that were set aside. Fills
        the rows.
        """
        texts = list(found.texts)
        aside: dict[int, str] = {}
        for each, done in zip(relevant, screen.screen(relevant), strict=True):
            place, identity = found.places[each.number], found.ids[each.number]
            rows.add(
                place,
                identity,
                each.text,
                each.sentences,
                each.mentions,
                done.findings,
                done.places,
            )
            texts[each.number] = done.text
            if done.aside is not None:
                aside[each.number] = done.aside
        if not aside and texts == found.texts:
            return found, None
        keep = [number for number in range(len(texts)) if number not in aside]
        columns = {
            column: values.take(pa.array(keep, pa.int64()))
            for column, values in found.fields.items()
        }
        kept = replace(
            found,
            ids=[found.ids[number] for number in keep],
            texts=[texts[number] for number in keep],
            places=[found.places[number] for number in keep],
            fields=columns,
        )
        return kept, self._aside(found, aside) if aside else None

    def _aside(self, found: Documents, reasons: dict[int, str]) -> pa.Table:
        """Documents that are set aside, as they were read, with the reason."""
        numbers = sorted(reasons)
        take = pa.array(numbers, pa.int64())
        columns = [
            (documents.ID, pa.array([found.ids[number] for number in numbers], pa.string())),
            (
                documents.TEXT,
                pa.array([found.texts[number] for number in numbers], pa.large_string()),
            ),
            (documents.ORDINAL, pa.array([found.places[number] for number in numbers], pa.int64())),
            (documents.REASON, pa.array([reasons[number] for number in numbers], pa.string())),
            *((column, values.take(take)) for column, values in found.fields.items()),
        ]
        schema = pa.schema(
            [column for column, _ in columns], metadata={documents.FILE: found.file.encode()}
        )
        return pa.Table.from_arrays([values for _, values in columns], schema=schema)

    def _fill(self, rows: Rows, found: Documents, relevant: Sequence[Relevant]) -> None:
        for number, text, sentences, mentions in relevant:
            rows.add(found.places[number], found.ids[number], text, sentences, mentions)

    def _proposed(self, found: Documents, relevant: Sequence[Relevant]) -> list[Proposed]:
        """What could be substituted."""
        if self.proposer is None:
            return []
        proposed = (
            self.proposer.propose(
                found.places[number], found.ids[number], text, sentences, mentions
            )
            for number, text, sentences, mentions in relevant
        )
        return [each for each in proposed if each is not None]

    def _relevant(self, searched: Sequence[Searched]) -> Iterator[Relevant]:
        """Documents that name a label."""
        names = [words.attribute for words in self.lists]
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
            edges = (
                np.flatnonzero(np.diff(owners, prepend=-1, append=-1)).tolist()
                if len(owners)
                else []
            )
            for first, last in pairwise(edges):
                owner = int(owners[first])
                begin, text = int(piece.begins[owner]), piece.texts[owner]
                low, high = np.searchsorted(piece.starts, (begin, begin + len(text)))
                own = [
                    Mention(start, end, labels[at][label], names[at], self.lists[at].groups[group])
                    for start, end, label, group, at in zip(
                        *(each[first:last].tolist() for each in columns), strict=True
                    )
                ]
                starts = (piece.starts[low:high] - begin).tolist()
                sentences = trimmed(text, starts if starts and not starts[0] else [0, *starts])
                yield Relevant(piece.first + owner, text, sentences, own)

    def _table(self, found: Documents, counts: list[Ints]) -> pa.Table:
        columns: list[tuple[pa.Field, Any]] = [
            (documents.ID, pa.array(found.ids, pa.string())),
            (documents.TEXT, pa.array(found.texts, pa.large_string())),
            (documents.ORDINAL, pa.array(found.places, pa.int64())),
        ]
        for attribute, each in zip(self.attributes, counts, strict=True):
            for number, column in enumerate(documents.mention_fields(attribute)):
                columns.append((column, pa.array(each[:, number], pa.int32())))
        for column in documents.own_fields(self.attributes)[len(columns) - 3 :]:
            blank = (
                pa.nulls(len(found.ids), column.type)
                if column.nullable
                else pa.array(np.ones(len(found.ids)), column.type)
            )
            columns.append((column, blank))  # what the repair fills
        columns += found.fields.items()
        schema = pa.schema(
            [column for column, _ in columns], metadata={documents.FILE: found.file.encode()}
        )
        return pa.Table.from_arrays([values for _, values in columns], schema=schema)

    def count(
        self,
        file: str,
        ids: Sequence[str],
        texts: Sequence[str],
        places: Sequence[int],
        with_sentences: bool = True,
        look: Callable[[Searched], None] | None = None,
    ) -> tuple[documents.Figures, list[Ints]]:
        """Figures of D documents, and for each attribute the mentions of its groups in each of
        them, (D, M).

        look: called with what was found, for those who need to know more.
        """
        figures = documents.Figures(documents=len(texts), text_bytes=sum(map(_utf8_length, texts)))
        for attribute in self.attributes:
            figures.attributes[attribute.name] = documents.AttributeFigures.empty(
                len(attribute.groups)
            )
        parts: list[list[Ints]] = []
        for first, last in pieces(texts, PIECE):
            piece = self._searched(first, texts[first:last], with_sentences)
            part, counts = self._piece(file, ids[first:last], places[first:last], piece)
            figures.add(part)
            if look is not None:
                look(piece)
            parts.append(counts)
        none = [np.zeros((0, len(attribute.groups)), np.int64) for attribute in self.attributes]
        return figures, [np.concatenate(each) for each in zip(none, *parts, strict=True)]

    def _searched(self, first: int, texts: Sequence[str], with_sentences: bool) -> Searched:
        joined = BETWEEN.join(texts)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + len(BETWEEN)
        every = self._finder.find_all(joined)
        starts = uncut(bounds(joined), every) if with_sentences else np.zeros(0, np.int64)
        return Searched(first, texts, np.cumsum(lengths) - lengths, every, starts)

    def _piece(
        self, file: str, ids: Sequence[str], places: Sequence[int], piece: Searched
    ) -> tuple[documents.Figures, list[Ints]]:
        _, texts, begins, every, starts = piece
        figures = documents.Figures(sentences=len(starts))
        counts: list[Ints] = []
        for number, (words, found) in enumerate(zip(self.lists, every, strict=True)):
            size = len(words.groups)
            owner = np.searchsorted(begins, found.starts, "right") - 1
            each = np.bincount(owner * size + found.groups, minlength=len(texts) * size).reshape(
                len(texts), size
            )
            said = each[each.any(axis=1)].astype(np.int64)
            numbers = np.bincount(found.labels, minlength=1)
            labels = self._finder.labels(number)
            totals = each.sum(axis=1)
            top = [
                int(i) for i in np.argsort(-totals, kind="stable")[: documents.HEAVY] if totals[i]
            ]
            figures.attributes[words.attribute] = documents.AttributeFigures(
                documents=len(said),
                counts=[int(n) for n in said.sum(axis=0)],
                products=[[int(n) for n in row] for row in said.T @ said],
                relevant=_changes(np.searchsorted(starts, found.starts, "right"))
                if len(starts)
                else 0,
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
        return figures, counts


def _tier(config: Config) -> Tier | None:
    """The LLM that is asked; None where none is, or nothing is there to ask about."""
    if config.llm.url is None or not config.has_sentence_table:
        return None
    from evenflow.transforms.llm.worker import Tier

    return Tier(config)


def _proposer(config: Config, lists: Sequence[WordList], tier: Tier | None) -> Proposer | None:
    """Who proposes substitutions; None where none are asked for."""
    if not config.changes_sentences:
        return None
    from evenflow.transforms.staging.proposals import (
        Proposer,  # its models take a part of a second, which measuring need not wait for
    )

    if config.repair.method == "base":
        return Proposer(config, lists)
    from evenflow.transforms.models import static

    return Proposer(
        config, lists, tier.judge() if tier is not None else None, static.FirstStage.shipped()
    )


def _screen(config: Config, tier: Tier | None) -> StereotypeFilter | None:
    """Who looks for stereotypes; None where nobody is asked to."""
    if not config.looks_for_stereotypes:
        return None
    from evenflow.transforms.stereotypes import detect, indicators
    from evenflow.transforms.stereotypes.filter import StereotypeFilter  # as above

    if tier is None:
        return StereotypeFilter(config)
    detector, scorer = detect.shipped(), indicators.shipped()
    return StereotypeFilter(config, tier.detector(detector), tier.scorer(scorer))


def _changes(values: Ints) -> int:
    """How many different values an ascending array (n,) holds."""
    return int(np.count_nonzero(values[1:] != values[:-1])) + (len(values) > 0)


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
