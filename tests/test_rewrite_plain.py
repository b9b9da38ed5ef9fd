"""Plain sentences without names, as anybody would try them: the whole sentence changes, or all of it stays."""

from __future__ import annotations

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.transforms.substitution import pronouns
from evenflow.wordlists import loader

GENDER = loader.load("gender")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("She fed her dog.", "He fed his dog."),
        ("She brought her dogs along.", "He brought his dogs along."),
        ("I gave her cat some milk.", "I gave his cat some milk."),
        ("He asked her to leave him, and she did.", "She asked him to leave her, and he did."),
        ("They greeted him and she waved.", "They greeted her and he waved."),
        ("My neighbour is a retired fireman. He keeps his helmet.", "My neighbour is a retired firewoman. She keeps her helmet."),
        ("The captain was a woman who loved her ship.", "The captain was a man who loved his ship."),
        ("The sorceress lost her wand.", "The sorcerer lost his wand."),
        ("A Frenchwoman sold her vineyard.", "A Frenchman sold his vineyard."),
        ("My mother found her keys.", "My father found his keys."),
        ("The lady brings a letter.", "The gentleman brings a letter."),
        ("The queen sleeps.", "The king sleeps."),
        ("A man made it, and he left.", "A woman made it, and she left."),
        ("Two nurses helped the woman up.", "Two nurses helped the man up."),
        ("He is remembered for his kindness.", "She is remembered for her kindness."),
        ("He has a bachelor's degree in physics, and his sister has one too.", None),
    ],
)
def test_the_whole_sentence_changes(text: str, wanted: str | None) -> None:
    found = rewrite(text, [GENDER], "gender").text
    assert found == (wanted or "She has a bachelor's degree in physics, and her brother has one too.")


@pytest.mark.parametrize(
    "text",
    [
        "The spinster fed her cats.",
        "The bachelor cooked himself a steak.",
        "A milkman forgot his hat. He went back.",
        "They spoke of the brotherhood of man.",
    ],
)
def test_who_has_no_counterpart_stays_whole(text: str) -> None:
    assert rewrite(text, [GENDER], "gender").text == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("We brought her friends home.", "his"),
        ("They made her captain.", "him"),
        ("I call her boss a fool.", None),
        ("He waited for her knight.", "his"),
        ("We saw her horse win.", "his"),
        ("She gave her word.", "his"),
        ("She left her phone.", "his"),
        ("He brought her desk and left.", "his"),
        ("They gave her hope.", "him"),
        ("They told her jokes.", None),
        ("We left her alone.", "him"),
        ("It made her sad.", "him"),
        ("She sold her vineyard.", "his"),
        ("He brought her water.", "him"),
        ("I know her better than you do.", "him"),
    ],
)
def test_whom_one_has_is_somebodys(text: str, wanted: str | None) -> None:
    at = text.index("her")
    found, sure = pronouns.counterpart(text, at, at + 3)
    assert wanted is None or found == wanted
    assert 0.5 <= sure <= 1
