"""Who changes with whom, and who is nobody to change: sentences by class through `rewrite`, all of one person or none."""

from __future__ import annotations

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.wordlists import loader

GENDER, RELIGION = loader.load("gender"), loader.load("religion")

TOGETHER = [
    # A sentence that begins with a plural or a thing names nobody.
    (
        "The landlady came in. Complaints had reached her from two tenants.",
        "The landlord came in. Complaints had reached him from two tenants.",
    ),
    ("My uncle phoned. Gossip had reached him.", "My aunt phoned. Gossip had reached her."),
    # Who speaks is not who is spoken of.
    (
        "mika: did your niece sell the boat?\njules: nah, she gave it to her neighbour",
        "mika: did your nephew sell the boat?\njules: nah, he gave it to his neighbour",
    ),
    (
        "Interviewer: How did your grandmother cope? Maria: She sold the ring.",
        "Interviewer: How did your grandfather cope? Maria: He sold the ring.",
    ),
    # A named person's kin has a story of its own.
    (
        "Helen told us that her uncle had fed the dog and that he was sorry.",
        "Helen told us that her aunt had fed the dog and that she was sorry.",
    ),
    ("Omar was late as his grandmother had lost her hat.", "Omar was late as his grandfather had lost his hat."),
    # A fixed phrase needs all of its words.
    ("A wizard of modest talent sings until he has no voice.", "A witch of modest talent sings until she has no voice."),
    ("The avalanche buried one man for an hour.", "The avalanche buried one woman for an hour."),
    # An office without a name, and a word of politics nearby.
    ("The congresswoman answered for her vote.", "The congressman answered for his vote."),
    ("The king in the play lost his crown and blamed politics.", "The queen in the play lost her crown and blamed politics."),
    ("The abbess showed us her bees.", "The abbot showed us his bees."),
    # An event's name ends where a person's things begin.
    ("The women's final exams went well.", "The men's final exams went well."),
    ("Women over 60 ride free on Fridays.", "Men over 60 ride free on Fridays."),
    ("It means a lot to the girl.", "It means a lot to the boy."),
    ("The queen lifted the lid and thanked the gardener.", "The king lifted the lid and thanked the gardener."),
]

LEFT = [
    # Whoever a fixed phrase or an even pair keeps, keeps the pronoun too.
    "The best man forgot his speech.",
    "An altar boy dropped his candle.",
    "The bride and groom left, to the alarm of the bride's shoes.",
    "My mom and dad came late. She was tired.",
    # Of two whom a pronoun may mean as well, none changes where one may not.
    "A waitress came in. Moths had eaten her coat.",
    # Names that only their place gives away.
    "We said goodbye to Thandeka. She leaves us for a brewery.",
    "Yesterday I wrote to Ngozi from the library. She answered at once.",
    "Wozniacki and her coach agreed.",
    "i went home early today because nobody there likes me and what do mugabe and his friends have to do with that anyway",
    "i saw that one again last night and what i wanted to tell you was this . \nconnor is a mortal and a tired old man .",
    "It was measured again. She says the result is the same.",
    # Calls.
    "the trains are late again u guys",
    "it all starts right now ladies.",
    "that is just my opinion man!",
    "Thanks for your patience ladies.",
    # Events and classes of one sex, with whoever is in them.
    "She won bronze in the women's 100 m hurdles.",
    "The men's épée final went to extra time.",
    "Men aged 65 are invited to have a scan.",
    # Animals and pieces.
    "White gives up the exchange to drag the king into the open.",
    "When the queen stops laying, the workers raise another.",
    "In hyenas the female is larger than her mate.",
    "The male guards the nest until his chicks leave.",
    # Founders, customs, foreign words.
    "We honour the fathers of the Republic.",
    "Women must cover up in that village.",
    "Chica means 'the girl' in Spanish.",
]


@pytest.mark.parametrize(("text", "wanted"), TOGETHER)
def test_a_story_changes_as_one(text: str, wanted: str) -> None:
    source = loader.load("gender").groups
    results = {rewrite(text, [GENDER], "gender", source=group).text for group in source}
    assert wanted in results | {rewrite(text, [GENDER], "gender").text}


@pytest.mark.parametrize("text", LEFT)
def test_what_is_nobody_or_surely_somebody_stays(text: str) -> None:
    assert rewrite(text, [GENDER], "gender").text == text


def test_a_loose_word_of_politics_bars_no_group_in_a_comment() -> None:
    comment = "i never said that, what i said is that not every country with a large muslim population is at war with anybody"
    assert rewrite(comment, [RELIGION], "religion", source="islam", target="hinduism").text == comment.replace("muslim", "hindu")
    report = (
        "The war of the Muslim princes was long over, and nobody in the valley remembered it. The Vatican had not intervened."
    )
    assert rewrite(report, [RELIGION], "religion").text == report
    certain = comment.replace("at war with anybody", "as bad as hitler and his war")
    assert rewrite(certain, [RELIGION], "religion").text == certain


def test_what_a_clergyman_does_makes_no_compound() -> None:
    result = rewrite("Our rabbi keeps bees on the roof.", [RELIGION], "religion", source="judaism", target="christianity")
    assert result.text != "Our rabbi keeps bees on the roof."
