import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.labels import LabelFinder
from evenflow.wordlists.loader import load

FINDER = LabelFinder([load("gender"), load("age"), load("religion")])


def found(text: str) -> list[tuple[str, str]]:
    return [(text[m.start : m.end], m.group) for m in FINDER.find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She's the women's heroine.", [("She", "female"), ("women", "female"), ("heroine", "female")]),
        ("THE theory of Sheffield", []),
        ("Father-in-law and father-in-lawn", [("Father-in-law", "male"), ("father", "male")]),
        ("A he-man met xhe and he_", [("he", "male"), ("man", "male")]),
        ("don\u0303a, doña, DOÑA", [("don\u0303a", "female"), ("doña", "female"), ("DOÑA", "female")]),
        ("he\u0301 is not he", [("he", "male")]),
        ("ma'am, ma’am, Maʼam", [("ma'am", "female"), ("ma’am", "female"), ("Maʼam", "female")]),
        ("father\u2011in\u2010law", [("father\u2011in\u2010law", "male")]),
        ("the\u00a0man", [("man", "male")]),
        ("\u202ehe\u202c s\u00adhe", [("he", "male"), ("s\u00adhe", "female")]),
        ("great-grandfather", [("grandfather", "male"), ("great-grandfather", "old")]),
        ("", []),
        ("\x00he\ud800she", [("he", "male"), ("she", "female")]),
    ],
)
def test_labels_are_found_where_they_stand(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


def test_labels_of_several_words(tmp_path) -> None:
    path = tmp_path / "list.yaml"
    path.write_text("attribute: x\ngroups:\n  a: [old man, old, {label: May, case: exact}]\n  b: [young man of the house]\n")
    finder = LabelFinder([load(path)])
    text = "old\r\n  man, old\n\nman, old manor; Young  man of\nthe house. May may"
    assert [text[m.start : m.end] for m in finder.find(text)] == [
        "old\r\n  man",
        "old",
        "old",
        "Young  man of\nthe house",
        "May",
    ]


@given(
    st.lists(
        st.sampled_from(["he", "she", " ", "-", "\n", "é", "e\u0301", "’", "in", "law", "father", "\u00ad", "x", "\U0001f600"])
    )
)
def test_offsets_are_of_the_text_itself(parts: list[str]) -> None:
    text = "".join(parts)
    for mention in FINDER.find(text):
        said = unicodedata.normalize("NFC", text[mention.start : mention.end]).replace("\u00ad", "").replace("’", "'")
        assert said.lower() == mention.label
