"""Comments of many writers, reviews' minor figures, and law, life and history told without a name."""

from __future__ import annotations

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.wordlists import loader

GENDER = loader.load("gender")
# Comments long enough to be taken for a text without capitals that may hide a name.
AROUND = "nobody in this thread has read the article and it shows. " * 3 + "\n"


def changed(text: str) -> str:
    return rewrite(text, [GENDER], "gender").text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # A name of the other sex is not whom «he» means, nor is a place's.
        ("deborah posted this\ngive the guy a rest", "deborah posted this\ngive the gal a rest"),
        ("fly to israel then\nhe says it is safe there", "fly to israel then\nshe says it is safe there"),
        # Some sentences on, another writer speaks of somebody else.
        ("kevin is right. it rains. it snows. it hails. it thaws\nhe parks badly", None),
        # What somebody said in a comment is no report.
        ("he said buses are for losers", "she said buses are for losers"),
        # One side as such, and loose words of politics.
        ("not all men are lazy", "not all women are lazy"),
        ("says the guy who sleeps through a war", "says the gal who sleeps through a war"),
    ],
)
def test_remarks_on_nobody_named_change(text: str, wanted: str | None) -> None:
    if wanted is None:
        wanted = text[: text.index("\n")] + "\nshe parks badly"
    assert changed(AROUND + text) == AROUND + wanted


@pytest.mark.parametrize(
    "text",
    [
        "kevin posted this\nhe is a clown",
        "trump is right. he parks badly",
        "the president said he was tired",
        "all men are created equal",
        "i doubt that a god can exist",
    ],
)
def test_remarks_on_somebody_named_stay(text: str) -> None:
    assert changed(AROUND + text) == AROUND + text


REVIEW = "the film drags , the script is thin and the director has seen too many other movies to care about this one . \n" * 2


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "a young boy falls into a well , and the town gathers . \nwhen the boy is found , the credits roll .",
            "a young girl falls into a well , and the town gathers . \nwhen the girl is found , the credits roll .",
        ),
        (
            "in one scene a waiter drops a tray . \nhe grins at the camera .",
            "in one scene a waitress drops a tray . \nshe grins at the camera .",
        ),
        ("the shark eats one man in the first reel .", "the shark eats one woman in the first reel ."),
    ],
)
def test_minor_figures_of_a_review_change(text: str, wanted: str) -> None:
    assert changed(REVIEW + text) == REVIEW + wanted


@pytest.mark.parametrize(
    "text",
    [
        # Far into the next sentence «he» may well be the director.
        "a little boy plays the violin . \nthe way in which every note is repeated shows how little credit he gives us .",
        "it's not that brannigan isn't a funny guy .",
        "with one eyed king it is worse .",
    ],
)
def test_others_of_a_review_stay(text: str) -> None:
    assert changed(REVIEW + text) == REVIEW + text


@pytest.mark.parametrize(
    "text",
    [
        "New fathers may soon take a month of paternity leave.",
        "Young men of nineteen are conscripted for a year.",
        "Only a baptised man may be admitted to holy orders.",
        "A waitress won her case after she said that the dress code made women wear heels.",
        "My sister is 30 weeks along and sleeps badly.",
        "The office has a room where women can express milk.",
        "The captain logs her cycle in an app.",
        "The woman who invented the windscreen wiper never got rich.",
        "The man who wrote The Trial asked a friend to burn his papers.",
        "Queen were better live.",
        "She Said is on again, and She Said was better the first time.",
        "My knight was forked on move six.",
        "Then grep -c her notes.txt printed nothing.",
    ],
)
def test_law_life_works_and_code_stay(text: str) -> None:
    assert changed(text) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("New fathers are tired.", "New mothers are tired."),
        ("The dress code at the club surprised the woman.", "The dress code at the club surprised the man."),
        ("The woman logs her hours in an app.", "The man logs his hours in an app."),
        ("The man who wrote the note signed with his initials.", "The woman who wrote the note signed with her initials."),
        ("The woman who invented the excuse blushed.", "The man who invented the excuse blushed."),
        ("The knight was late for his duel.", None),
        ("Karen's brother lent me his ladder.", "Karen's sister lent me her ladder."),
        ("I brought her tulips, and the nurse found a jug.", "I brought him tulips, and the nurse found a jug."),
        ("We watched her wrap the parcel.", "We watched him wrap the parcel."),
        (
            "The bar was called Seven Dwarfs, but the man at the door said he was new.",
            "The bar was called Seven Dwarfs, but the woman at the door said she was new.",
        ),
    ],
)
def test_what_looks_like_it_changes(text: str, wanted: str | None) -> None:
    assert changed(text) == (wanted or "The dame was late for her duel.")


@pytest.mark.parametrize("text", ["Karen's husband is a cook.", "Karen's sister lent me her ladder."])
def test_kin_of_a_named_person_that_say_her_sex_or_may_be_she_stay(text: str) -> None:
    assert changed(text) == text
