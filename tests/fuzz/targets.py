"""What is fuzzed: each target takes any bytes, and raises where a promise does not hold.

A target lets pass the errors that a room documents for what cannot be read. All others are faults.
"""

from __future__ import annotations

import lzma
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import pyarrow as pa
import yaml
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from evenflow.gates.ledger.files import LedgerError, entry_bytes, parse_entry
from evenflow.pipelines.api.annotator import Annotator, counterfactual
from evenflow.schemas.config import Config, ConfigError, load
from evenflow.transforms.annotation.annotate import Annotator as BlockAnnotator
from evenflow.transforms.io import formats
from evenflow.transforms.io.blocks import read_blocks
from evenflow.transforms.io.record_parser import RecordParser, UnusableError
from evenflow.transforms.io.scan import FilePart, scan
from evenflow.transforms.kafka import blocks
from evenflow.transforms.kafka import records as kafka_records
from evenflow.transforms.kafka.batches import bound
from evenflow.transforms.text.sentences import bounds, sentences
from evenflow.wordlists.loader import WordListError


def text_of(data: bytes) -> str:
    """A text of any characters, half pairs of UTF-16 among them."""
    return data.decode("utf-8", "surrogatepass" if data[:1] == b"\xed" else "replace")


@cache
def config() -> Config:
    """The default configuration."""
    return load(None)


@cache
def annotator() -> Annotator:
    """An annotator of the default lists."""
    return Annotator()


@cache
def annotating() -> BlockAnnotator:
    """What annotates the records of blocks."""
    return BlockAnnotator(config())


def parsing(data: bytes) -> None:
    """A record is a document, or has a reason; a document's text is one."""
    parser = RecordParser(config())
    for parse in (parser.parse_json, parser.parse_text):
        with suppress(UnusableError):
            found = parse(data)
            if found is not None:
                found.text.encode("utf-8", "surrogatepass")


def labels(data: bytes) -> None:
    """An attribute's mentions are spans of the text, in order."""
    text = data.decode("utf-8", "replace")
    last: dict[str, int] = {}
    for mention in annotator().annotate(text).mentions:
        assert last.get(mention.attribute, 0) <= mention.start < mention.end <= len(text)
        last[mention.attribute] = mention.start


def sentence_bounds(data: bytes) -> None:
    """Sentences together are the text, and trimmed ones lie within it."""
    with suppress(UnicodeDecodeError):
        text = text_of(data)
        starts = [*bounds(text).tolist(), len(text)]
        assert starts == sorted(set(starts)) or not text
        assert "".join(text[a:b] for a, b in pairwise(starts)) == text
        for start, end in sentences(text):
            assert text[start:end] == text[start:end].strip() != ""


def substitution(data: bytes) -> None:
    """A text without a label stays as it is, and any text can be rewritten."""
    text = data.decode("utf-8", "replace")
    done = counterfactual(text, "male", "female")
    if not annotator().annotate(text).mentions:
        assert done == text


def ledger(data: bytes) -> None:
    """An entry that is read is written and read again as the same; others are refused."""
    with suppress(LedgerError):
        entry = parse_entry(data, "entry")
        assert parse_entry(entry_bytes(entry), "entry") == entry


def configuration(data: bytes) -> None:
    """A configuration is read, or every mistake is named; what was read can be written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "evenflow.yaml"
        path.write_bytes(data)
        with suppress(ConfigError, WordListError):
            found = load(path)
            assert Config.model_validate(yaml.safe_load(yaml.safe_dump(found.model_dump())))


def _pack(data: bytes, codec: str) -> bytes:
    """Compress data; Arrow's memory for xz would be 94 MiB each time."""
    if codec == "xz":
        return lzma.compress(data, preset=0)
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, codec) as stream:
        stream.write(data)
    return out.getvalue().to_pybytes()


def files(data: bytes) -> None:
    """A file of any format is read to its end, or to where it cannot be read further.

    The first line of the data is the format's end. The rest may be compressed, and then be damaged:
    what a checksum of it says, so that an input always does the same.
    """
    named, _, contents = data.partition(b"\n")
    drawn = crc32(data)
    shape = formats.SHAPES[drawn % len(formats.SHAPES)]
    shape = formats.FORMATS.get(named.decode("ascii", "replace"), shape)
    end, codec = shape.end, ["", "gz", "zst", "lz4", "bz2", "xz"][drawn // 32 % 6]
    if codec and not shape.is_table:
        end += f".{codec}"
        contents = bytearray(_pack(contents, {"gz": "gzip", "zst": "zstd"}.get(codec, codec)))
        if drawn & 1 << 16 and contents:
            contents[drawn % len(contents)] ^= drawn >> 24
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"in{end}"
        path.write_bytes(contents)
        parts = list(read_blocks(str(path)))
        dead = [each["reason"] for part in parts for each in annotating().annotate(part).dead]
        assert not [each for each in dead if "unforeseen" in each]
        seen = sum(len(each.lengths) for each in scan(FilePart(str(path), len(contents))))
        assert shape.lines is None or seen == sum(part.size for part in parts)


class _Name(str):
    """A header's name that is sent as other bytes than UTF-8 would be, as some clients can."""

    raw: bytes

    def encode(self, *_: object) -> bytes:
        return self.raw


def _records(data: bytes) -> Iterator[tuple[bytes | None, list[Any]]]:
    """Values and headers from bytes: pieces between zeros, in turn a value, a name, its value."""
    pieces = data.split(b"\0")
    for at in range(0, len(pieces), 3):
        value, *header = pieces[at : at + 3]
        name = _Name()
        name.raw = header[0] if header else b""
        yield value or None, [(name, header[1] if len(header) > 1 else None)] * min(at + 1, 150)


def kafka(data: bytes) -> None:
    """Records with any headers, as kafka-python reads them, become documents or dead letters."""
    bound()
    builder: Any = DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 1 << 30)
    sent = list(_records(data))
    for offset, (value, headers) in enumerate(sent):
        builder.append(offset, offset, None, value, headers)
    names = ("offset", "timestamp", "key", "value", "headers")
    records = [
        SimpleNamespace(topic="t", partition=0, **{name: getattr(each, name) for name in names})
        for each in DefaultRecordBatch(builder.build())
    ]
    assert len(records) == len(sent)
    if records:
        block = blocks.block(records, 0, len(records))
        found = kafka_records.validate(block, config(), frozenset(), "json", {})
        assert len(found.texts) + len(found.dead) + found.deleted == block.size


TARGETS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each
    for each in (
        *(parsing, labels, sentence_bounds, substitution, ledger, configuration, files, kafka),
    )
}
