"""The frame that a pane's checks look at, read back from its shards a row group at a time.

The text is not kept: its length in bytes stands for it, and in a sample of the documents the labels
are counted once more.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenflow.schemas import documents
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.wordlists.loader import WordList

# Documents and bytes of text a pane that are counted again: 20 to 40 ms, beside a second or more
# that a pane of 64 MiB takes.
SAMPLE_DOCUMENTS = 200
SAMPLE_BYTES = 1 << 20
SEED = 0x65766E66  # any number: it is fixed, so that a pane's sample is the same in every run
# Attribute of the frame: column -> kind of what the shards hold, since pandas blurs it
TYPES = "types"


@dataclass(frozen=True)
class Names:
    """The columns of a pane's own frame.

    identity, text: as in the shards. mentions: of the attributes, each with its columns in the
    order of the groups. weights: of the documents, where they have any. bytes: length of the text
    in bytes. recount: null, or how a second count of the document's labels differs.
    """

    identity: str
    text: str
    mentions: dict[str, list[str]]
    weights: list[str] = field(default_factory=list)
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
        """All columns of mentions."""
        return [column for columns in self.mentions.values() for column in columns]


def names(
    lists: Sequence[WordList], identity: str, text: str, weights: Sequence[str] = ()
) -> Names:
    """The columns for some word lists."""
    attributes = [documents.Attribute(words.attribute, words.groups) for words in lists]
    return Names(
        identity,
        text,
        {each.name: documents.own_columns([each]) for each in attributes},
        list(weights),
    )


class ShardReader:
    """Reads the shards of panes under the word lists that they were annotated with."""

    def __init__(self, lists: Sequence[WordList], columns: Names):
        self._lists = tuple(lists)
        self._columns = columns
        self._finder: LabelFinder | None = None

    def read(self, shards: Sequence[Path]) -> pd.DataFrame:
        """The own frame of a pane's shards, in their order: identity, mentions, bytes and recount
        (see Names).

        A column that the shards lack, or that holds something else, is not made up: the check on it
        fails. Raises OSError.
        """
        files = [_opened(path) for path in shards]
        plain = [self._columns.identity, *self._columns.counts, *self._columns.weights]
        kinds = _kinds(files, [self._columns.text, *plain])
        wanted = [name for name in plain if name in kinds]
        parts = [_read(path, file, wanted) for path, file in zip(shards, files, strict=True)]
        if not parts:
            return self._empty()
        frame = pd.concat([part.to_pandas() for part in parts], ignore_index=True)
        if kinds.get(self._columns.text) == "text":
            sizes, texts = self._texts(shards, files, self._sample(parts, kinds))
            frame[self._columns.bytes] = sizes
            frame[self._columns.recount] = self.recount(frame, texts, kinds)
        frame.attrs[TYPES] = kinds
        return frame

    def _empty(self) -> pd.DataFrame:
        """The frame of a pane without shards."""
        texts = (self._columns.identity, self._columns.recount)
        integers = (*self._columns.counts, self._columns.bytes)
        frame = pd.DataFrame({name: pd.Series([], dtype=object) for name in texts})
        for name in integers:
            frame[name] = np.zeros(0, np.int64)
        kinds = dict.fromkeys(self._columns.counts, "integer")
        for name in self._columns.weights:
            frame[name] = np.zeros(0, np.float64)
        frame.attrs[TYPES] = {self._columns.identity: "text", self._columns.text: "text", **kinds}
        return frame

    def _sample(self, parts: Sequence[pa.Table], kinds: dict[str, str]) -> list[int]:
        """Rows that may be counted again, those with the lowest hashes of their ids first."""
        if kinds.get(self._columns.identity) != "text" or not self._lists:
            return []
        ids = (
            value or ""
            for part in parts
            for value in part.column(self._columns.identity).to_pylist()
        )
        hashes = np.fromiter((zlib.crc32(value.encode(), SEED) for value in ids), np.int64)
        return np.argsort(hashes, kind="stable")[:SAMPLE_DOCUMENTS].tolist()

    def _texts(
        self, shards: Sequence[Path], files: Sequence[pq.ParquetFile], rows: list[int]
    ) -> tuple[npt.NDArray[np.int64], dict[int, str]]:
        """Length of each text in bytes, and the texts of the sample by row, the first ones up to
        SAMPLE_BYTES in all.
        """
        wanted = np.sort(np.array(rows, np.int64))
        sizes: list[npt.NDArray[np.int64]] = []
        found: dict[int, str] = {}
        first = 0
        for column in _row_groups(shards, files, self._columns.text):
            size = (
                pc.call_function("binary_length", [column]).fill_null(0).to_numpy().astype(np.int64)
            )
            here = wanted[(wanted >= first) & (wanted < first + len(column))]
            # One text longer than all of the sample may be is held for the case that it is the
            # sample's first.
            fits = here[(size[here - first] <= SAMPLE_BYTES) | (here == (rows or [-1])[0])]
            texts = column.take(pa.array(fits - first)).to_pylist()
            found.update((row, text or "") for row, text in zip(fits.tolist(), texts, strict=True))
            sizes.append(size)
            first += len(column)
        lengths = np.concatenate(sizes) if sizes else np.zeros(0, np.int64)
        kept: dict[int, str] = {}
        room = SAMPLE_BYTES
        for row in rows:
            if row in found and (lengths[row] <= room or not kept):
                kept[row] = found[row]
                room -= int(lengths[row])
        return lengths, kept

    def recount(
        self, frame: pd.DataFrame, texts: dict[int, str], kinds: dict[str, str]
    ) -> list[str | None]:
        """How the mentions of each document differ from a second count, in words; None where they
        do not, or none was made.

        Labels are searched a document at a time, where the annotation searched blocks of joined
        documents. The rules of matching themselves are not implemented twice: what a second matcher
        read otherwise in some corner would set good panes aside. (The tests compare them with a
        slow reference.)
        """
        out: list[str | None] = [None] * len(frame)
        if texts and self._finder is None:
            self._finder = LabelFinder(self._lists)
        checked = {
            name: [(column, frame[column].to_numpy()) for column in columns]
            for name, columns in self._columns.mentions.items()
            if all(kinds.get(column) == "integer" for column in columns)
        }
        ids = frame[self._columns.identity].tolist() if texts else []
        for row, text in texts.items():
            assert self._finder is not None
            different: list[str] = []
            for words, found in zip(self._lists, self._finder.find_all(text), strict=True):
                again = np.bincount(found.groups, minlength=len(words.groups)).tolist()
                for (column, held), count in zip(
                    checked.get(words.attribute, ()), again, strict=False
                ):
                    if held[row] != count:
                        different.append(f"{column} is {held[row]}, counted again {count}")
            if different:
                out[row] = f"document {ids[row]!r}: {'; '.join(different)}"
        return out


def read_whole(shards: Sequence[Path], columns: frozenset[str] | None) -> pd.DataFrame:
    """The shards as they are, with the columns named that they have, or with all (None). Raises
    OSError.
    """
    tables: list[pa.Table] = []
    for path in shards:
        file = _opened(path)
        present = [name for name in file.schema_arrow.names if columns is None or name in columns]
        tables.append(_read(path, file, present))
    # Integers with nulls stay integers: as floats, large ids would lose their last digits.
    frames = [table.to_pandas(integer_object_nulls=True) for table in tables]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _opened(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise _unreadable(path, error) from error


def _read(path: Path, file: pq.ParquetFile, columns: list[str]) -> pa.Table:
    try:
        return file.read(columns=columns).select(columns)
    except pa.ArrowInvalid as error:
        raise _unreadable(path, error) from error


def _row_groups(
    shards: Sequence[Path], files: Sequence[pq.ParquetFile], column: str
) -> Iterator[pa.ChunkedArray]:
    for path, file in zip(shards, files, strict=True):
        for group in range(file.num_row_groups):
            try:
                yield file.read_row_group(group, columns=[column]).column(column)
            except pa.ArrowInvalid as error:
                raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> OSError:
    """A shard that was written a moment ago and does not read back is the disk's fault, not the
    data's.
    """
    return OSError(f"{path}: does not read back as it was written: {error}")


def _kinds(files: Sequence[pq.ParquetFile], columns: Sequence[str]) -> dict[str, str]:
    """What each of some columns holds, for those that all files have: text, integer, or Arrow's
    name of it.
    """
    out: dict[str, str] = {}
    for name in columns:
        types = [
            file.schema_arrow.field(name).type
            for file in files
            if file.schema_arrow.get_field_index(name) >= 0
        ]
        if types and len(types) == len(files):
            out[name] = " and ".join(sorted({_kind(each) for each in types}))
    return out


def _kind(type_: Any) -> str:
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "text"
    return "integer" if pa.types.is_integer(type_) else str(type_)
