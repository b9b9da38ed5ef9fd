"""Readings: one byte a character, and the way back to the text."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.text.reading import (
    IGNORED,
    LETTER,
    OTHER,
    SPELLED,
    TextReader,
    _class,
    _classes,
)
from evenflow.wordlists.spelling import fold

READER = TextReader(map(fold, ("fiancée", "straße", "mother-in-law")))


def test_the_table_of_classes_says_what_each_character_is() -> None:
    classes = _classes()
    assert len(classes) == 0x110000
    for point in range(0x110000):
        # Beyond the assigned planes nothing is looked up; there the categories say that all is a
        # boundary.
        if point < 0x33480 or 0xE0000 <= point < 0xE0200:
            assert classes[point] == _class(chr(point)), hex(point)
        elif unicodedata.category(chr(point)) in ("Cn", "Co"):
            assert classes[point] == OTHER


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("", b""),
        ("Ab_c 9", b"ab_c 9"),
        ("a\tb\nc\r\nd\u2028e\u2029f", b"a b\nc\r\nd\ne.f"),
        ("it’s – “so”", b"it's - .so."),
        ("a\u00adb\u200bc", b"abc"),
        ("_a_ b__c __", b".a. b__c .."),
        ("see www.x.org now", b"see ......... now"),
        ("жé\u0301", bytes([LETTER]) + b"\x80" + bytes([LETTER])),
        ("ﬁＡſK", b"fiask"),
        ("STRASSE straße", b"strasse strasse"),
        ("\x00\ud800😀²", b"...."),
    ],
)
def test_reading(text: str, codes: bytes) -> None:
    read = READER.read(text).codes
    # A mark that composes to no letter of a label is a letter that no label has, by whatever byte.
    assert bytes(LETTER if code == SPELLED else code for code in read) == codes


def test_an_invisible_character_is_a_class_before_it_is_dropped() -> None:
    assert READER.encode("a\u00ad") == bytes([ord("a"), IGNORED])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plain words", ["plain", "words"]),
        ("\u200bx\u00ady\u200b z", ["x\u00ady", "z"]),
        ("fiance\u0301e, ﬁt \u202eS\u0301\u202c", ["fiance\u0301e", "ﬁt", "S\u0301"]),
        ("_ﬁt_ _\u200be\u0301_", ["ﬁt", "e\u0301"]),
        ("ß\u00adß ßß-ß", ["ß\u00adß", "ßß", "ß"]),
    ],
)
def test_offsets_of_words(text: str, words: list[str]) -> None:
    reading = READER.read(text)
    starts, ends = reading.offsets(*READER.words(reading.codes))
    assert [text[start:end] for start, end in zip(starts, ends, strict=True)] == words


@given(st.text() | st.text(st.sampled_from("aé\u0301\u00adß _-ﬁ\u200b\n@.")))
def test_words_lie_in_the_text_in_order(text: str) -> None:
    reading = READER.read(text)
    starts, ends = reading.offsets(*READER.words(reading.codes))
    assert (starts < ends).all() and (starts[1:] >= ends[:-1]).all() and (ends <= len(text)).all()
    assert len(starts) == 0 or np.min(starts) >= 0


@pytest.mark.parametrize("label", ["fiancée", "straße", "mother-in-law", "vis à vis", "o’clock"])
def test_a_label_has_the_bytes_that_a_text_has(label: str) -> None:
    reader = TextReader([fold(label)])
    assert bytes(map(reader.code, fold(label))) == reader.encode(fold(label))
