"""What the table of formats says of a file, by its name."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest

from evenflow.schemas.plugins import Plugin, PluginError, PluginTextError
from evenflow.transforms.io import formats


class Reader:
    """Gives the bytes of a file, line by line."""

    def read(self, file: Any) -> Iterator[object]:
        for line in file:
            yield {"text": line.decode()} if line != b"bad" else line


@pytest.mark.parametrize(
    ("name", "end", "seekable", "plain"),
    [
        ("a/b.jsonl", ".jsonl", True, True),
        ("b.jsonl.gz", ".jsonl.gz", False, False),
        ("s3://b/c.csv", ".csv", True, False),
        ("b.parquet", ".parquet", False, False),
        ("b.jsonl.txt", ".txt", False, False),
    ],
)
def test_a_name_says_the_format(name: str, end: str, seekable: bool, plain: bool) -> None:
    found = formats.of(name)
    assert (found.end, found.is_seekable, found.is_plain) == (end, seekable, plain)


def test_a_plug_in_is_a_format_as_those_that_ship(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = Plugin("two.lines", Reader(), "lines 1.0")
    monkeypatch.setattr(formats, "declared", lambda kind: {"lines": [], "two.lines": []})
    monkeypatch.setattr(formats, "load", lambda kind, name: {"two.lines": plugin}[name])
    found = formats.of("a.two.lines")
    assert (found.end, found.made_with, found.is_text) == (".two.lines", "lines 1.0", False)
    assert list(found.records(io.BytesIO(b"x"), 9)) == [b'{"text":"x"}']
    with pytest.raises(PluginTextError, match="no mapping"):
        list(found.records(io.BytesIO(b"bad"), 9))


def test_a_format_that_is_gone_is_refused_when_it_is_read() -> None:
    found = formats.of("a.nothing")
    with pytest.raises(PluginError, match=r"a\.nothing: no installed package reads"):
        found.records(io.BytesIO(), 9)
