"""Annotates the documents of a block: mentions, sentences, findings, proposed substitutions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.config import Config
from evenflow.transforms.annotation.mentions import Ints, MentionCounter, MentionCounts
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.records import Documents, validate
from evenflow.transforms.io.unforeseen import Spoilt, without_spoilt
from evenflow.transforms.labels.finder import BETWEEN
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.measure import Columns, Counter
from evenflow.transforms.staging.block import documents_table
from evenflow.transforms.staging.sentence_table import Relevant, Rows, Screened
from evenflow.transforms.substitution import joined
from evenflow.wordlists.loader import WordList

if TYPE_CHECKING:
    from evenflow.transforms.llm.questions import Answer, Question
    from evenflow.transforms.llm.worker import Tier
    from evenflow.transforms.staging.proposals import Proposed, Proposer


@dataclass
class Annotated:
    """A block after reading.

    Attributes:
        table: Its documents with their mentions, for Part.DOCUMENTS.
        dead: Its dead letters, JSON-able.
        details: What the repair of its text needs; None: its text is not repaired.
        aside: The documents that are set aside, with the reason; None: there are none.
        deferred: What a language model may still be asked; None: nothing.
    """

    table: pa.Table
    dead: list[dict[str, Any]]
    figures: documents.Figures
    details: Details | None = None
    aside: pa.Table | None = None
    deferred: Deferred | None = None


@dataclass
class Deferred:
    """What a language model may be asked about a block once its pane is whole."""

    questions: list[Question]
    read: Documents


@dataclass
class Details:
    """What the repair needs of a block's sentences."""

    rows: Rows
    proposed: list[Proposed]


def attributes(config: Config, lists: Iterable[WordList]) -> tuple[documents.Attribute, ...]:
    """The attributes of a configuration, in the order of their word lists."""
    return tuple(
        documents.Attribute(
            words.attribute,
            words.groups,
            config.mode(words.attribute),
            config.bias_score.mode != "off" and words.attribute == config.bias_score.attribute,
            config.repair.output_as if config.weighs(words.attribute) else None,
            None if (target := config.target(words)) is None else tuple(target),
            config.measure.by_language,
        )
        for words in lists
    )


class Annotator:
    """Annotates blocks under a configuration; built once a process.

    Args:
        tier: A language model that replaces the configured one.
        more: What counts besides the measures of the configuration, by name.

    Attributes:
        attributes: Its attributes, in the same order.
        own: The names of the columns that are computed here.
        counters: Count what measures need, by the measure's name.
        tier: The language model; None: none is asked.
        proposer: Proposes substitutions; None: no text is changed.
        screen: Looks through sentences; None: nothing does.
        repairs: Whether texts of panes are changed or looked through.
        threads: Documents of a pane that are judged at once.

    Raises:
        WordListError: A word list cannot be read.
    """

    def __init__(
        self,
        config: Config,
        tier: Tier | None = None,
        more: Mapping[str, Counter] | None = None,
    ):
        self.config = config
        self.lists = config.word_lists()
        self.attributes = attributes(config, self.lists)
        self.own = frozenset(documents.own_columns(self.attributes))
        self.counters = registry.counters(config, self.lists) | dict(more or {})
        passages = config.measure.passages if config.measure.count == "people" else None
        words, spoken = (self.lists, self.attributes, self.counters), config.measure.language_field
        self.mentions = MentionCounter(*words, passages, spoken, config.has_sentence_table)
        self.tier = tier or _tier(config)
        self.proposer = _proposer(config, self.lists)
        self.screen = registry.screen(config, self.tier)
        self._screen = _unscreened if self.screen is None else self.screen.screen
        self._copier = next((each for each in self.counters.values() if each.copies), None)
        self.repairs = self.proposer is not None or self.screen is not None
        self.threads = 1

    def measure(self, block: Block) -> documents.Figures:
        """Count the mentions in a block, without sentences and other fields."""

        def measured(spoilt: Spoilt) -> documents.Figures:
            spoken = self.config.measure.language_field is not None
            keep = spoken or any(each.fields for each in self.counters.values())
            found = validate(block, self.config, self.own, keep_fields=keep, spoilt=spoilt)
            figures = self.mentions.count(found, with_sentences=False).figures
            figures.input_bytes = sum(block.weights())
            figures.dead_reasons = dict(found.reasons)
            return figures

        return without_spoilt(measured, block.size, self.probe)

    def annotate(self, block: Block, root: str | None = None) -> Annotated:
        """Validate and annotate a block.

        Args:
            root: The folder that all files are in, for ids that are made; None: as in
                records.validate.
        """

        def done(spoilt: Spoilt) -> Annotated:
            return self.annotate_documents(
                validate(block, self.config, self.own, root=root, spoilt=spoilt),
                sum(block.weights()),
            )

        return without_spoilt(done, block.size, self.probe)

    def probe(self) -> Annotated:
        """Annotate a plain document, to see whether annotation works at all."""
        return self.annotate_documents(Documents("", ["probe"], ["She paid."], [0]), 0)

    def annotate_documents(
        self, found: Documents, input_bytes: int, known: dict[str, Answer] | None = None
    ) -> Annotated:
        """Annotate validated documents.

        Args:
            input_bytes: Bytes of the records that they came from.
            known: The answers that a language model has given so far, by the questions' keys.
        """
        if self.tier is None:
            return self._annotate(found, input_bytes)
        with self.tier.block(known) as questions:
            done = self._annotate(found, input_bytes)
        done.deferred = Deferred(list(questions.values()), found) if questions else None
        return done

    def _annotate(self, found: Documents, input_bytes: int) -> Annotated:
        """Annotate validated documents with the language model's answers at hand."""
        found, known, aside = self._set_aside(found)
        counted, details = self.mentions.count(found, known=known, keep=self.repairs), None
        if self.repairs:
            found, counted, details, screened = self._detailed(found, counted)
            aside = [*aside, *screened]
        figures = counted.figures
        figures.input_bytes = input_bytes
        figures.dead_reasons, figures.replaced = dict(found.reasons), found.replaced
        figures.mended, figures.deleted = dict(found.mended), found.deleted
        table = self._table(found, counted.mentions, counted.columns)
        set_aside = pa.concat_tables(aside) if aside else None
        return Annotated(table, found.dead, figures, details, set_aside)

    def _set_aside(self, found: Documents) -> tuple[Documents, Columns, list[pa.Table]]:
        """The documents that measures let pass, what is known of them, the others with reasons."""
        columns: Columns = {}
        parts: list[pa.Table] = []
        for counter in self.counters.values():
            reasons, known = counter.aside(found)
            columns |= known
            if reasons:
                parts.append(_with_reasons(found, reasons))
                left = [number for number in range(len(found.texts)) if number not in reasons]
                found = _chosen(found, left)
        return found, columns, parts

    def _detailed(
        self, found: Documents, counted: MentionCounts
    ) -> tuple[Documents, MentionCounts, Details, list[pa.Table]]:
        """The documents that the screen lets pass, what the repair needs, the others with reasons.

        What passes is counted again if the screen changed anything.
        """
        # A screen knows groups by more words than the labels, and copies are of all documents
        every = self.screen is not None or self._copier is not None
        relevant = list(self.mentions.relevant(counted.searched, every))
        screened = self._screen(relevant)
        rows = Rows({words.attribute: words.groups for words in self.lists})
        texts, reasons = list(found.texts), dict[int, str]()
        for (number, text, sentences, mentions), done in zip(relevant, screened, strict=True):
            place, identity = found.places[number], found.ids[number]
            rows.add(place, identity, text, sentences, mentions, done.findings, done.places)
            texts[number] = done.text
            if done.aside is not None:
                reasons[number] = done.aside
        aside = [_with_reasons(found, reasons)] if reasons else []
        if reasons or texts != found.texts:
            left = [number for number in range(len(texts)) if number not in reasons]
            found = _chosen(replace(found, texts=texts), left)
            counted = self.mentions.count(found, keep=True)
            relevant = self.mentions.relevant(counted.searched, self._copier is not None)
        details = Details(rows, self._proposed(found, relevant, counted.columns))
        return found, counted, details, aside

    def _proposed(
        self, found: Documents, relevant: Iterable[Relevant], columns: Columns
    ) -> list[Proposed]:
        """What could be substituted, by document."""
        if self.proposer is None:
            return []
        out: list[Proposed] = []
        copier = self._copier
        names = joined.field_names(self.config) if copier else ()
        texts = joined.texts_of(found.texts, found.fields, names) if copier else []
        for number, text, sentences, mentions in relevant:
            whole = None
            if copier is not None and copier.is_due(columns, number):
                whole = text, sentences, mentions
                if names:
                    whole = self.mentions.read(BETWEEN.join(texts[number]))
            if mentions or whole is not None:
                place, identity = found.places[number], found.ids[number]
                proposed = self.proposer.propose(place, identity, text, sentences, mentions, whole)
                out += [] if proposed is None else [proposed]
        return out

    def _table(self, found: Documents, counts: list[Ints], columns: Columns) -> pa.Table:
        """The documents with their mentions, and blanks in the columns that the repair fills."""
        own = {
            column: pa.array(each[:, number], pa.int32())
            for attribute, each in zip(self.attributes, counts, strict=True)
            for number, column in enumerate(documents.mention_fields(attribute))
        }
        for column in documents.own_fields(self.attributes)[len(own) :]:
            own[column] = (
                pa.array(columns[column.name], column.type)
                if column.name in columns
                else pa.nulls(len(found.ids), column.type)
                if column.nullable
                else pa.array(np.ones(len(found.ids)), column.type)
            )
        return documents_table(found, own)


def _unscreened(documents: Sequence[Relevant]) -> Sequence[Screened]:
    """Documents as nothing has looked through them, in place of `Screen.screen`."""
    return [Screened(each.text) for each in documents]


def _chosen(found: Documents, numbers: Sequence[int]) -> Documents:
    """Some of a block's documents, by their numbers."""
    take = pa.array(numbers, pa.int64())
    return replace(
        found,
        ids=[found.ids[number] for number in numbers],
        texts=[found.texts[number] for number in numbers],
        places=[found.places[number] for number in numbers],
        fields={column: values.take(take) for column, values in found.fields.items()},
    )


def _with_reasons(found: Documents, reasons: Mapping[int, str]) -> pa.Table:
    """Some of a block's documents, by their numbers, with the reasons why they are set aside."""
    column = pa.array(reasons.values(), pa.string())
    return documents_table(_chosen(found, list(reasons)), {documents.REASON: column})


def _tier(config: Config) -> Tier | None:
    """The language model that is asked; None if none is configured, or nothing is asked of it."""
    if config.llm.url is None or not config.has_sentence_table:
        return None
    from evenflow.transforms.llm.worker import Tier

    return Tier(config)


def _proposer(config: Config, lists: Sequence[WordList]) -> Proposer | None:
    """What proposes substitutions; None if no text is changed."""
    if not config.changes_sentences:
        return None
    # Its models take a part of a second to load; measuring does not wait for them
    from evenflow.transforms.staging.proposals import Proposer

    if config.repair.method == "base":
        return Proposer(config, lists)
    from evenflow.transforms.models import static

    return Proposer(config, lists, static.FirstStage.shipped())
