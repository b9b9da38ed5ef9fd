"""Records from documents: the groups that a sentence names, and fields of the document.

A record is a sentence, a referent or a document, as the configuration says. A referent is a run of
labels with nothing but blanks or hyphens between: “old Muslim women” are one, “women and old men”
are two. What names no group of any attribute is no record, unless only fields are asked for; then
each document is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from evenflow.schemas.sections import CoverageSettings
from evenflow.transforms.coverage.patterns import Flags, Ints
from evenflow.transforms.coverage.table import Table
from evenflow.transforms.io.fields import JSON
from evenflow.transforms.labels.finder import Found
from evenflow.wordlists.loader import WordList

MOST_GROUPS = 62  # bits of a number
JOINS = " \t\n-\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{NO-BREAK SPACE}"  # within a referent


class Meetings:
    """Counts the records of documents by their values.

    Args:
        settings: The section of the configuration.
        lists: The word lists of the measured attributes. An attribute of one of these names is
            named in the text; any other is a field of the documents.

    Attributes:
        attributes: The attributes of a record.
        fields: Those of them that are fields.

    Raises:
        ValueError: A word list has more groups than can be counted.
    """

    def __init__(self, settings: CoverageSettings, lists: Sequence[WordList]):
        own = {words.attribute: number for number, words in enumerate(lists)}
        self.attributes = tuple(own if settings.attributes is None else settings.attributes)
        self._named = {name: own[name] for name in self.attributes if name in own}
        self.fields = tuple(name for name in self.attributes if name not in own)
        self._groups = {name: lists[number].groups for name, number in self._named.items()}
        self._unit = settings.unit if self._named else "document"
        self.needs_sentences = self._unit == "sentence"
        if large := [name for name, each in self._groups.items() if len(each) > MOST_GROUPS]:
            names = ", ".join(large)
            raise ValueError(f"coverage counts up to {MOST_GROUPS} groups of a list: not {names}")

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
            over documents of their squared number of records. Both can be added.
        """
        if self._named:
            found = [every[number] for number in self._named.values()]
            owners, masks = self._units(found, texts, begins, starts)
        else:
            owners, masks = np.arange(len(texts)), np.zeros((len(texts), 0), np.int64)
        columns = {field.name: (field, values) for field, values in fields.items()}
        tuples: list[list[list[str]]] = []
        for name in self.fields:
            field, values = columns.get(name, (None, pa.nulls(first + len(texts))))
            encoded = values.slice(first, len(texts)).dictionary_encode()
            own = [field_values(each, field) for each in encoded.dictionary.to_pylist()]
            places = encoded.indices.fill_null(len(own)).to_numpy(zero_copy_only=False)
            masks = np.column_stack([masks, places[owners]])
            tuples.append([*own, []])
        rows, counts = np.unique(masks, axis=0, return_counts=True)
        records: dict[str, int] = {}
        for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
            values = dict(zip(self._named, map(self._named_by, self._groups, row), strict=False))
            for name, own, place in zip(self.fields, tuples, row[len(values) :], strict=True):
                values[name] = own[place]
            key = orjson.dumps([values[name] for name in self.attributes]).decode()
            records[key] = records.get(key, 0) + count
        return {"records": records, "squares": int((np.bincount(owners) ** 2).sum())}

    def table(self, counted: Mapping[str, Any]) -> Table:
        """The table of what was counted.

        Args:
            counted: What `count` returned, or sums of it.

        Returns:
            The table, with all groups of the word lists, and the fields' values in order.
        """
        return table(self.attributes, self._groups, counted)

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


def table(
    attributes: Sequence[str], groups: Mapping[str, Sequence[str]], counted: Mapping[str, Any]
) -> Table:
    """The table of what `Meetings.count` counted, or of sums of it.

    Args:
        attributes: The attributes of a record.
        groups: The groups of those that are named in the text.
        counted: What was counted.

    Returns:
        The table.
    """
    records = {
        tuple(tuple(each) for each in orjson.loads(key)): count
        for key, count in counted.get("records", {}).items()
    }
    values = {
        name: groups[name] if name in groups else sorted({v for each in records for v in each[i]})
        for i, name in enumerate(attributes)
    }
    return Table.of(values, records, counted.get("squares", 0))


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
        value: The value.
        field: Its column; None: there is none.

    Returns:
        The values, sorted.
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
