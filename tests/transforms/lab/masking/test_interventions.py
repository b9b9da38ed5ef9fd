"""Interventions on sentences: every pattern, with one and several words."""

from __future__ import annotations

import pytest

from evenflow.transforms.lab.masking import interventions, neutral
from evenflow.transforms.lab.masking.interventions import FIRST, FIXED, NAIVE, NEUTRAL, RANDOM
from evenflow.transforms.lab.masking.sentences import NoPairsError, Sentence, SentenceFinder
from evenflow.transforms.substitution import roles
from evenflow.transforms.text.pronouns import PRONOUNS
from evenflow.wordlists import loader, spelling

GENDER, RELIGION = loader.load("gender-table12"), loader.load("religion")
FINDERS = {words.attribute: SentenceFinder(words) for words in (GENDER, RELIGION)}
BOTH, AND, OR, EITHER = FIXED


def sentence(text: str, words: loader.WordList = GENDER) -> Sentence:
    """The only sentence of a text."""
    [found] = FINDERS[words.attribute].find(text)
    return found


def after(name: str, text: str) -> str:
    """A sentence about gender after an intervention."""
    made = interventions.Intervention(name, GENDER)(sentence(text))
    assert all(made.text[a:b].strip() for a, b in made.spans)
    return made.text


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        # one word
        (NAIVE, "I saw the prince.", "I saw the person."),
        (NEUTRAL, "I saw the prince.", "I saw the royal."),
        (OR, "I saw the prince.", "I saw the prince or princess."),
        (AND, "I saw the prince.", "I saw the prince and princess."),
        (BOTH, "I saw the prince.", "I saw both the prince and the princess."),
        (EITHER, "I saw a prince.", "I saw either a prince or a princess."),
        # several
        (NAIVE, "My mother met her sister.", "My person met person person."),
        (NEUTRAL, "My mother met her sister.", "My parent met their sibling."),
        (OR, "My mother met her son.", "My mother or father met her or his son or daughter."),
        # pronouns, by their form
        (NEUTRAL, "I told her that her car is not hers.",
         "I told them that their car is not theirs."),
        (OR, "I told her that her car is not hers.",
         "I told her or him that her or his car is not hers or his."),
        (NEUTRAL, "He hurt himself.", "They hurt themselves."),
        # the verb beside a subject
        (NEUTRAL, "She is a nurse.", "They are a nurse."),
        (NEUTRAL, "Was he late?", "Were they late?"),
        (NEUTRAL, "She often sings.", "They often sing."),
        (NEUTRAL, "He goes, she tries.", "They go, they try."),
        (NEUTRAL, "She's gone.", "They've gone."),
        (NEUTRAL, "She's late.", "They're late."),
        (NEUTRAL, "He doesn't know.", "They don't know."),
        (NEUTRAL, "He could go.", "They could go."),
        (BOTH, "She is a doctor.", "Both she and he are a doctor."),
        (AND, "The king was old.", "The king and queen were old."),
        (AND, "Men like the king was.", "Men and women like the king and queen was."),
        (OR, "She is a doctor.", "She or he is a doctor."),
        # articles
        (NAIVE, "An actress came.", "A person came."),
        (OR, "An actress came.", "An actress or actor came."),
        (EITHER, "A hero came.", "Either a hero or a heroine came."),
        # capitals
        (NEUTRAL, "HE IS A KING.", "THEY ARE A MONARCH."),
        (BOTH, "HE IS A KING.", "BOTH HE AND SHE ARE BOTH A KING AND A QUEEN."),
        (NAIVE, "Women work.", "Person work."),
        (OR, "“She ran,” said Mother.", "“She or he ran,” said Mother or Father."),
        # possessives
        (NAIVE, "The woman's hat.", "The person's hat."),
        (OR, "The ladies' room.", "The ladies or gentlemen's room."),
        (NEUTRAL, "Men's hearts wait.", "People's hearts wait."),
        # titles
        (NAIVE, "I met Mrs. Smith.", "I met person Smith."),
        (NEUTRAL, "I met Mrs. Smith.", "I met Mx. Smith."),
        (OR, "I met Mrs. Smith.", "I met Mrs. or Mr. Smith."),
        # a pair that is there already
        (NAIVE, "He or she may come.", "Person or person may come."),
        (BOTH, "He or she may come.", "He or she may come."),
        (NEUTRAL, "Tell him or her.", "Tell them."),
        (NEUTRAL, "He or she comes.", "They come."),
        (NEUTRAL, "We met men and women.", "We met people."),
        (NEUTRAL, "We met a king and a queen.", "We met a monarch and a monarch."),
        # a word that is no label, and one without a neutral word
        (NEUTRAL, "She is a yachtswoman.", "They are a person."),
    ],
)  # fmt: skip
def test_patterns(name: str, text: str, expected: str) -> None:
    assert after(name, text) == expected


def test_first_names_stay() -> None:
    assert after(NAIVE, "Jessica told her brother John.") == "Jessica told person person John."


def test_drawn_phrases_and_orders_all_come_and_depend_on_the_sentence_alone() -> None:
    texts = [f"On day {number}, men went." for number in range(2, 200)]
    drawn = [after(RANDOM, text).split(", ")[1] for text in texts]
    orders = [" ".join(pair) for pair in (("men", "women"), ("women", "men"))]
    wanted = {
        phrase.format(*order.split()) + " went." for phrase in FIXED.values() for order in orders
    }
    assert set(drawn) == wanted
    assert [after(RANDOM, text) for text in texts] == [after(RANDOM, text) for text in texts]
    first = {after(FIRST, text).partition("men")[0].split()[-1] for text in texts}
    assert first == {"wo"}


@pytest.mark.parametrize("name", [RANDOM, FIRST])
def test_both_and_either_begin_a_phrase(name: str) -> None:
    def phrases(text: str) -> set[str]:
        seeds = (interventions.Intervention(name, GENDER, seed=seed) for seed in range(30))
        return {seed(sentence(text)).text for seed in seeds}

    for text in ("Our boys ran.", "The old man ran.", "Go to this\nman.", "John’s son ran."):
        assert not any("both" in each.lower() or "either" in each.lower() for each in phrases(text))
    for text in ("I sat with boys.", "Boys ran.", "The\nman ran.", "I saw her."):
        assert {each for each in phrases(text) if "either " in each.lower()}
        assert not any("the either" in each.lower() for each in phrases(text))


def test_a_seed_draws_anew() -> None:
    found = sentence("He met his father, his mother, his aunt and his uncle.")
    made = {interventions.Intervention(RANDOM, GENDER, seed=seed)(found).text for seed in range(9)}
    assert len(made) == 9


def test_what_was_put_in_is_marked() -> None:
    made = interventions.Intervention(BOTH, GENDER)(sentence("The king was with her."))
    put_in = [made.text[a:b] for a, b in made.spans]
    assert put_in == ["Both the king and the queen", "both her and him"]


def test_other_attributes() -> None:
    found = sentence("A Catholic priest prays in the church.", RELIGION)
    assert (
        interventions.Intervention(NAIVE, RELIGION)(found).text == "A person prays in the person."
    )
    made = interventions.Intervention(OR, RELIGION)(found).text
    assert made in {
        f"A Catholic priest or {cleric} prays in the church or {house}."
        for cleric, house in (
            ("imam", "mosque"), ("rabbi", "synagogue"), ("pandit", "temple"), ("lama", "temple")
        )
    }  # fmt: skip
    with pytest.raises(neutral.NeutralError, match="religion has no neutral words; put them into"):
        interventions.Intervention(NEUTRAL, RELIGION)


def test_an_attribute_without_pairs(tmp_path) -> None:
    path = tmp_path / "plain.yaml"
    path.write_text("attribute: plain\ngroups: {a: [cat], b: [dog]}\n")
    with pytest.raises(NoPairsError, match="plain: its words have no counterparts"):
        SentenceFinder(loader.load(path))


def test_every_gender_label_has_a_neutral_word_that_names_no_group() -> None:
    found, known = neutral.of(GENDER), {spelling.fold(label) for label in GENDER.labels}
    assert known - PRONOUNS <= set(found.words)
    every = {*found.words.values(), *found.pronouns.values()}
    assert not known & every
    assert set(found.words) <= known | set(roles.of(GENDER).by_word)


def test_words_that_are_left_as_they_are() -> None:
    found = list(SentenceFinder(GENDER, ["God"]).find("God saw her. He is a god. God saw it."))
    assert [(each.text, len(each.words)) for each in found] == [
        ("God saw her.", 1),
        ("He is a god.", 1),
    ]


def test_an_unknown_intervention() -> None:
    with pytest.raises(ValueError, match="'x': no such intervention; there are naive-masking"):
        interventions.Intervention("x", GENDER)
