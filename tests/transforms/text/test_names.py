"""Named people: text -> their names, and the sex that a name says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.text import names


def found(text: str, caseless: bool = False) -> list[tuple[str, str]]:
    return [
        (text[name.start : name.end], name.sex) for name in names.find(text, 0, len(text), caseless)
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Mary Smith met Tom there.", [("Mary Smith", "f"), ("Tom", "m")]),
        ("We met Dr. Garcia in Berlin", [("Dr. Garcia", "e")]),
        ("She said: Ann left.", [("Ann", "f")]),
        ("I met Ludwig van Beethoven there.", [("Ludwig van Beethoven", "e")]),
        ("I saw O’Brien there.", [("O’Brien", "e")]),
        ("Queen Victoria slept.", [("Queen Victoria", "f")]),
        ("I saw Grace there.", [("Grace", "e")]),  # a common word too
        ("Grace is what we need.", []),
        ("NASA and I left.", []),
        ("We live in London.", []),
        ("@Anna, #Bob", []),
    ],
)
def test_names_of_a_text(text: str, wanted: list[tuple[str, str]]) -> None:
    assert found(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("i met mary there", [("mary", "f")]), ("the rose of mark", []), ("Norah met me", [])],
)
def test_without_capitals_only_what_is_no_common_word(
    text: str, wanted: list[tuple[str, str]]
) -> None:
    assert found(text, caseless=True) == wanted


def test_only_a_stretch_is_searched() -> None:
    text = "Tom saw Bob and Jim there."
    assert [text[name.start : name.end] for name in names.find(text, 4, 12)] == ["Bob"]


@given(
    st.lists(
        st.sampled_from(["Mary", "Tom", "Mr.", "Van", "van", ".", "\n", "é", "É", "'", "I", "x"])
        | st.text(max_size=3)
    )
)
def test_names_lie_apart_in_the_texts_order(parts: list[str]) -> None:
    text = " ".join(parts)
    at = 0
    for name in names.find(text, 0, len(text)):
        assert at <= name.start < name.end <= len(text) and name.sex in ("f", "m", "e")
        at = name.end


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Florence met Mr. James and Dale.", ["Florence", "Dale"]),
        ("She is a Florence Nightingale to us.", []),
        ("The Florence of the story met Florence.", ["Florence"]),
    ],
)
def test_a_name_behind_an_article_is_not_exchanged(text: str, wanted: list[str]) -> None:
    found = list(names.exchanged(text))
    assert [text[start:end] for start, end, _ in found] == wanted
