"""Sentence bounds: cases, and the invariants that the pipeline builds on."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.transforms.text.boundaries import LONGEST_GAP, REACH
from evenflow.transforms.text.sentences import MODEL_PATH, STEP, bounds, sentences

# Texts with the sentences that are expected
CASES = [
    ["She left early.", "He stayed until the end."],
    ["Mr. Smith met Dr. Jones in Washington.", "They talked for an hour."],
    ["Prices rose 3.5 percent in May.", "Nobody was surprised."],
    ["He lived in the U.S. for ten years.", "Then he moved to Spain."],
    ["Did you see that?", "I did!", "It was great."],
    ['"We will not go," she said.', '"It is too late."', "He agreed."],
    ["See www.example.com for more information.", "It is free."],
    ["She wrote (in June.)", "Then she stopped."],
    ["“It is over,” he said.", "“We lost.”", "They went home."],
    ["One line is\nwrapped in the middle.", "The next\nis too."],
    ["A Heading", "A paragraph follows it."],
    ["Gödel proved it in 1931.", "Élise read the proof."],
    ["今日は晴れです。", "明日は雨です。"],
    ["no punctuation at all here"],
    [
        "They repulsed every attempt of Mrs. Bennet.",
        "Prof. Hu and Gen. Lee (see Fig. 3) left on Dec. 5.",
    ],
    ["They met Messrs. Wood\nand Hurst, Capt. Day, e.g. Rev. Moss.", "It is Vol. 2 (Sec. 7)."],
    ["Did he go?", "No.", "He stayed until Dec.", "Then he left."],
    ["As Lee et al. showed, and Wu et al. (2020) too, approx. 5 came.", "She is one."],
    ["Approx. 5 women (resp. 10 men) vs. 3 boys with 7 sq. ft. in Univ. of Rome.", "It is so."],
    ["See ref. 12, pp. 3 and Bldg. 4 at once.", "They won by 3.", "She cried."],
    ["It (US 2012/01) is by Hu, ed. (2009), and Wu (eds. 2010).", "He died.", "(1999 was hard.)"],
    ["1. He went home.", "2. She stayed.", "(3) They slept.", "iv. He woke."],
    ["The steps follow.", "1. He opens it.", "2. She closes it."],
    ["a) He asks.", "b) She answers."],
    ["Wait until Nov. 1.", "I'm glad they want to."],
    ["He met Lester B. Pearson and G.B.J. Moss (see Fig. A for both).", "It is Vitamin B.", "Ok."],
    ["Write to Com. & Adm. at once."],
    [
        "Test (something) - this is one sentence.",
        "It costs approx. $5 (ca. €4) at Yahoo! Inc. here.",
    ],
    [
        "Moss Inc. (“Moss”) met Dr. med. Anna Weiss and John Sr. in May.",
        "He took 400 mg.",
        "I ate.",
    ],
    ["Hello world.", "She came."],
]
SEPARATORS = {"A Heading": "\n\n", "今日は晴れです。": "", "Hello world.": "\u200b"}
PIECES = [
    *("Mr. A.", " ", "\n", ".", "?!", "He", "said", "…", "“", "”", ")", "\0", "\u200f", "\ud800"),
    *("😀", "é", "。", "3", "\r\n", "\u00a0"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(
    st.characters(), max_size=80
)


def check(text: str) -> list[int]:
    """The bounds of a text, after checks of what always holds for them."""
    found = bounds(text)
    assert found.dtype == np.int64
    starts = found.tolist()
    if not text:
        assert starts == []
        return starts
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert starts[-1] < len(text)
    assert not any(text[start].isspace() for start in starts[1:])
    assert "".join(text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)) == text
    return starts


@pytest.mark.parametrize("parts", CASES, ids=lambda parts: parts[0][:20])
def test_cases(parts: list[str]) -> None:
    text = SEPARATORS.get(parts[0], " ").join(parts)
    assert [text[start:end].strip("\u200b") for start, end in sentences(text)] == parts


@given(texts)
@settings(max_examples=200, deadline=None)
def test_no_character_is_lost(text: str) -> None:
    starts = check(text)
    spans = sentences(text)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert len(spans) == len(starts) - (bool(text) and text.isspace())
    outside = [
        text[end:start]
        for (_, end), (start, _) in zip([(0, 0), *spans], [*spans, (len(text), 0)], strict=True)
    ]
    assert "".join(outside).strip() == ""


@given(st.lists(texts.filter(lambda text: text.strip() != ""), min_size=1, max_size=6))
@settings(max_examples=200, deadline=None)
def test_joined_documents_have_their_own_bounds(documents: list[str]) -> None:
    expected, offset = [], 0
    for document in documents:
        blank = len(document) - len(document.lstrip())
        expected += [offset + (start or blank) for start in bounds(document).tolist()]
        offset += len(document) + 2
    expected[0] = 0
    assert bounds("\n\n".join(documents)).tolist() == expected


@given(st.text("aB. \n\u00e9", max_size=300), st.integers(0, 2 * REACH))
@settings(max_examples=60, deadline=None)
def test_steps_leave_no_seam(tail: str, shift: int) -> None:
    """What is found around a step's edge is what is found far from one."""
    filler = "x" * (STEP - shift)
    alone = bounds("x" * REACH + tail) - REACH
    joined = bounds(filler + tail) - len(filler)
    assert joined[1:].tolist() == alone[1:].tolist()


def test_wide_characters_elsewhere_change_nothing() -> None:
    text = "He asked Mr. Brown. She didn't (why?). It cost $3.50 at Macy's. OK..." * 3
    assert bounds(text + "\n\n😀").tolist() == [*bounds(text).tolist(), len(text) + 2]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n\n\n",
        "\ud800",
        "\0" * 1000,
        "\u202e\u2066. A",
        " " * 300_000,
        "." * 300_000,
        "a\n" * 200_000,
    ],
)
def test_odd_texts(text: str) -> None:
    check(text)


def test_long_gap_ends_a_sentence() -> None:
    assert len(bounds("one" + " " * (LONGEST_GAP + 1) + "two")) == 2
    assert len(bounds("one" + " " * LONGEST_GAP + "two")) == 1


def test_fifty_megabytes_without_a_bound() -> None:
    text = "lorem ipsum " * (50_000_000 // 12)
    assert bounds(text).tolist() == [0]


def test_model_is_small_plain_text() -> None:
    data = json.loads(MODEL_PATH.read_text(encoding="ascii"))
    assert MODEL_PATH.stat().st_size < 300_000
    assert len(data["weights"]) == len(data["bucket_steps"])
    assert sum(data["bucket_steps"]) < 2 ** data["bits"]
