"""Gendered words of a text, and their replacements."""

from __future__ import annotations

import re
from typing import Any

import pytest
from person_chains import chains

from evenflow.transforms.substitution import gendered, sets
from evenflow.wordlists import loader


def test_which_lists_are_gendered() -> None:
    found = [name for name in loader.SHIPPED if gendered.is_gendered(loader.load(name))]
    assert found == ["gender"]


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
    ("text", "reason"),
    [
        ("Walter Prescott called." + " It rained." * 9 + " The policeman left.", sets.NAMED),
        ("walter called. it rained. the policeman left.", sets.NAMED),
        ("Mary called. The policeman left.", ""),  # no name of his
        ("Walter Prescott called. A policeman came. The policeman left.", ""),
        # Who has a mother and a father would have two fathers
        ("My mom called." + " It rained." * 9 + " My dear old dad was out.", sets.EVEN),
        ("I asked his mother.\n\nIt rained. His father knew.", sets.EVEN),
        ("Her husband left. Her wife stays.", sets.EVEN),
        ("My grandma came. My grandpa stayed at home.", sets.EVEN),
        ("My mother-in-law died. My father-in-law sold the house.", sets.EVEN),
        ("My mother left. His father knew, and my friend's father.", ""),
        ("My mother left. My aunt and his father knew.\nMy father came.", ""),  # another's
        ("My mother left. My step father and my father-in-law knew.", ""),
        ("My sister left. My brother stayed.", ""),  # one may have two
    ],
)
def test_whom_a_word_elsewhere_keeps(text: str, reason: str) -> None:
    items = [item for chain in chains("gender", text) for item in chain]
    assert {item.refusal for item in items} - {""} == {reason} - {""}


@pytest.mark.parametrize("unit", ["My mom called. ", "She came. A saleswoman met us. "])
def test_a_text_is_searched_once_for_a_word(monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    chains("gender", unit)  # makes the patterns that all texts share
    counted: list[int] = []
    made = re.compile

    def compiled(*of: Any) -> Any:
        counted[-1] += 1
        return made(*of)

    monkeypatch.setattr(re, "compile", compiled)
    monkeypatch.setattr(re, "findall", lambda *of: compiled(of[0], of[2]).findall(of[1]))
    for times in (2, 60):
        counted.append(0)
        chains("gender", unit * times)
    assert counted[0] == counted[1] > 0


def test_a_word_of_a_list_is_no_pattern() -> None:
    item = sets.Item(3, 6, "mom", "female", "noun", 0, None)
    item.replacements["male"] = "dad ("
    gendered.refuse_taken("My mom called my dad ( twice).", [item])
    assert item.refusal == sets.EVEN


def test_which_texts_have_no_capitals() -> None:
    texts = ("she met tom. he left.", "SHE MET TOM.", "She met Tom. He left.", "1917")
    assert [*map(gendered.is_caseless, texts)] == [True, True, False, True]
