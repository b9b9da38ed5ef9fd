"""What makes somebody of a faith or an age known, or leaves them anybody: attacks, peoples, years, studies, gifts, reviews."""

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.transforms.substitution import peoples
from evenflow.wordlists import loader

AGE, RELIGION = loader.load("age"), loader.load("religion")
# What makes a text one of comments without capitals.
COMMENT = (
    " it goes with all of this and that is just that. nobody minds it at all, as far as i can tell you, and nobody ever will. "
    "what a strange week it has been on this board, with everyone shouting about the very same thing again and again."
)


@pytest.mark.parametrize(
    "said",
    [
        "the shooter was jewish.",
        "to the point gunman was a jew.",
        "the harbour festival was bombed by two white jewish men.",
        "those attackers were all jewish.",
    ],
)
def test_who_did_a_particular_deed_stays(said: str) -> None:
    assert rewrite(said + COMMENT, [RELIGION], "religion", "gc", "judaism", "islam").text == said + COMMENT


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("if the shooter was jewish you would hear of it.", "if the shooter was muslim you would hear of it."),
        ("all attackers are jewish to these people.", "all attackers are muslim to these people."),
        ("the tourists were attacked by a jewish mob.", "the tourists were attacked by a muslim mob."),
    ],
)
def test_attackers_in_general_change(said: str, wanted: str) -> None:
    assert rewrite(said + COMMENT, [RELIGION], "religion", "gc", "judaism", "islam").text == wanted + COMMENT


def test_peoples_are_derived_from_their_countries() -> None:
    for word in ("Albanians", "Iraqis", "Kazakhs", "Turks", "Senegalese", "Croats", "Kosovars", "Kurds", "Saudis"):
        assert peoples.is_people(word), word
    for word in ("musicians", "librarians", "greens", "morons", "turkeys", "plumbers", "Philippines", "mains"):
        assert not peoples.is_people(word), word


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("Most Albanians are Muslim.", False),
        ("the zirids were predominantly muslim." + COMMENT, False),
        ("Our neighbours are mostly Muslim.", True),
        ("musicians are mostly muslim." + COMMENT, True),
    ],
)
def test_a_peoples_faith_is_a_fact(said: str, changes: bool) -> None:
    assert (rewrite(said, [RELIGION], "religion", "gc", "islam", "judaism").text != said) == changes


@pytest.mark.parametrize(
    ("said", "source", "target", "wanted"),
    [
        ("if one muslim commits murder they blame all.", "islam", "judaism", "if one jew commits murder they blame all."),
        ("a shia christian wrote that.", "christianity", "hinduism", "a shia hindu wrote that."),
        ("christian christian music is loud.", "christianity", "hinduism", "hindu hindu music is loud."),
        ("a christian under sharia has it hard.", "christianity", "judaism", "a jew under sharia has it hard."),
    ],
)
def test_comments(said: str, source: str, target: str, wanted: str) -> None:
    assert rewrite(said + COMMENT, [RELIGION], "religion", "gc", source, target).text == wanted + COMMENT


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("a muslim under sharia has it hard.", "islam"),
        ("lenin said that judaism is dying and jewish schools too.", "judaism"),
        ("jewish is an ethnicity as well.", "judaism"),
        ("secular jewish people keep the feasts.", "judaism"),
    ],
)
def test_comments_that_stay(said: str, source: str) -> None:
    assert rewrite(said + COMMENT, [RELIGION], "religion", "gc", source, "buddhism").text == said + COMMENT


def test_clergy() -> None:
    for target, wanted in (("hinduism", "A Hindu priest waved."), ("islam", "An imam waved."), ("judaism", "A rabbi waved.")):
        assert rewrite("A Catholic priest waved.", [RELIGION], "religion", target=target).text == wanted
    for said in ("I lost my bishop on move nine.", "She took his bishop and then the queen, so he resigned."):
        assert rewrite(said, [RELIGION], "religion", target="islam").text == said
    moved = rewrite("The bishop moved to the next village.", [RELIGION], "religion", target="islam").text
    assert moved == "The imam moved to the next village."
    assert rewrite("He is a Shia and I am not.", [RELIGION], "religion", target="judaism").text == "He is a Jew and I am not."


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("In 2011 a pensioner from our choir swam across the lake.", True),
        ("By 2019 a pensioner ran the bakery.", True),
        ("In 1938 a pensioner from our choir swam across the lake.", False),
        ("In 2011 a pensioner from Leeds swam across the lake.", False),
        ("In 2011 the pensioner swam across the lake.", False),
        ("In 2011 a pensioner became president.", False),
    ],
)
def test_a_year_beside_anybody(said: str, changes: bool) -> None:
    assert (rewrite(said, [AGE], "age", target="young").text != said) == changes


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("The books will be handed to children in the ward.", True),
        ("Such books are given to children in general.", False),
        ("She was teaching the kids chess.", True),
        ("teaching kids to read is hard." + COMMENT, False),
        ("you got that swedish kids?" + COMMENT, False),
        ("wake up kids." + COMMENT, False),
        ("did you see those kids?" + COMMENT, True),
        ("We braised a kid with thyme.", False),
        ("A kid braised the leeks.", True),
        ("the cat scratches him , kids mock him , and it rains ." + COMMENT, True),
        ("they lost three children to the war." + COMMENT, False),
        ("he is as nervous as a kid in dance class." + COMMENT, True),
        ("i was nervous as a kid." + COMMENT, False),
        ("Anna joined us in May. The hall was cold. The teenager never complained.", False),
        ("Anna joined us in May. The hall was cold. The teenager behind the counter never complained.", True),
        ("We moved in May. The hall was cold. The teenager never complained.", True),
        ("Congress will bring medical care for the elderly.", False),
    ],
)
def test_ages(said: str, changes: bool) -> None:
    groups = ("old", "young") if "elderly" in said else ("young", "old")
    assert (rewrite(said, [AGE], "age", "gc", *groups).text != said) == changes
