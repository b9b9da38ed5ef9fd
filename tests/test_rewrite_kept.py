"""What stays in real text though a word alone would let it change, and beside each what looks like it and changes."""

from __future__ import annotations

import pytest

from evenflow.transforms import people
from evenflow.transforms.counterfactuals import rewrite
from evenflow.transforms.substitution import calling, mankind, same_sex
from evenflow.wordlists import loader

GENDER = loader.load("gender")
# A report is told by its length and by whom it quotes.
REPORT = (
    "Rain fills the upper lakes\n\nThe upper lakes have risen by two metres since March, the water authority says.\n\n"
    '"It will last for two dry summers," Greta Lindqvist says. The authority has measured it for as long as anybody knows, '
    "and will go on with that until the lakes are as high as the old wall. The wall is to be raised in the spring, and the "
    "road on it will be closed for that time.\n\n\n\n"
)
REVIEW = (
    "this movie has a plot that nobody in the audience could follow , and a cast that does what it can with the script . \n"
    "the scenes by the sea are long and the music is loud , as in every sequel . \n"
)
COMMENT = "nobody in this thread seems to know what it is that they want from the council or from the rest of us. "
SPEECH = (
    "We meet at the close of a long year. The harvest has been good, and the ports are open to the ships of every country. "
    "The Congress will have before it a plan for the roads and the canals. "
)


def rest(before: str, text: str) -> str:
    """What becomes of a text behind another."""
    made = rewrite(before + text, [GENDER], "gender").text
    assert made.startswith(before)
    return made[len(before) :]


@pytest.mark.parametrize(
    ("before", "text"),
    [
        # named behind an adverbial
        (REPORT, "A woman has crossed the desert with a donkey.\n\nFor the last three weeks, Paula Grant has slept in a tent."),
        (REPORT, "A Scottish man is to lead the orchestra.\n\nOver the coming year, Peter Doyle will play in ten towns."),
        # of animals
        (REPORT, "A young dolphin finds its mother by the call."),
        (REPORT, "The dolphin's sister swam beside it."),
        (REPORT, "The car stopped between two male elephants."),
        (REPORT, "The researchers asked 90 women. The women's answers described women as careful."),
        # named after somebody
        (SPEECH, 'They nicknamed the crater "Ripley", after the film heroine.'),
        (SPEECH, "Boy as king in May 1911"),
        # appositions
        (SPEECH, "Some say that a richer man, such as Oliver Stanton, wrote them."),
        (SPEECH, "They were seen with actresses like Ruth Klingman."),
        (SPEECH, "The sisters Anna and Maria Holt came by train."),
        # a review
        (REVIEW, "brolin ( suicide kings , the mill ) is fine here ."),
        (REVIEW, "mark adler ( tim roth ) is married to a wife who drinks , elizabeth ( mimi rogers ) ."),
        (REVIEW, "but even clever guys end up poor , and jack ends up in jail ."),
        (REVIEW, "vivian has some major issues with mama ."),
        (REVIEW, "they guys are about to leave for the concert with cassandra ."),
        (REVIEW, "it tells of the rise of eva per ? n , a woman who won the heart of a nation ."),
        (REVIEW, "henry has a sister who comes to stay ."),
        (REVIEW, "mary is bored . she has a pilot boyfriend ."),
        (REVIEW, "our brave heroes wait for the bus ."),
        (REVIEW, "it is full of leftover g-men from an older film ."),
        # a comment
        (COMMENT, "sleeping with another man is a sin in that book"),
        (COMMENT, "so only asexual women then?"),
        (COMMENT, "hate to hear this bro but i have to go"),
        (COMMENT, "lmaoo guys get it? because it is a cat"),
        (COMMENT, "we are watching dance moms tonight"),
        (COMMENT, "why no hijab for her?\nthe hijab is a choice. they are right about women\nif that is a hijab then fine."),
        # speeches
        (SPEECH, "Such contracts should he faithfully kept by both sides."),
        (SPEECH, "We seek the unity of man with the world around us."),
        (SPEECH, "It rests on the conviction that man can govern by reason."),
        (SPEECH, "The output per man has doubled."),
        (SPEECH, "We honor those brave men who did not come back."),
        (SPEECH, "Our bravest sons in uniform stand guard tonight."),
        (SPEECH, "We gave our fighting men all that they asked for."),
        (SPEECH, "For the first time in our history a woman sits on the bench."),
        (SPEECH, "Mr. Jefferson saw it early."),
    ],
)
def test_what_is_named_or_a_fact_stays(before: str, text: str) -> None:
    assert rest(before, text) == text


@pytest.mark.parametrize(
    ("before", "text", "wanted"),
    [
        (SPEECH, "A young child finds its mother by the smell.", "A young child finds its father by the smell."),
        (SPEECH, "A pilot's mother saw an eagle.", "A pilot's father saw an eagle."),
        (SPEECH, "They named the boat after a woman in the village.", "They named the boat after a man in the village."),
        (SPEECH, "They met women like that.", "They met men like that."),
        (SPEECH, "The two men in the boat saw Anna.", "The two women in the boat saw Anna."),
        (REVIEW, "a waitress ( in a red coat ) spills it .", "a waiter ( in a red coat ) spills it ."),
        (REVIEW, "my mom liked it .", "my dad liked it ."),
        (COMMENT, "his wife is sleeping with another man", "her husband is sleeping with another woman"),
        (COMMENT, "some gym bro told me that", "some gym sis told me that"),
        (COMMENT, "the other moms dance too", "the other dads dance too"),
        (
            COMMENT,
            "is that a gender? my boyfriend is loud\nthat is no gender. gender is a word.",
            "is that a gender? my girlfriend is loud\nthat is no gender. gender is a word.",
        ),
        (SPEECH, "Should he decide to go, the door is open.", "Should she decide to go, the door is open."),
        (SPEECH, "It is the hat of that kind of man.", "It is the hat of that kind of woman."),
        (
            SPEECH,
            "The men who fought over the chair were asked to leave.",
            "The women who fought over the chair were asked to leave.",
        ),
        (SPEECH, "Our sons play chess.", "Our daughters play chess."),
    ],
)
def test_what_looks_like_it_changes(before: str, text: str, wanted: str) -> None:
    assert rest(before, text) == wanted


def test_two_of_one_sex() -> None:
    assert same_sex.is_pair("man", "sleeping with another ", frozenset(("sleeping", "with", "another", "man")))
    assert not same_sex.is_pair("man", "she kissed another ", frozenset(("she", "kissed", "another", "man")))


def test_whoever_hears_something_by_itself() -> None:
    assert calling.is_heard("hate to hear this ", " but i")
    assert not calling.is_heard("my older ", " but")


def test_mankind_and_soldiers() -> None:
    assert mankind.is_meant("the freedom of ")
    assert not mankind.is_meant("that kind of ")
    assert mankind.are_soldiers("men", "our fighting ", ".", frozenset(("our", "fighting", "men")))
    assert not mankind.are_soldiers("sons", "our ", " play", frozenset(("our", "sons", "play")))


@pytest.mark.parametrize("word", ["elephant", "elephants", "spider"])
def test_animals_are_no_people(word: str) -> None:
    assert not people.is_person_noun(word)
