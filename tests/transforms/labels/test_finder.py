"""Label matching: users' lists, the slow reference, and what holds for every text."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from label_reference import mentions

from evenflow.transforms.labels import register
from evenflow.transforms.labels.finder import Found, LabelFinder, uncut
from evenflow.transforms.labels.forms import Forms
from evenflow.wordlists.loader import SHIPPED, WordList, load


def words(*groups: tuple[str, ...], exact: tuple[str, ...] = ()) -> WordList:
    """A word list of groups a, b, … as the loader would give it."""
    labels = {label: number for number, group in enumerate(groups) for label in group}
    return WordList("x", tuple("abcdef"[: len(groups)]), labels, frozenset(exact), {}, "", "", "")


# More than there are bytes for
MANY_LETTERS = tuple(chr(0x4E00 + 2 * i) + chr(0x4E01 + 2 * i) for i in range(120))
SEVERAL = words(
    (
        *("old man", "old", "old c++", "old .x", "old man's hat", "old man-servant", "May"),
        *("Old Man Of", "he", "mr.", "m", "C++", "in-law", "don", "over-60s", "girl's", "a b"),
    ),
    (
        *("young man of the house", "man child", "may day", "mr", "law", "day of old", "MAY"),
        *("sœur", "straße", "b c", "d"),
    ),
    (
        *("женщина", "여자", "लड़की", "x\u030c", "γυνή", "fiancée", "don't"),
        *("supercalifragilistic lady", "c a", "supercalifuugilistic"),
    ),
    ("a b d b d e", "b d", "q\u0323\u0307"),
    exact=("May", "MAY", "Old Man Of"),
)
SHIPPED_LISTS = tuple(load(name) for name in SHIPPED)
FINDER = LabelFinder([SEVERAL, *SHIPPED_LISTS])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("old man, old   man, old\tman", ["old man", "old   man", "old\tman"]),
        ("old\u00a0\u2003man, old\u00adman", ["old\u00a0\u2003man"]),
        ("old\nman, old\r\n  man, old \r man", ["old\nman", "old\r\n  man", "old \r man"]),
        ("old\n\nman, old\n \nman, old\u2029man, old\r\rman", ["old", "old", "old", "old"]),
        ("old, man old-man older man", ["old", "old"]),
        ("Young  man of\nthe house", ["Young  man of\nthe house"]),
        ("young man of the household", []),
        ("old man child", ["old", "man child"]),
        ("old C++, old c+, old .x, old\n.x", ["old C++", "old", "old .x", "old\n.x"]),
        ("old man’s hat, old man’s", ["old man’s hat", "old man"]),
        ("old man-\nservant, old man-servants", ["old man-\nservant", "old man"]),
        ("may day of old man", ["day of old"]),
        ("May may MAY mAY", ["May", "MAY"]),
        ("May Day, MAY\nDAY", ["May Day", "MAY\nDAY"]),
        ("Old Man Of, old man of", ["Old Man Of", "old man"]),
        ("Mr. Mr MR.X mr! mr. X", ["Mr.", "Mr", "mr."]),
        ("C++ c++11 C+ C##", ["C++", "c++"]),
        ("I'm M, he's m. 'm'", ["M", "he", "m", "m"]),
        ("don don't DON’T don'ts", ["don", "don't", "DON’T"]),
        ("girl's girls girl’s'", ["girl's", "girl’s"]),
        ("the girl", []),
        ("over-60s over–60s over-60ss over-\n60s", ["over-60s", "over–60s", "over-\n60s"]),
        ("STRASSE Straße stra\u00ade", ["STRASSE", "Straße"]),
        ("sœur SŒUR soeur", ["sœur", "SŒUR"]),
        ("ЖЕНЩИНА женщинам", ["ЖЕНЩИНА"]),
        ("여자 \u110b\u1167\u110c\u1161 여자는", ["여자", "\u110b\u1167\u110c\u1161"]),
        ("लड़की ल\u095cकी लड़क", ["लड़की", "ल\u095cकी"]),
        ("x\u030c x x\u030c\u0301", ["x\u030c"]),
        ("ΓΥΝΉ γυνη\u0301 γυνη", ["ΓΥΝΉ", "γυνη\u0301"]),
        ("supercalifragilistic lady supercalixragilistic lady", ["supercalifragilistic lady"]),
        (
            "supercalifuugilistic, supercalifragilistic  Lady",
            ["supercalifuugilistic", "supercalifragilistic  Lady"],
        ),
        ("a b c a b", ["a b", "c a"]),
        ("a b d b d e", ["a b d b d e"]),
        ("q\u0323\u0307 q\u0307\u0323 q\u0307", ["q\u0323\u0307", "q\u0307\u0323"]),
    ],
)
def test_labels_of_a_users_list(text: str, expected: list[str]) -> None:
    finder = LabelFinder([SEVERAL])
    assert [text[m.start : m.end] for m in finder.find(text)] == expected


def test_more_letters_than_bytes() -> None:
    finder = LabelFinder([words(MANY_LETTERS[:60], MANY_LETTERS[60:])])
    text = " ".join(MANY_LETTERS)
    assert [m.label for m in finder.find(text)] == list(MANY_LETTERS)
    wrong = " ".join(label[0] + other[1] for label, other in pairwise(MANY_LETTERS))
    assert finder.find(wrong) == []


@pytest.mark.parametrize("shipped", SHIPPED_LISTS, ids=SHIPPED)
def test_every_shipped_label_is_found_as_itself(shipped: WordList) -> None:
    finder = LabelFinder([shipped])
    for label, group in shipped.labels.items():
        for text in (
            label,
            label.upper(),
            unicodedata.normalize("NFD", label),
            label.replace("-", "‐"),
        ):
            assert [(m.start, m.end, m.label, m.group) for m in finder.find(f"({text})")] == [
                (1, len(text) + 1, label, shipped.groups[group])
            ]


FRAGMENTS = [
    *{word for label in SEVERAL.labels for word in label.replace("-", " ").split()},
    *(
        *("Man", "OF", "father", "in", "fiance", "ｈｅ", "ﬁ", "anc", "stra", "ss", "𝐡𝐞", "x", "e"),
        *("n", "t", "s", "자"),
    ),
    *("\u0301", "\u030c", "\u0303", "\u0327", "\u1167", "\u095c", "\u093c"),
    *("İ", "ı", "ſ", "K", "ŉ", "ﷺ", "Ⅳ", "²", "ς"),
    *(
        *(" ", "  ", "\n", "\r\n", "\r", "\t", "\u00a0", "\n\n", "\u2028", "\u2029", "\x0b"),
        *("\x0c", "\u3164"),
    ),
    *(
        *("-", "‑", "–", "—", "'", "’", "\ufffd", ".", "+", "_", "__", ",", "#", "/", "\x00"),
        *("\ud800", "👩"),
    ),
    *("\u00ad", "\u200c", "\u200d", "\ufeff", "\u202e", "\ufe0f", "\u034f", "\u0600"),
    *("@", "://", "http://", "www.", "x.org", "he@x.org"),
]
TEXTS = st.lists(
    st.sampled_from(FRAGMENTS) | st.sampled_from(list(SEVERAL.labels)) | st.characters(),
    max_size=16,
)


def found(text: str) -> list[list[tuple[int, int, str]]]:
    every = FINDER.find_all(text)
    return [
        [
            (start, end, FINDER.labels(i)[label])
            for start, end, label in zip(f.starts, f.ends, f.labels, strict=True)
        ]
        for i, f in enumerate(every)
    ]


@settings(max_examples=250, deadline=None)
@given(TEXTS.map("".join))
def test_the_finder_finds_what_the_reference_finds(text: str) -> None:
    # The reference has words alone; test_forms.py has what the characters beside them decide, and
    # test_cases.py what a blank without width does
    text = text.replace("\u200b", "\u200c")
    with patch.object(
        Forms, "decide", lambda _, reading, *found: (*reading.offsets(*found[:2]), found[2])
    ):
        assert found(text) == [mentions(text, each) for each in FINDER.lists]


@settings(max_examples=120, deadline=None)
@given(st.lists(TEXTS.map("".join), min_size=1, max_size=5))
@example(["x" * 200 + "http://", "old c++old c++old man-servant", "/fiancée", "`man`"])
def test_texts_joined_by_a_blank_line_have_the_mentions_of_each(texts: list[str]) -> None:
    expected: list[list[tuple[int, int, str]]] = [[] for _ in FINDER.lists]
    offset = 0
    # A register and a sense are of a whole text
    senses = patch("evenflow.transforms.labels.forms.LEAST_OUT", 1 << 60)
    with patch.object(register, "SHORT", 1 << 60), senses:
        for text in texts:
            for own, each in zip(expected, found(text), strict=True):
                own += [(start + offset, end + offset, label) for start, end, label in each]
            offset += len(text) + 2
        assert found("\n\n".join(texts)) == expected


@settings(max_examples=120, deadline=None)
@given(TEXTS.map("".join))
def test_mentions_are_in_order_apart_and_of_their_labels_groups(text: str) -> None:
    for own, each in zip(FINDER.lists, FINDER.find_all(text), strict=True):
        assert (each.starts < each.ends).all() and (each.starts[1:] >= each.ends[:-1]).all()
        assert (each.starts >= 0).all() and (each.ends <= len(text)).all()
        assert each.groups.tolist() == [list(own.labels.values())[label] for label in each.labels]


@pytest.mark.parametrize(
    ("unit", "times", "mentioned"),
    [
        ("x", 5_000_000, 0),
        ("he ", 300_000, 300_000),
        ("he\n", 300_000, 300_000),
        ("father-in-law ", 30_000, 30_000),
        ("father-", 100_000, 100_000),
        ("\u0301", 300_000, 0),
        ("wo\u00adman ", 100_000, 100_000),
        ("fiance\u0301e ", 30_000, 30_000),
        ("@", 100_000, 0),
        ("://", 100_000, 0),
        ("he_", 100_000, 0),
        ("\0", 1_000_000, 0),
        ("old" + " " * 300_000, 3, 0),
        ("father-" + " " * 300_000, 3, 3),
        ("e\u0301\u0323", 100_000, 0),
    ],
)
def test_large_texts_of_one_kind(unit: str, times: int, mentioned: int) -> None:
    finder = LabelFinder([load("gender"), words(("old man",), ("x y",))])
    with patch.object(register, "SHORT", 1 << 60):  # a list of words is no prose
        assert sum(len(found.starts) for found in finder.find_all(unit * times)) == mentioned


def test_a_finder_of_nothing() -> None:
    assert LabelFinder([]).find_all("She") == [] == LabelFinder([]).find("She")


def test_a_place_in_a_text_does_not_matter() -> None:
    """Blocks are searched in steps: a label is found wherever a step ends."""
    finder = LabelFinder([SEVERAL])
    for before in range(262_130, 262_160, 3):
        text = "y" * before + " old\nman child"
        assert [(m.start, m.label) for m in finder.find(text)] == [
            (before + 1, "old"),
            (before + 5, "man child"),
        ]


@pytest.mark.parametrize(
    ("bounds", "starts", "ends", "kept"),
    [
        ([0, 4, 9], [2], [6], [0, 9]),
        ([0, 4, 9], [4], [6], [0, 4, 9]),
        ([0, 4, 9], [2], [4], [0, 4, 9]),
        ([0, 4, 5, 9], [2, 7], [9, 12], [0]),
        ([0, 4], [], [], [0, 4]),
        ([], [2], [6], []),
    ],
)
def test_no_sentence_starts_within_a_mention(bounds, starts, ends, kept) -> None:
    def ints(values: list[int]) -> np.ndarray:
        return np.array(values, np.int64)

    each = [
        Found(ints([start]), ints([end]), ints([0]), ints([0]))
        for start, end in zip(starts, ends, strict=True)
    ]
    assert uncut(ints(bounds), each).tolist() == kept


def test_one_attribute_with_several_mentions_is_cut_nowhere() -> None:
    each = Found(np.array([1, 6]), np.array([3, 9]), np.array([0, 0]), np.array([0, 0]))
    assert uncut(np.array([0, 2, 3, 5, 7, 9]), [each]).tolist() == [0, 3, 5, 9]


def test_a_label_has_to_begin_with_a_letter_or_digit() -> None:
    with pytest.raises(ValueError, match="does not begin with a letter or digit"):
        LabelFinder([words(("+x",), ("y",))])


def test_several_finders_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "list.yaml"
    path.write_text("attribute: x\ngroups: {a: [é], b: [ü]}\n")
    own = LabelFinder([load(path)])
    assert [m.label for m in own.find("é ü e\u0301 u\u0308")] == ["é", "ü", "é", "ü"]
    assert FINDER.find("é ü e\u0301 u\u0308") == []
