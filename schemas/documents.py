"""What passes between the reading step and the commit.

This is the figures of annotated blocks, and the Arrow schemas of shards and of sentence tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from evenflow.schemas.config.repair import Mode, OutputAs
from evenflow.schemas.guards import is_mapping
from evenflow.schemas.ledger import Shard, Sums

SNIPPET = 160  # characters of a heavy document that the report shows
HEAVY = 8  # heaviest documents that are kept for a pane and attribute


@dataclass(frozen=True)
class Attribute:
    """An attribute as the steps know it.

    Attributes:
        groups: Names of its groups, in the word list's order.
        scored: Whether documents have a bias score for it.
        weighs: What becomes of weights that documents get for its sake; None: they get none.
        target: Shares of the mentions that the groups should have, (M,); None: equal shares.
        by_language: Whether documents have a column for their language.
    """

    name: str
    groups: tuple[str, ...]
    mode: Mode = "measure"
    scored: bool = False
    weighs: OutputAs | None = None
    target: tuple[float, ...] | None = None
    by_language: bool = False


def mentions(attribute: str, group: str) -> str:
    """Name of the shard column that counts a group's mentions in a document."""
    return f"mentions_{attribute}_{group}"


def leaning(attribute: str) -> pa.Field:
    """The shard column that holds a document's bias score; null without a known word."""
    return pa.field(f"bias_score_{attribute}", pa.float64())


# Columns of a staged block: these, the mentions, then the document's other fields. The name of the
# input file is in the schema's metadata.
ID = pa.field("id", pa.string(), nullable=False)
TEXT = pa.field("text", pa.large_string(), nullable=False)
ORDINAL = pa.field("ordinal", pa.int64(), nullable=False)
REASON = pa.field("reason", pa.string(), nullable=False)  # why a document was quarantined
FILE = b"evenflow.file"
# Id of the document that this one is a copy of (mode augment, repair.output_as sample), else null
COPY_OF = pa.field("copy_of", pa.string())
# Code of ISO 639 (measure.by_language); of another than English, the text is not repaired
LANGUAGE = pa.field("language_detected", pa.string())
WEIGHT = pa.field("weight", pa.float64(), nullable=False)  # mode weight: one for all attributes


def mention_fields(attribute: Attribute) -> list[pa.Field]:
    """An attribute's columns, in the order of its groups."""
    return [
        pa.field(mentions(attribute.name, group), pa.int32(), nullable=False)
        for group in attribute.groups
    ]


def own_fields(attributes: Sequence[Attribute]) -> list[pa.Field]:
    """Columns that Evenflow computes: the mentions, then what the repair adds."""
    fields = [column for attribute in attributes for column in mention_fields(attribute)]
    fields += [WEIGHT] if any(each.weighs == "weight" for each in attributes) else []
    fields += [leaning(each.name) for each in attributes if each.scored]
    fields += [LANGUAGE] if any(each.by_language for each in attributes) else []
    copies = any(each.mode == "augment" or each.weighs == "sample" for each in attributes)
    return [*fields, COPY_OF] if copies else fields


def own_columns(attributes: Sequence[Attribute]) -> list[str]:
    """Names of the columns that Evenflow computes.

    Returns:
        The names, in the order of the columns.

    Raises:
        ValueError: Two columns have the same name.
    """
    names = [column.name for column in own_fields(attributes)]
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(
            f"attributes and groups make the column {doubled[0]!r} twice; give one of them another"
            " name"
        )
    return names


def shard_schema(
    attributes: Sequence[Attribute], others: Sequence[pa.Field], text: str, identity: str
) -> pa.Schema:
    """Schema of a shard.

    Args:
        others: The input's other fields.
        text: Name of the text's field in the input.
        identity: Name of the id's field in the input.

    Returns:
        Columns for id and text under their names in the input, the other fields, and the columns
        that Evenflow computes.
    """
    return pa.schema(
        [ID.with_name(identity), TEXT.with_name(text), *others, *own_fields(attributes)]
    )


_SET = pa.struct(
    [
        ("set", pa.int32()),
        ("source", pa.string()),
        ("target", pa.string()),
        ("confidence", pa.float32()),
        ("reason", pa.string()),
    ]
)
# In linguistic_indicators of a sure stereotype that stays, the reason: a passage in quotation marks
# would be torn, it is of a creed alone, or it names its group by "they" alone
STAYS, PASSAGE, CREED, PRONOUN = "stays", "passage", "creed", "they"
# Columns of the sentence table: one row for each relevant sentence and attribute that it names
# (main paper, 4.1). Offsets are characters of the text as it was read. text_cda is the changed
# sentence, null if the sentence did not change.
SENTENCES = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("attribute", pa.string(), nullable=False),
        pa.field("sent_id", pa.int32(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        pa.field("sent_text", pa.large_string(), nullable=False),
        pa.field("words_per_group", pa.map_(pa.string(), pa.list_(pa.string())), nullable=False),
        pa.field("counts_per_group", pa.map_(pa.string(), pa.int32()), nullable=False),
        pa.field("relevant_sentence", pa.bool_(), nullable=False),
        pa.field("potential_stereotype", pa.float32()),
        pa.field("linguistic_indicators", pa.string()),
        pa.field("strength", pa.float32()),
        pa.field("score_scsc", pa.float32()),
        pa.field("remove_sentence", pa.bool_(), nullable=False),
        pa.field("text_cda", pa.large_string()),
        pa.field("sets", pa.list_(_SET), nullable=False),
    ]
)


@dataclass(frozen=True)
class Cell:
    """A stretch of a document that a reader reads at once, with the mentions of one attribute.

    Attributes:
        rank: Its place in the draw of a sample; the least are read.
        size: How unsure the first stage is of its mentions, in thousandths of a mention.
        whole: The first stage's people of each group in the document, in thousandths, (M,).
        first: The same of the cell, (M,).
        low: Where the passage begins in the text.
        places: The mentions in the text: start, end, group, the first stage's chance in
            thousandths.
        own: The first of these that is in the cell, and the one after the last.
    """

    rank: float
    size: int
    document: str
    whole: list[int]
    first: list[int]
    text: str = ""
    low: int = 0
    high: int = 0
    places: list[list[int]] = field(default_factory=list[list[int]])
    own: tuple[int, int] = (0, 0)


@dataclass
class PeopleFigures:
    """What the first stage says of the mentions of one attribute; additive.

    Attributes:
        counts: People per group, (M,), in thousandths of a mention.
        products: Sum of products of a document's people, (M, M), in millionths.
        cells: The budget + 1 cells of the least rank, in their order.
        labels: People per label by the first stage, in thousandths.
        estimate: The estimate (ledger.Sums as plain data) once cells were read; None before.
        read: How many cells were read.
    """

    documents: int
    counts: list[int]
    products: list[list[int]]
    budget: int
    cells: list[Cell] = field(default_factory=list[Cell])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    estimate: dict[str, Any] | None = None
    read: int = 0

    @classmethod
    def empty(cls, groups: int, budget: int) -> PeopleFigures:
        """Figures of no documents, for M groups."""
        return cls(0, [0] * groups, [[0] * groups for _ in range(groups)], budget)

    @classmethod
    def parse(cls, data: dict[str, Any]) -> PeopleFigures:
        """Return it from what dataclasses.asdict returned."""
        values: dict[str, Any] = {**data, "cells": [Cell(**each) for each in data["cells"]]}
        return cls(**values)

    def add(self, other: PeopleFigures) -> None:
        """Add another block's figures, before cells were read; the order does not matter."""
        _add_counts(self, other)
        self.labels = summed(self.labels, other.labels)
        cells = [*self.cells, *other.cells]
        self.cells = sorted(cells, key=lambda cell: (cell.rank, cell.text))[: self.budget + 1]


@dataclass
class AttributeFigures:
    """Additive figures of one attribute.

    Attributes:
        documents: Number of documents with at least one mention.
        counts: Mentions per group, (M,) (see ledger.Sums).
        products: Sum of products of a document's mentions, (M, M) (see ledger.Sums).
        relevant: Number of sentences that name the attribute; None: none were looked for.
        labels: How often each label was mentioned.
        heavy: The documents with the most mentions, {id, counts, snippet, at}.
        people: What is known of the people that mentions name; None: words alone are counted.
    """

    documents: int
    counts: list[int]
    products: list[list[int]]
    relevant: int | None = None
    labels: dict[str, int] = field(default_factory=dict[str, int])
    heavy: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    people: PeopleFigures | None = None

    @classmethod
    def parse(cls, data: dict[str, Any]) -> AttributeFigures:
        """Return it from what dataclasses.asdict returned."""
        values: dict[str, Any] = dict(data)
        values["people"] = values.get("people") and PeopleFigures.parse(values["people"])
        return cls(**values)

    @classmethod
    def empty(cls, groups: int) -> AttributeFigures:
        """Figures of no documents, for M groups."""
        return cls(0, [0] * groups, [[0] * groups for _ in range(groups)])

    @property
    def sums(self) -> Sums:
        """What a score is computed from."""
        return Sums(documents=self.documents, counts=self.counts, products=self.products)

    def add(self, other: AttributeFigures) -> None:
        """Add another block's figures; the order of additions does not matter."""
        _add_counts(self, other)
        self.relevant = plus(self.relevant, other.relevant)
        self.labels = summed(self.labels, other.labels)
        self.heavy = heaviest([*self.heavy, *other.heavy])
        if other.people is not None:
            if self.people is None:
                self.people = PeopleFigures.empty(len(self.counts), other.people.budget)
            self.people.add(other.people)


def _add_counts(
    own: PeopleFigures | AttributeFigures, other: PeopleFigures | AttributeFigures
) -> None:
    """Add the documents, counts and products of others."""
    own.documents += other.documents
    own.counts = [a + b for a, b in zip(own.counts, other.counts, strict=True)]
    own.products = [
        [a + b for a, b in zip(mine, theirs, strict=True)]
        for mine, theirs in zip(own.products, other.products, strict=True)
    ]


def heaviest(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The documents with the most mentions, at most HEAVY; ties are ordered by position."""
    return sorted(documents, key=lambda document: (-sum(document["counts"]), document["at"]))[
        :HEAVY
    ]


# Measures of documents as they were read, not as they were repaired
AS_READ = ("shift",)


@dataclass
class Figures:
    """Additive figures of some blocks.

    Attributes:
        input_bytes: Size of the records that were read, decompressed.
        sentences: Number of sentences; None: none were looked for.
        dead_reasons: Number of dead letters, by kind of reason.
        replaced: Number of documents with a field that has the name of a computed column, and is
            kept under another one, by its name.
        deleted: Number of a topic's records without a value, which are no documents.
        mended: Number of documents with a field in which bytes that are no UTF-8 were replaced, or
            a value that columns cannot hold became null, by its name.
        extra: Number of documents with fields outside of the shards' columns.
        outside: Number of documents with such a field, by its name.
        llm: What questions to an LLM cost, by prompt (the client's Stats).
        measures: What measures count, by the measure's name (transforms.measures).
        languages: Number of documents by language; empty where it does not matter.
        other_languages: Number of documents in languages that no word list has, by language.
    """

    documents: int = 0
    text_bytes: int = 0
    input_bytes: int = 0
    sentences: int | None = None
    dead_reasons: dict[str, int] = field(default_factory=dict[str, int])
    replaced: dict[str, int] = field(default_factory=dict[str, int])
    deleted: int = 0
    mended: dict[str, int] = field(default_factory=dict[str, int])
    extra: int = 0
    outside: dict[str, int] = field(default_factory=dict[str, int])
    attributes: dict[str, AttributeFigures] = field(default_factory=dict[str, AttributeFigures])
    llm: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    measures: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    languages: dict[str, int] = field(default_factory=dict[str, int])
    other_languages: dict[str, int] = field(default_factory=dict[str, int])

    @classmethod
    def read(cls, data: dict[str, Any]) -> Figures:
        """Read what dataclasses.asdict returned, directly or from JSON."""
        attributes = {
            name: AttributeFigures.parse(each) for name, each in data["attributes"].items()
        }
        values: dict[str, Any] = {**data, "attributes": attributes}
        return cls(**values)

    def add(self, other: Figures) -> None:
        """Add another block's figures in place; the other block's stay as they are."""
        self.documents += other.documents
        self.text_bytes += other.text_bytes
        self.input_bytes += other.input_bytes
        self.sentences = plus(self.sentences, other.sentences)
        self.dead_reasons = summed(self.dead_reasons, other.dead_reasons)
        self.replaced = summed(self.replaced, other.replaced)
        self.deleted += other.deleted
        self.mended = summed(self.mended, other.mended)
        self.extra += other.extra
        self.outside = summed(self.outside, other.outside)
        for name, figures in other.attributes.items():
            if name not in self.attributes:
                self.attributes[name] = AttributeFigures.empty(len(figures.counts))
            self.attributes[name].add(figures)
        self.llm = summed(self.llm, other.llm)
        self.measures = summed(self.measures, other.measures)
        self.languages = summed(self.languages, other.languages)
        self.other_languages = summed(self.other_languages, other.other_languages)

    def take_reading(self, before: Figures) -> None:
        """Take what reading found from figures of the same records before they were changed."""
        self.input_bytes, self.llm = before.input_bytes, before.llm
        self.dead_reasons, self.replaced = before.dead_reasons, before.replaced
        self.mended, self.deleted = before.mended, before.deleted
        as_read = {name: before.measures[name] for name in AS_READ if name in before.measures}
        self.measures = before.measures | self.measures | as_read


def plus(a: int | None, b: int | None) -> int | None:
    """Add numbers of which one may not have been counted."""
    return b if a is None else a if b is None else a + b


def summed(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """Add nested figures, key by key.

    Args:
        a: Numbers, or mappings of numbers, by key.
    """
    out = dict(a)
    for key, value in b.items():
        if key not in out:
            out[key] = value
        elif is_mapping(value):
            out[key] = summed(out[key], value)
        else:
            out[key] += value
    return out


@dataclass
class RepairedPane:
    """A pane after its repair.

    Attributes:
        repairs: What the repair did, by attribute: ledger.Repair without its score.
        sentences: The sentence table; None without one.
    """

    figures: Figures
    repairs: dict[str, dict[str, Any]]
    sentences: Shard | None

    def to_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        sentences = None if self.sentences is None else self.sentences.model_dump()
        return {**vars(self), "figures": asdict(self.figures), "sentences": sentences}

    @classmethod
    def read(cls, data: dict[str, Any]) -> RepairedPane:
        """Return it from what `to_json` returned."""
        sentences = data["sentences"] and Shard.model_validate(data["sentences"])
        read: dict[str, Any] = {"figures": Figures.read(data["figures"]), "sentences": sentences}
        return cls(**{**data, **read})

    @classmethod
    def unchanged(cls, blocks: Iterable[Figures]) -> RepairedPane:
        """A pane that is only measured, from the figures of its blocks."""
        total = Figures()
        for each in blocks:
            total.add(each)
        return cls(total, {}, None)
