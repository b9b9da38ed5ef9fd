"""Records from documents: the groups that a sentence names, and fields of the document.

A record is a sentence, a referent or a document, as the configuration says. A referent is a run of
labels with nothing but blanks or hyphens between: “old Muslim women” are one, “women and old men”
are two. What names no group of any attribute is no record, unless only fields are asked for; then
each document is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from evenflow.schemas.config import ConfigError
from evenflow.schemas.config.coverage import CoverageSettings
from evenflow.schemas.threshold import Threshold
from evenflow.transforms.io.fields import JSON
from evenflow.transforms.labels.finder import BETWEEN, Found, LabelFinder
from evenflow.transforms.measures.coverage import lookup
from evenflow.transforms.measures.coverage.clusters import Clusters, sums
from evenflow.transforms.measures.coverage.columns import looked_up
from evenflow.transforms.measures.coverage.patterns import Flags, Ints
from evenflow.transforms.measures.coverage.table import Table
from evenflow.wordlists.loader import WordList

MOST_GROUPS = 62  # bits of a number
JOINS = " \t\n-\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{NO-BREAK SPACE}"  # within a referent


class Intersections:
    """Counts the records of documents by their values.

    Args:
        lists: The word lists of the measured attributes. An attribute of one of these names is
            named in the text; COLUMN.PROPERTY is looked up (`lookup`); any other is a field of the
            documents.

    Attributes:
        fields: Those of them that are fields, or looked up for one.

    Raises:
        ConfigError: An attribute that a text names has more groups than can be counted.
        InputError: The extract of entities cannot be read.
    """

    def __init__(self, settings: CoverageSettings, lists: Sequence[WordList]):
        self._lists = len(lists)
        self.attributes = settings.named(words.attribute for words in lists)
        self._known = lookup.knowledge(settings)
        own = {words.attribute: number for number, words in enumerate(lists)}
        pairs = {
            name: pair
            for name in self.attributes
            if name not in own and (pair := looked_up(name, self._known)) is not None
        }
        self._of_text = {name: each for name, (at, each) in pairs.items() if at == lookup.TEXT}
        self._pairs = {name: pair for name, pair in pairs.items() if name not in self._of_text}
        own |= {name: len(lists) + number for number, name in enumerate(self._of_text)}
        self._named = {name: own[name] for name in self.attributes if name in own}
        self.fields = tuple(name for name in self.attributes if name not in own)
        self._domains = {name: self._domain(each) for name, (_, each) in pairs.items()}
        self._groups = {
            name: self._domains[name] if name in self._domains else lists[number].groups
            for name, number in self._named.items()
        }
        self._unit = settings.unit if self._named else "document"
        threshold = Threshold.parse(str(settings.tau or 0))
        self._has_bound = threshold.share is not None and self._unit != "document"
        self.needs_sentences = self._unit == "sentence"
        if large := [name for name, each in self._groups.items() if len(each) > MOST_GROUPS]:
            names = ", ".join(large)
            raise ConfigError(f"coverage counts up to {MOST_GROUPS} groups of a list: not {names}")

    def count(
        self,
        fields: Mapping[pa.Field, pa.Array],
        first: int,
        texts: Sequence[str],
        begins: Ints,
        every: Sequence[Found],
        starts: Ints,
    ) -> dict[str, Any]:
        """Count the records of documents that were searched together.

        Args:
            fields: The fields of the block's documents.
            first: Number of the first of these documents in the block.
            texts: Their texts, (D,).
            begins: Where each begins in the joined text, (D,).
            every: What was found of each word list in the joined text.
            starts: Where sentences begin in the joined text.

        Returns:
            `records`: how often each record occurs, by its values as JSON, and `squares`: the sum
            over documents of their squared number of records; with a share as tau and several
            records in a document also `clusters` (`clusters.sums`). All can be added.
        """
        if self._named:
            every = [*every[: self._lists], *self._found_names(texts)]
            found = [every[number] for number in self._named.values()]
            owners, masks = self._units(found, texts, begins, starts)
        else:
            owners, masks = np.arange(len(texts)), np.zeros((len(texts), 0), np.int64)
        columns = {field.name: (field, values) for field, values in fields.items()}
        tuples: list[list[list[str]]] = []
        for name in self.fields:
            column, of = self._pairs.get(name, (name, None))
            field, values = columns.get(column, (None, pa.nulls(first + len(texts))))
            encoded = values.slice(first, len(texts)).dictionary_encode()
            own = [field_values(each, field) for each in encoded.dictionary.to_pylist()]
            own = own if of is None else [self._looked_up(each, of) for each in own]
            places = encoded.indices.fill_null(len(own)).to_numpy(zero_copy_only=False)
            masks = np.column_stack([masks, places[owners]])
            tuples.append([*own, []])
        rows, of, counts = np.unique(masks, axis=0, return_inverse=True, return_counts=True)
        records: dict[str, int] = {}
        every_row: list[list[list[str]]] = []
        for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
            values = dict(zip(self._named, map(self._named_by, self._groups, row), strict=False))
            for name, own, place in zip(self.fields, tuples, row[len(values) :], strict=True):
                values[name] = own[place]
            every_row.append([values[name] for name in self.attributes])
            key = orjson.dumps(every_row[-1]).decode()
            records[key] = records.get(key, 0) + count
        sizes = np.bincount(owners)
        out: dict[str, Any] = {"records": records, "squares": int((sizes**2).sum())}
        if self._has_bound and len(owners):
            out["clusters"] = sums(owners, sizes, of.ravel(), every_row)
        return out

    def table(self, counted: Mapping[str, Any]) -> Table:
        """The table of what was counted.

        Args:
            counted: What `count` returned, or sums of it.

        Returns:
            The table, with all groups of the word lists, all values of the extract, and the
            fields' values in order.
        """
        records = {
            tuple(tuple(each) for each in orjson.loads(key)): count
            for key, count in counted.get("records", {}).items()
        }
        known = {**self._groups, **self._domains}
        values = {
            name: known[name] if name in known else sorted({v for each in records for v in each[i]})
            for i, name in enumerate(self.attributes)
        }
        table = Table.of(values, records, counted.get("squares", 0))
        if not counted.get("clusters"):
            return table
        own = Clusters.of(table.lattice, table.values, counted["clusters"])
        # Panes of an earlier version have no such sums; then those of the others say too little
        is_whole = own.aa[-1:].sum() == table.squares
        return replace(table, clusters=own) if is_whole else table

    def _domain(self, name: str) -> tuple[str, ...]:
        """The values of a property in the extract, in order."""
        return tuple(sorted(self._known.domain(name))) if self._known is not None else ()

    def _looked_up(self, named: Sequence[str], name: str) -> list[str]:
        """The values of a property of those whom a field names, in order."""
        found = {self._known.value(each, name) for each in named} if self._known else set()
        return sorted(each for each in found if each is not None)

    def _found_names(self, texts: Sequence[str]) -> list[Found]:
        """The names in texts that are joined, for each attribute text.PROPERTY."""
        if not self._of_text:
            return []
        every = self._names.find_all(BETWEEN.join(texts))
        sizes = [len(self._groups[name]) for name in self._of_text]
        kept = [each.groups < size for each, size in zip(every, sizes, strict=True)]
        return [
            Found(each.starts[own], each.ends[own], each.labels[own], each.groups[own])
            for each, own in zip(every, kept, strict=True)
        ]

    @cached_property
    def _names(self) -> LabelFinder:
        assert self._known is not None
        return LabelFinder(
            [lookup.names(self._known, each, name) for each, name in self._of_text.items()]
        )

    def _named_by(self, name: str, mask: int) -> list[str]:
        return [group for i, group in enumerate(self._groups[name]) if mask >> i & 1]

    def _units(
        self, found: Sequence[Found], texts: Sequence[str], begins: Ints, starts: Ints
    ) -> tuple[Ints, Ints]:
        """The document of each record, (U,), and the groups that it names as bits, (U, d)."""
        attributes = np.repeat(np.arange(len(found)), [len(each.starts) for each in found])
        at, ends, groups = (
            np.concatenate([getattr(each, name) for each in found])
            for name in ("starts", "ends", "groups")
        )
        order = np.argsort(at, kind="stable")
        attributes, at, ends, groups = attributes[order], at[order], ends[order], groups[order]
        owners = np.searchsorted(begins, at, "right") - 1
        if self._unit == "referent":
            new = _apart(at, ends, owners, texts, begins)
        else:
            of = np.searchsorted(starts, at, "right") if self._unit == "sentence" else owners
            new = np.ones(len(at), bool)
            new[1:] = of[1:] != of[:-1]
        masks = np.zeros((int(new.sum()), len(found)), np.int64)
        np.bitwise_or.at(masks, (np.cumsum(new) - 1, attributes), 1 << groups)
        return owners[new], masks


def _apart(at: Ints, ends: Ints, owners: Ints, texts: Sequence[str], begins: Ints) -> Flags:
    """Which labels begin a referent, (n,): those with more than a joint before them."""
    new = np.ones(len(at), bool)
    before = np.maximum.accumulate(ends)[:-1]
    near = (at[1:] - before <= 2) & (owners[1:] == owners[:-1])
    for i in np.flatnonzero(near).tolist():
        begin = int(begins[owners[i]])
        gap = str(texts[owners[i]])[before[i] - begin : at[i + 1] - begin]
        new[i + 1] = bool(gap.strip(JOINS)) or gap.count("\n") > 1
    return new


def field_values(value: Any, field: pa.Field | None) -> list[str]:
    """A field's value as the values of a record: a list has several; all but text is JSON.

    Args:
        field: Its column; None: there is none.
    """
    if field is not None and field.metadata == JSON:
        value = orjson.loads(value)
    several = value if isinstance(value, list) else [value]
    kept = {
        each if isinstance(each, str) else orjson.dumps(each, default=str).decode()
        for each in several
        if each is not None
    }
    return sorted(kept)
