"""The frame that a pane's own checks examine, read back from its shards.

The frame does not hold the texts. It has their length in bytes instead, and for a sample of the
documents a second count of the labels.

A shard was written a moment ago. If it cannot be read back, the disk is at fault and not the data:
then OSError is raised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenflow.schemas import documents
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.wordlists.loader import WordList

# Documents of a pane, and bytes of their text, that are counted again. This takes 20 to 40 ms; a
# pane of 64 MiB takes a second or more.
SAMPLE_DOCUMENTS = 200
SAMPLE_BYTES = 1 << 20
SEED = 0x65766E66  # any fixed number, so that a pane's sample is the same in every run


@dataclass(frozen=True)
class Names:
    """Names of the columns of a pane's own frame.

    `bytes`: Column of the text's length in bytes. `recount`: Column of the second count: how it
    differs, or null.
    """

    identity: str
    text: str
    mentions: dict[str, list[str]]
    weights: list[str] = field(default_factory=list[str])
    bytes: str = field(init=False)
    recount: str = field(init=False)

    def __post_init__(self) -> None:
        taken = {self.identity, self.text, *self.counts}
        for name, wanted in (
            ("bytes", f"{self.text} (bytes)"),
            ("recount", f"{self.text} (second count)"),
        ):
            while wanted in taken:
                wanted += "'"
            object.__setattr__(self, name, wanted)

    @property
    def counts(self) -> list[str]:
        """Columns of the mentions of all attributes."""
        return [column for columns in self.mentions.values() for column in columns]


def names(
    lists: Sequence[WordList], identity: str, text: str, weights: Sequence[str] = ()
) -> Names:
    """Name the columns for some word lists."""
    attributes = [documents.Attribute(words.attribute, words.groups) for words in lists]
    return Names(
        identity,
        text,
        {each.name: documents.own_columns([each]) for each in attributes},
        list(weights),
    )


class ShardReader:
    """Reads the shards of panes, which were annotated with some word lists."""

    def __init__(self, lists: Sequence[WordList], columns: Names):
        """Prepare a reader."""
        self._lists, self._columns = tuple(lists), columns
        # A field may have said a document's language, which the text alone does not
        self._language = [documents.LANGUAGE.name] if any(each.only for each in lists) else []
        self._finder: LabelFinder | None = None

    def read(self, shards: Sequence[Path]) -> pd.DataFrame:
        """Read the own frame of a pane.

        A column that the shards lack, or that holds something else, is left as it is, so the check
        on it fails.
        """
        files = [open_shard(path) for path in shards]
        if not files:
            return self._empty()
        own = self._columns
        plain = [own.identity, *own.counts, *own.weights, *self._language]
        kinds = column_kinds(files, [own.text, *plain])
        wanted = [name for name in plain if name in kinds]
        has_text = kinds.get(own.text) == "text"
        sample = self._sample(sum(file.metadata.num_rows for file in files), kinds)
        parts, rows, first = list[pa.Table](), dict[int, dict[str, Any]](), 0
        for group in row_groups(shards, files, [*wanted, own.text] if has_text else wanted):
            if has_text:
                sizes = pc.call_function("binary_length", [group.column(own.text)]).fill_null(0)
                group = group.append_column(own.bytes, sizes.cast(pa.int64()))
                short = sizes.to_numpy() <= SAMPLE_BYTES
                # The sample's first text is kept even if it is longer
                here = [row for row in sample if first <= row < first + len(group)]
                here = [row for row in here if short[row - first] or row == sample[0]]
                found = group.take(pa.array([row - first for row in here], pa.int64()))
                rows |= zip(here, found.to_pylist(), strict=True)
                group = group.drop_columns([own.text])
            parts.append(group)
            first += len(group)
        if has_text:
            again, first = self.recount(self._kept(rows, sample), kinds), 0
            for number, part in enumerate(parts):
                found = [again.get(row) for row in range(first, first + len(part))]
                parts[number] = part.append_column(own.recount, pa.array(found))
                first += len(part)
        frames = [part.to_pandas(use_threads=False) for part in parts]
        frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
        return note_kinds(frame, kinds)

    def _empty(self) -> pd.DataFrame:
        """The frame of a pane without shards."""
        own = self._columns
        of = {
            **dict.fromkeys((own.identity, own.recount), "object"),
            **dict.fromkeys((*own.counts, own.bytes), "int64"),
            **dict.fromkeys(own.weights, "float64"),
        }
        frame = pd.DataFrame(columns=[*of]).astype(of)
        kinds = dict.fromkeys((own.identity, own.text), "text")
        return note_kinds(frame, kinds | dict.fromkeys(own.counts, "integer"))

    def _sample(self, documents: int, kinds: dict[str, str]) -> list[int]:
        """Rows that may be counted again, in a random order that depends on their number alone."""
        if kinds.get(self._columns.identity) != "text" or not self._lists:
            return []
        return np.random.default_rng(SEED).permutation(documents)[:SAMPLE_DOCUMENTS].tolist()

    def _kept(
        self, rows: Mapping[int, dict[str, Any]], sample: Sequence[int]
    ) -> dict[int, dict[str, Any]]:
        """The sample's rows, by number, whose texts fit into SAMPLE_BYTES; one fits always."""
        kept, room = dict[int, dict[str, Any]](), SAMPLE_BYTES
        for row in sample:
            if row in rows and (rows[row][self._columns.bytes] <= room or not kept):
                kept[row] = rows[row]
                room -= rows[row][self._columns.bytes]
        return kept

    def recount(
        self, rows: Mapping[int, Mapping[str, Any]], kinds: dict[str, str]
    ) -> dict[int, str]:
        """Count the labels of some rows again, and say how the counts differ from the columns'.

        The second count searches one document at a time, and the annotation searched blocks of
        joined documents. The rules of matching themselves are not implemented twice. A second
        matcher would differ in rare cases and quarantine good panes. (The tests compare the matcher
        with a slow reference.)
        """
        own, out = self._columns, dict[int, str]()
        checked = {
            name: columns
            for name, columns in own.mentions.items()
            if all(kinds.get(column) == "integer" for column in columns)
        }
        spoken = [name for name in self._language if kinds.get(name) == "text"]
        for number, row in rows.items():
            self._finder = self._finder or LabelFinder(self._lists)
            [language] = [row[name] for name in spoken] or [None]
            every = self._finder.find_all(row[own.text] or "", language)
            different: list[str] = []
            for words, found in zip(self._lists, every, strict=True):
                again = np.bincount(found.groups, minlength=len(words.groups)).tolist()
                for name, count in zip(checked.get(words.attribute, ()), again, strict=False):
                    if row[name] != count:
                        different.append(f"{name} is {row[name]}, counted again {count}")
            if different:
                out[number] = f"document {row[own.identity]!r}: {'; '.join(different)}"
        return out


def note_kinds(frame: pd.DataFrame, kinds: dict[str, str]) -> pd.DataFrame:
    """Note what the columns hold in the shards, since pandas does not preserve it.

    `frame.attrs` would be copied whenever a column is taken.
    """
    object.__setattr__(frame, "kinds", kinds)
    return frame


def open_shard(path: Path) -> pq.ParquetFile:
    """Open a shard."""
    try:
        return pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise _unreadable(path, error) from error


def row_groups(
    shards: Sequence[Path], files: Sequence[pq.ParquetFile], columns: list[str]
) -> Iterator[pa.Table]:
    """Read some columns, one row group at a time."""
    for path, file in zip(shards, files, strict=True):
        for group in range(file.num_row_groups):
            try:
                found = file.read_row_group(group, columns=columns)
            except pa.ArrowInvalid as error:
                raise _unreadable(path, error) from error
            yield found.select(columns)


def read_whole(shards: Sequence[Path], columns: frozenset[str] | None) -> pd.DataFrame:
    """Read shards as they are."""
    frames: list[pd.DataFrame] = []
    for path in shards:
        file = open_shard(path)
        present = [name for name in file.schema_arrow.names if columns is None or name in columns]
        # Integers with nulls stay integers; as floats, large ids would lose their last digits
        found = row_groups([path], [file], present)
        frames += [group.to_pandas(integer_object_nulls=True) for group in found]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def column_kinds(files: Sequence[pq.ParquetFile], columns: Sequence[str]) -> dict[str, str]:
    """Find out what columns hold."""
    out = dict[str, str]()
    schemas = [file.schema_arrow for file in files]  # it is made at each call
    for name in columns:
        types = [each.field(name).type for each in schemas if each.get_field_index(name) >= 0]
        if types and len(types) == len(files):
            out[name] = " and ".join(sorted({_kind(each) for each in types}))
    return out


def _kind(type_: pa.DataType) -> str:
    """A type of Arrow in words."""
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "text"
    return "integer" if pa.types.is_integer(type_) else str(type_)


def _unreadable(path: Path, error: Exception) -> OSError:
    """The error for a shard that cannot be read back."""
    return OSError(f"{path}: does not read back as it was written: {error}")
