"""Gendered words of a text, and their replacements."""

from __future__ import annotations

import pytest
from person_chains import chains

from evenflow.transforms.substitution import gendered, sets
from evenflow.wordlists import loader


def test_which_lists_are_gendered() -> None:
    assert [name for name in loader.SHIPPED if gendered.is_gendered(loader.load(name))] == [
        "gender"
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The Queen left", {"Queen": "King"}),
        ("WAITRESS wanted", {"WAITRESS": "WAITER"}),  # no label
        # The nearest in sense, not the list's first
        ("some guy and a lady", {"guy": "girl", "lady": "gentleman"}),
        ("The butler and a maid", {"butler": "", "maid": ""}),  # none is near
        ("the female engineer", {"female": "male"}),
        ("mankind", {}),
    ],
)
def test_what_a_word_would_become(text: str, wanted: dict[str, str]) -> None:
    items = [item for chain in chains("gender", text) for item in chain]
    assert {
        text[item.start : item.end]: "".join(item.replacements.values()) for item in items
    } == wanted
    assert all(bool(item.refusal) != bool(item.replacements) for item in items)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("A saleswoman met us. She smiled.", False),
        ("A saleswoman met us. She smiled. The saleswoman left.", False),  # it changes with her
        ("A saleswoman met us. She smiled." + " It rained." * 5 + " The saleswoman left.", True),
        ("A SALESWOMAN met us. She smiled." + " It rained." * 5 + " The saleswoman left.", True),
        ("A saleswoman met us. She smiled." + " It rained." * 5 + " The saleswomanly left.", False),
    ],
)
def test_a_person_whose_noun_stands_elsewhere_too_stays(text: str, refused: bool) -> None:
    [own] = [chain for chain in chains("gender", text) if any(item.word == "she" for item in chain)]
    assert [item.word for item in own][:2] == ["saleswoman", "she"]
    assert any(item.refusal == sets.HALF for item in own) == refused


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("Walter Prescott called." + " It rained." * 9 + " The policeman left.", True),
        ("walter called. it rained. the policeman left.", True),
        ("Mary called. The policeman left.", False),  # no name of his
        ("Walter Prescott called. A policeman came. The policeman left.", False),
    ],
)
def test_a_person_whom_a_name_before_may_name_stays(text: str, refused: bool) -> None:
    items = [item for chain in chains("gender", text) for item in chain]
    assert any(item.refusal == sets.NAMED for item in items) == refused


@pytest.mark.parametrize(
    ("text", "caseless"),
    [
        ("she met tom. he left.", True),
        ("SHE MET TOM.", True),
        ("She met Tom. He left.", False),
        ("1917", True),
    ],
)
def test_which_texts_have_no_capitals(text: str, caseless: bool) -> None:
    assert gendered.is_caseless(text) is caseless
