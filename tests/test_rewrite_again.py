"""Persons of whom a text tells again: one set each, however far apart, and none where they are different people."""

from __future__ import annotations

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.wordlists import loader

GENDER = loader.load("gender")
FAR = " The weather was bad. It rained all night. The roads were closed. Nobody came. The lamps went out. "
DIALOGUE = """Father: Where were you?

Daughter: Out, Dad.

Father: Rule number four stands.

Daughter: Mom, Dad's being mean!

Question: What will the father do?"""


def sets_of(text: str, group: str = "male") -> list[list[str]]:
    """The words of each set of a group that may change."""
    found = rewrite(text, [GENDER], "gender", source=group).sets
    return [[text[each.start : each.end] for each in one.mentions] for one in found if one.source == group and one.edits]


def test_a_dialogues_speaker_is_one_person() -> None:
    assert sets_of(DIALOGUE) == [["Father", "Dad", "Father", "Dad", "father"]]
    assert sets_of(DIALOGUE, "female") == [["Daughter", "Daughter"], ["Mom"]]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"Her son was hurt.{FAR}She says her son sleeps now.", [["son", "son"]]),
        (f"A waiter spilt my soup.{FAR}The waiter laughed and lost his tray.", [["waiter", "waiter", "his"]]),
        ("Me against my brother, me and my brother against my cousin.", [["brother", "brother"]]),
        (f"His father wept.{FAR}My father did not.", [["father"], ["father"]]),
        (f"A man sold bread.{FAR}A man sold fish.", [["man"], ["man"]]),
    ],
)
def test_the_same_words_for_the_same_person(text: str, wanted: list[list[str]]) -> None:
    found = sets_of(text)
    assert [[word for word in one if word not in ("His", "Her")] for one in found if one != ["His"]] == wanted


def test_who_may_not_change_here_does_not_change_there() -> None:
    text = f"The dentist was known as Tom Bell, and the man was kind.{FAR}The man named Tom Bell left.{FAR}The man was missed."
    assert rewrite(text, [GENDER], "gender", source="male").text == text


def test_comments_go_from_one_person_to_the_next() -> None:
    lines = "my dad is going to kill me for this dance.\n" + "what a week it has been on this board again.\n" * 5
    lines += "my dad named steve laughed at it all night long, he never stops."
    assert ["dad"] in sets_of(lines)


@pytest.mark.parametrize(
    "text",
    [
        "Rory makes a cake that weighs 20 ounces. She cuts it. Rory and her mom each have a piece.",
        "Elise sells books. Each book costs 20 dollars, and she sold nine.",
        "Mrs. Gardiner stayed at home. Mr. Gardiner left on Sunday.",
        "The Ohio State women's ice hockey team won.",
        "Selene is the sister of Helios.",
        "Girls between 14 and 18 should get 15 mg of iron. Boys between 14 and 18 should get 11 mg.",
    ],
)
def test_what_a_text_says_elsewhere_keeps_them(text: str) -> None:
    assert rewrite(text, [GENDER], "gender", source="female").text == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Every juror must sign her name.", "Every juror must sign his name."),
        ("This was a gift for my Wife, who loved the book.", "This was a gift for my Husband, who loved the book."),
        ("Mrs. Hall lost her keys.", "Mr. Hall lost his keys."),
        ("She plays for the women's chess team.", "He plays for the men's chess team."),
        (
            "He is the son of Italian farmers. She is the sister of a baker.",
            "He is the son of Italian farmers. He is the brother of a baker.",
        ),
    ],
)
def test_what_says_nothing_of_that_changes(text: str, wanted: str) -> None:
    assert rewrite(text, [GENDER], "gender", source="female").text == wanted
