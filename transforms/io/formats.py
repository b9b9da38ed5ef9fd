"""The formats of files, by how their names end: those that ship, and those that packages bring.

One table holds those that ship: every shape of contents in every compression (`SHAPES`, `CODECS`).
All other code asks the format what it has to know of a file. A package brings one as an entry point
of the group evenflow.readers: a part with `read(file)`, which gets a file that is open for reading
in binary mode and gives records in its order, mappings of names to values that JSON has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, BinaryIO

import orjson

from evenflow.schemas.guards import is_mapping
from evenflow.schemas.plugins import READERS, PluginError, PluginTextError, declared, load
from evenflow.transforms.io import arrow_files, parquet
from evenflow.transforms.io.decompress import CODECS, FAULTS
from evenflow.transforms.io.lines import BOM, CsvLines, JsonLines, PlainLines, element

HEAD_BYTES = 1 << 20  # of a file of JSON, which show whether it is an array, lines, or neither


@dataclass(frozen=True)
class Format:
    """A format of files: lines, or else records, a table (Parquet, Arrow), or one text.

    Attributes:
        end: How the names of its files end.
        unpack: Makes the stream of a file's contents; None: they are stored as they are.
        lines: What cuts the contents into lines, of which each is a record.
        delimiter: What separates the fields of a line; empty where a line is JSON.
        records: Gives the records of a stream as JSON, and takes the most bytes of a text.
        tables: Gives the rows of a file in tables (see `parquet.row_groups`); None: it has no rows.
        is_text: Whether a file is one record, a text.
        expansion: Bytes of records a stored byte, about: text shrinks to a third.
        made_with: What a plug-in was made with; empty of formats that ship.
    """

    end: str
    unpack: Callable[[Any], Any] | None = None
    lines: Callable[[], PlainLines] | None = None
    delimiter: str = ""
    records: Callable[[Any, int], Iterator[bytes]] = lambda stream, most: iter(())
    tables: Callable[..., Iterator[tuple[int, Any, int]]] | None = None
    is_text: bool = False
    expansion: float = 1.0
    made_with: str = ""

    @property
    def is_table(self) -> bool:
        """Whether a file is a table, whose rows are records."""
        return self.tables is not None

    @property
    def is_json(self) -> bool:
        """Whether a file may be an array, which what follows its last record ends."""
        return self.lines is JsonLines

    @property
    def has_header(self) -> bool:
        """Whether the first line names the fields; a line break may then be within a record."""
        return bool(self.delimiter)

    @property
    def is_seekable(self) -> bool:
        """Whether a reader may begin at a record's byte."""
        return self.lines is not None and self.unpack is None

    @property
    def is_plain(self) -> bool:
        """Whether a line break in the stored file always ends a record."""
        return self.is_seekable and not (self.has_header or self.is_json)

    @property
    def may_grow(self) -> bool:
        """Whether what is appended to a file is further records of it."""
        return self.is_seekable and not self.is_json

    def cutter(self, raw: BinaryIO, begins: bool) -> PlainLines:
        """What cuts an open file's contents into lines.

        Args:
            begins: Whether the contents are cut from their beginning.
        """
        assert self.lines is not None
        if not self.is_json:
            return self.lines()
        raw.seek(0)
        head = b""
        with suppress(*FAULTS):  # who reads the file meets the fault
            head = self.stream(raw).read(HEAD_BYTES)
        return JsonLines.of(head, begins)

    def value(self, raw: bytes, is_first: bool) -> bytes:
        """A record without what is around it: the mark of a file's beginning, an array.

        Files that were joined have marks within.

        Args:
            is_first: Whether it is the file's first.
        """
        raw = raw.removeprefix(BOM)
        return element(raw, is_first) if self.is_json else raw

    def stream(self, raw: Any) -> Any:
        """The stream of an open file's contents."""
        return raw if self.unpack is None else self.unpack(raw)


def _read_warc(stream: Any, most: int) -> Iterator[bytes]:
    """Read the records of a WARC file (see `warc.read`)."""
    from evenflow.transforms.io import warc

    return warc.read(stream, most)


SHAPES = (
    Format(".jsonl", lines=PlainLines),
    Format(".ndjson", lines=PlainLines),
    Format(".jl", lines=PlainLines),
    Format(".json", lines=JsonLines),
    Format(".csv", lines=CsvLines, delimiter=","),
    Format(".tsv", lines=partial(CsvLines, b"\t"), delimiter="\t"),
    Format(".parquet", tables=parquet.row_groups, expansion=2.0),
    Format(".arrow", tables=arrow_files.batches),
    Format(".feather", tables=arrow_files.batches, expansion=2.0),
    Format(".warc", records=_read_warc),
    Format(".wet", records=_read_warc),
    Format(".txt", is_text=True),
)
FORMATS = {
    shape.end + end: replace(shape, end=shape.end + end, unpack=unpack, expansion=3.0)
    if unpack
    else shape
    for end, unpack in ({"": None} | CODECS).items()
    for shape in SHAPES
    if not (unpack and shape.is_table)  # a table compresses itself
}
KNOWN = ", ".join((*(each.end for each in SHAPES), f"and these with {', '.join(CODECS)}"))


@lru_cache(maxsize=1024)
def shipped(file: str) -> Format | None:
    """The format of a file that ships, by its name in any case; None: there is none."""
    _, *ends = file[file.rfind("/") + 1 :].lower().rsplit(".", 2)
    names = ("." + ".".join(ends[at:]) for at in range(len(ends)))
    return next((found for name in names if (found := FORMATS.get(name))), None)


def ending(file: str) -> str:
    """How a name ends, with the format before a compression; empty without an ending."""
    name = file[file.rfind("/") + 1 :].lower()
    before, dot, last = name.rpartition(".")
    if not (before and dot):
        return ""
    inner = ending(before) if f".{last}" in CODECS else ""
    return f"{inner}.{last}"


def of(file: str) -> Format:
    """The format of a file, by its name; of one that nothing reads any more, reading refuses."""
    if found := shipped(file):
        return found
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
