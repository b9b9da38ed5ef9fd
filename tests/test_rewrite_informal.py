"""Text without capitals: reviews of films, in which a noun may be a named character, and comments, which call and quote."""

from __future__ import annotations

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.wordlists import loader

GENDER = loader.load("gender")
# A review's beginning and end, that the text is long enough and about a film.
FIRST = (
    "this film is one of the better thrillers of the year , and the screenplay keeps the audience guessing to the last scene . \n"
)
LAST = " \nthe camera work is fine , and the plot of the movie is easy to follow for most of its two hours ."


def review(text: str) -> str:
    whole = f"{FIRST}{text}{LAST}"
    result = rewrite(whole, [GENDER], "gender").text
    assert result.startswith(FIRST) and result.endswith(LAST)
    return result[len(FIRST) : -len(LAST)]


@pytest.mark.parametrize(
    "text",
    [
        # Retold by a noun, and named beside.
        "it is the story of a woman who wants her house back . \nmargaret ( julia roberts ) is a joy to watch .",
        "robert is good here . \nyou have to hand it to a guy who does all of his stunts .",
        "henry is a puzzle . \nwhy spend an hour getting to know a man who ends up as a minor character ?",
        "margaret has a plan . \nwhat a woman !",
        "robert is tired . \na proud man , his first thought is of revenge .",
        "the part was written for somebody younger . \nfor a guy who is paid so much , his delivery is poor .",
        # Names in brackets, in appositions and in the next sentence.
        "there he meets a young woman ( genvieve karlsted ) at the station .",
        "the room is full of rude sisters ( played by anna and rosa lind ) .",
        "vokzal , a theater guy and part-time poet , wrote all of it .",
        "kevin plumb ( joe ross ) is a shy man with one good suit .",
        "two men are sent for . \none is robert holt ( kevin kline ) , who cannot swim .",
        "a group of men , led by jimmy ( joe ross ) , arrive by boat .",
        "a nude drawing of a young woman is found . \nthe woman ( gloria marsh ) is still alive .",
        # Heroes and actors have names.
        "the outlaw hero rides away in the end .",
        "robert plays it like an aging actor who has lost his way .",
        "kevin and sam have fun as a troubled father and son .",
        "margaret's brother was a fisherman .",
        # Titles.
        'the " market boys " sketch is longer than the film .',
        "it was better in a few good men , which it copies .",
        "the effects wizards have earned their money .",
        # The sex is the point.
        "she disguises herself as a man to join the crew .",
        "it sets men against men in a fight for a crown .",
    ],
)
def test_a_noun_for_a_named_character_stays_in_a_review(text: str) -> None:
    assert review(text) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a waitress spills coffee on the sofa .", "a waiter spills coffee on the sofa ."),
        ("in one scene a man is hit by a piano .", "in one scene a woman is hit by a piano ."),
        ("any actress could have played this .", "any actor could have played this ."),
        ("my wife slept through the second hour .", "my husband slept through the second hour ."),
        ("hey , i'm the guy who laughs at everything .", "hey , i'm the gal who laughs at everything ."),
        ("it is a film for lonely women with a cat .", "it is a film for lonely men with a cat ."),
        ("a killer comes for seven more women .", "a killer comes for seven more men ."),
        ("it was made by a couple of guys in a shed .", "it was made by a couple of gals in a shed ."),
        ("four girls sing . \nthe choir is good .", "four boys sing . \nthe choir is good ."),
    ],
)
def test_minor_figures_and_people_at_large_change_in_a_review(text: str, wanted: str) -> None:
    assert review(text) == wanted


AROUND = "nobody in this thread seems to know what it is that they want from the council or from the rest of us. "


@pytest.mark.parametrize(
    "text",
    [
        "do your research man.",
        "get a life dude",
        "check your facts man and then we can talk",
        "it is a town of peace guys the bombs are a bonus",
        "that is what i said and  boys lets go home now",
        "ladies can you believe this price",
        "thanks girls",
        "a gay is not a man honey",
        "it teaches men to beat their wives",
        "some husband hits his wife there",
        "plumbo has to be right. he cant be wrong",
        "this is far worse than putins speech of last week. his opinion is known",
        "trump did it again. he is wrong and the guy is loud",
    ],
)
def test_calls_and_both_sides_stay_in_a_comment(text: str) -> None:
    assert rewrite(AROUND + text, [GENDER], "gender").text == AROUND + text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ask your delivery man.", "ask your delivery woman."),
        ("find yourself a good man.", "find yourself a good woman."),
        ("the guys you know from work are loud", "the gals you know from work are loud"),
        ("i hate white guys the most", "i hate white gals the most"),
        ("girls get away with it", "boys get away with it"),
        ("no girl wants to teach", "no boy wants to teach"),
        ("are you the guy who banned me", "are you the gal who banned me"),
        (
            "that is too political\nthis person thinks we decorate her life",
            "that is too political\nthis person thinks we decorate his life",
        ),
        ("gay is no gender\nmy boyfriend is nice", "gay is no gender\nmy girlfriend is nice"),
        ("the president likes girls. girls are loud. girls are fun", "the president likes girls. boys are loud. boys are fun"),
        ("men are loud and so is the bus", "women are loud and so is the bus"),
    ],
)
def test_what_comments_say_of_people_changes(text: str, wanted: str) -> None:
    assert rewrite(AROUND + text, [GENDER], "gender").text == AROUND + wanted


def test_policemen_beside_policewomen_are_even() -> None:
    text = "the policemen ( and policewomen ) of the town were all out on the street last night with the rest of us ."
    assert rewrite(text, [GENDER], "gender").text == text
    assert rewrite("Policemen (and policewomen) came.", [GENDER], "gender").text == "Policemen (and policewomen) came."
