"""The frame that a pane's own checks examine, read back from its shards.

The frame does not hold the texts. It has their length in bytes instead, and for a sample of the
documents a second count of the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenflow.gates.expectations.shard_files import (
    TYPES,
    Kinds,
    column_kinds,
    open_shard,
    read_columns,
    row_groups,
)
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
        plain = [self._columns.identity, *self._columns.counts, *self._columns.weights]
        plain += self._language
        kinds = column_kinds(files, [self._columns.text, *plain])
        wanted = [name for name in plain if name in kinds]
        parts = [read_columns(path, file, wanted) for path, file in zip(shards, files, strict=True)]
        if not parts:
            return self._empty()
        frame = pd.concat([part.to_pandas() for part in parts], ignore_index=True)
        if kinds.get(self._columns.text) == "text":
            sizes, texts = self._texts(shards, files, self._sample(len(frame), kinds))
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
        for name in self._columns.weights:
            frame[name] = np.zeros(0, np.float64)
        kinds = dict.fromkeys((self._columns.identity, self._columns.text), "text")
        frame.attrs[TYPES] = Kinds(kinds | dict.fromkeys(self._columns.counts, "integer"))
        return frame

    def _sample(self, documents: int, kinds: dict[str, str]) -> list[int]:
        """Rows that may be counted again, in a random order that depends on their number alone."""
        if kinds.get(self._columns.identity) != "text" or not self._lists:
            return []
        return np.random.default_rng(SEED).permutation(documents)[:SAMPLE_DOCUMENTS].tolist()

    def _texts(
        self, shards: Sequence[Path], files: Sequence[pq.ParquetFile], rows: list[int]
    ) -> tuple[npt.NDArray[np.int64], dict[int, str]]:
        """Length of each text in bytes, and the sample's texts by row, up to SAMPLE_BYTES."""
        wanted = np.sort(np.array(rows, np.int64))
        sizes: list[npt.NDArray[np.int64]] = []
        found: dict[int, str] = {}
        first = 0
        for column in row_groups(shards, files, self._columns.text):
            size = (
                pc.call_function("binary_length", [column]).fill_null(0).to_numpy().astype(np.int64)
            )
            here = wanted[(wanted >= first) & (wanted < first + len(column))]
            # The sample's first text is kept even if it is longer than SAMPLE_BYTES
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
        """Count the labels of the sample again and compare the counts.

        The second count searches one document at a time, and the annotation searched blocks of
        joined documents. The rules of matching themselves are not implemented twice. A second
        matcher would differ in rare cases and quarantine good panes. (The tests compare the matcher
        with a slow reference.)
        """
        out: list[str | None] = [None] * len(frame)
        if texts and self._finder is None:
            self._finder = LabelFinder(self._lists)
        checked = {
            name: [(column, frame[column].to_numpy()) for column in columns]
            for name, columns in self._columns.mentions.items()
            if all(kinds.get(column) == "integer" for column in columns)
        }
        ids: list[Any] = frame[self._columns.identity].tolist() if texts else []
        spoken = {name: frame[name] for name in self._language if kinds.get(name) == "text"}
        for row, text in texts.items():
            assert self._finder is not None
            different: list[str] = []
            [language] = [each[row] for each in spoken.values()] or [None]
            every = self._finder.find_all(text, language)
            for words, found in zip(self._lists, every, strict=True):
                own = checked.get(words.attribute, ())
                again = np.bincount(found.groups, minlength=len(words.groups)).tolist()
                for (column, held), count in zip(own, again, strict=False):
                    if held[row] != count:
                        different.append(f"{column} is {held[row]}, counted again {count}")
            if different:
                out[row] = f"document {ids[row]!r}: {'; '.join(different)}"
        return out
