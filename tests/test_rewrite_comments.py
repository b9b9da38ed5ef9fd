"""Comments without capitals through `rewrite` for religion and age: what a claim says of any group, and what is a fact of one."""

from __future__ import annotations

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.wordlists import loader

RELIGION = loader.load("religion")
AGE = loader.load("age")
# So that a text is long enough to be taken for one without capitals.
REST = "\nwell that is what i read in the thread below and it made me sad for the rest of the day to be honest."

CHANGED = [
    # bare subjects, where the comment speaks of a faith
    (
        "hindu is not a race so how would you be racist against hindus",
        "islam",
        "muslim is not a race so how would you be racist against muslims",
    ),
    (
        "i think liberal jew is a contradiction and most jews agree",
        "hinduism",
        "i think liberal hindu is a contradiction and most hindus agree",
    ),
    ("anyone whos buddhist is a liar to them", "islam", "anyone whos muslim is a liar to them"),
    ("why are the most boring christian?", "judaism", "why are the most boring jewish?"),
    # a singular and a plural with nothing between
    ("he is a hindu hindus are loud", "judaism", "he is a jew jews are loud"),
    ("never lend a jew jews are broke", "islam", "never lend a muslim muslims are broke"),
    # what is called by any faith
    ("all of this is done by buddhist extremists", "islam", "all of this is done by muslim extremists"),
    ("people in hindu countries hate rain", "christianity", "people in christian countries hate rain"),
    ("jewish nationalism is a bore", "hinduism", "hindu nationalism is a bore"),
    # lines that stand for themselves, and rows
    ("why are jews so quiet\nevery hindu i know is loud", "buddhism", "why are jews so quiet\nevery buddhist i know is loud"),
    (
        "not every muslim is a cheat and not every christian is a saint",
        "hinduism",
        "not every hindu is a cheat and not every hindu is a saint",
    ),
    # inside and outside together
    (
        "a hindu can marry a non-hindu if the hindu family agrees",
        "islam",
        "a muslim can marry a non-muslim if the muslim family agrees",
    ),
    ("muslims say nonmuslim people are rude to every muslim", "judaism", "jews say nonjewish people are rude to every jew"),
    ("muslims say a nonmuslim is rude to every muslim", "judaism", "jews say a nonjew is rude to every jew"),
    # loose words
    ("he converted and now every hindu he meets is a saint", "islam", "he converted and now every muslim he meets is a saint"),
    ("so much karma for a joke on every jewish person", "hinduism", "so much karma for a joke on every hindu person"),
    (
        "the muslim population is growing.\nisis was never about that",
        "hinduism",
        "the hindu population is growing.\nisis was never about that",
    ),
]
LEFT = [
    "christian is my best friend and he is a fool",  # a first name: nothing speaks of a faith
    "jews and hindus are so different and every hindu says so",
    "only a hindu would say that to a non-jew",
    "pakistan is one of the nicest muslim countries",
    "i read a lot of hindu mythology",
    "samosas are a hindu food",
    "albanians are mostly muslim",
    "the last jewish ukrainians left",
    "it is a majority hindu district",
    "the area was muslim-dominated",
    "the bjp wants every hindu vote",
    "he wants virgins in jannah like any muslim man",
    "weinstein is jewish",
    "soros is a muslim if you ask them",
]


@pytest.mark.parametrize(("text", "target", "wanted"), CHANGED)
def test_a_claim_of_any_faith(text: str, target: str, wanted: str) -> None:
    assert rewrite(text + REST, [RELIGION], "religion", target=target).text == wanted + REST


@pytest.mark.parametrize("text", LEFT)
def test_a_fact_of_a_faith(text: str) -> None:
    for target in ("buddhism", "christianity"):
        assert rewrite(text + REST, [RELIGION], "religion", target=target).text == text + REST


OF_AGE = [
    # claims and scenes
    ("kids are so rude and lazy", "old", "retirees are so rude and lazy"),
    ("i left because teenagers talk all the time", "middle", "i left because thirtysomethings talk all the time"),
    ("there's a kid on my lawn", "old", "there's a retiree on my lawn"),
    ("you only like soldiers shooting kids", "old", "you only like soldiers shooting retirees"),
    ("they called the poor kid a fool", "middle", "they called the poor thirtysomething a fool"),
    ("some kids were loud and isis is a joke", "old", "some retirees were loud and isis is a joke"),
    ("in this film a gang of noisy teenagers robs a bank", "old", "in this film a gang of noisy retirees robs a bank"),
    ("teenagers have no taste in movies", "old", "retirees have no taste in movies"),
    # offspring, audiences, stages of learning, time of life
    ("i could not bear the cost of a child", "old", None),
    ("two lazy kids and the third is a genius", "old", None),
    ("she said that to kids", "old", None),
    ("she said that kids draw", "old", "she said that retirees draw"),
    ("the movie is a g-rated film and kids are fond of it", "old", None),
    ("in this movie the two teenagers fall out", "old", None),
    ("kids are afraid of santa", "old", None),
    ("kids learn to read at four", "old", None),
    ("it is rape of children that they like", "old", None),
    ("seagal is seen as an elderly man", "young", None),
]


@pytest.mark.parametrize(("text", "target", "wanted"), OF_AGE)
def test_people_of_an_age(text: str, target: str, wanted: str | None) -> None:
    assert rewrite(text + REST, [AGE], "age", target=target).text == (wanted or text) + REST


OF_AGE_EDITED = [
    ("A child who is reading poorly needs time.", "old", None),
    ("Conture notes that children can have difficulty with that.", "old", None),
    ("Several kids laughed at us.", "old", "Several retirees laughed at us."),
]


@pytest.mark.parametrize(("text", "target", "wanted"), OF_AGE_EDITED)
def test_people_of_an_age_in_edited_text(text: str, target: str, wanted: str | None) -> None:
    assert rewrite(text, [AGE], "age", target=target).text == (wanted or text)


def test_edited_text_keeps_what_a_comment_may_say() -> None:
    for text in (
        "Hindu extremists were arrested in the city.",
        "Christians and non-Christians met in the hall, and a Christian spoke.",
        "Every Muslim is honest, and every Hindu is honest.",
    ):
        assert rewrite(text, [RELIGION], "religion", target="buddhism").text == text


def test_food_of_a_faith_and_a_food_bank() -> None:
    assert rewrite("Bagels are a Jewish food.", [RELIGION], "religion", target="islam").text == "Bagels are a Jewish food."
    text = "The Jewish food bank needs a driver."
    assert rewrite(text, [RELIGION], "religion", target="islam").text == "The Muslim food bank needs a driver."
