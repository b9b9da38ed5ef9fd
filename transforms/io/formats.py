"""The formats of files, by how their names end: those that ship, and those that packages bring.

All other code asks the format what it has to know of a file. A package brings one as an entry point
of the group evenflow.readers: a part with `read(file)`, which gets a file that is open for reading
in binary mode and gives records in its order, mappings of names to values that JSON has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

import orjson

from evenflow.schemas.guards import is_mapping
from evenflow.schemas.plugins import READERS, PluginError, PluginTextError, declared, load
from evenflow.transforms.io import warc
from evenflow.transforms.io.decompress import Gunzip, Unzstd
from evenflow.transforms.io.lines import CsvLines, PlainLines


@dataclass(frozen=True)
class Format:
    """A format of files: lines, or else records, a table (Parquet), or one text.

    Attributes:
        end: How the names of its files end.
        unpack: Makes the stream of a file's contents; None: they are stored as they are.
        lines: What cuts the contents into lines, of which each is a record.
        records: Gives the records of a stream as JSON, and takes the most bytes of a text.
        is_table: Whether a file is a table, whose rows are records.
        is_text: Whether a file is one record, a text.
        expansion: Bytes of records a stored byte, about: text shrinks to a third.
        made_with: What a plug-in was made with; empty of formats that ship.
    """

    end: str
    unpack: Callable[[BinaryIO], Any] | None = None
    lines: type[PlainLines] | None = None
    records: Callable[[Any, int], Iterator[bytes]] = lambda stream, most: iter(())
    is_table: bool = False
    is_text: bool = False
    expansion: float = 1.0
    made_with: str = ""

    @property
    def has_header(self) -> bool:
        """Whether the first line names the fields; a line break may then be within a record."""
        return self.lines is CsvLines

    @property
    def is_seekable(self) -> bool:
        """Whether a reader may begin at a record's byte."""
        return self.lines is not None and self.unpack is None

    @property
    def is_plain(self) -> bool:
        """Whether a line break in the stored file always ends a record."""
        return self.is_seekable and not self.has_header

    def stream(self, raw: BinaryIO) -> Any:
        """The stream of an open file's contents."""
        return raw if self.unpack is None else self.unpack(raw)


TEXT = ".txt"
FORMATS = (
    Format(".jsonl", lines=PlainLines),
    Format(".jsonl.gz", Gunzip, PlainLines, expansion=3.0),
    Format(".jsonl.zst", Unzstd, PlainLines, expansion=3.0),
    Format(".csv", lines=CsvLines),
    Format(".parquet", is_table=True, expansion=2.0),
    Format(".warc", records=warc.read),
    Format(".warc.gz", Gunzip, records=warc.read, expansion=3.0),
    Format(TEXT, is_text=True),
)
ENDS = tuple(each.end for each in FORMATS)


def of(file: str) -> Format:
    """The format of a file, by its name; of one that nothing reads any more, reading refuses."""
    for each in FORMATS:
        if file.endswith(each.end):
            return each
    names = sorted(declared(READERS), key=len, reverse=True)
    name = next((name for name in names if file.endswith(f".{name}")), None)
    return Format("", records=partial(_refused, file)) if name is None else brought(name)


def brought(name: str) -> Format:
    """The format of files whose names end with .NAME, by the plug-in of that name.

    Args:
        name: The plug-in's name, or its place.

    Returns:
        The format, which checks the plug-in's records. Reading raises PluginTextError where the
        plug-in raised an error, or gave what is no record.

    Raises:
        PluginError: The plug-in cannot be used.
    """
    plugin = load(READERS, name)

    def records(file: BinaryIO, most: int) -> Iterator[bytes]:
        with plugin.guarded():
            for record in plugin.part.read(file):
                if not is_mapping(record):
                    raise PluginTextError(f"{plugin}: a record that is no mapping")
                yield orjson.dumps(dict(record))

    return Format(f".{name}", records=records, made_with=plugin.made_with)


def _refused(file: str, *_: object) -> Iterator[bytes]:
    """Refuse a file. Raises PluginError."""
    raise PluginError(f"{file}: no installed package reads files of this name any more")
