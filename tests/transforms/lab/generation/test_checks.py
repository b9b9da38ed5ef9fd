"""What a generated sentence is rejected for: names not given, wrong forms, impossible meetings."""

from __future__ import annotations

import pytest

from evenflow.schemas.config import Config
from evenflow.transforms.lab.generation import form_head, limits, sentence_head
from evenflow.transforms.lab.generation.items import items
from evenflow.transforms.lab.generation.support import Impossible, ImpossibleError, Support
from evenflow.transforms.labels.finder import LabelFinder

LISTS = Config().word_lists()


@pytest.mark.parametrize(
    ("text", "known", "found"),
    [
        ("Two women met a Muslim at noon.", [], []),
        ("Then I saw that I’m late.", [], []),
        ("She met Lenin in 1917.", [], ["Lenin", "1917"]),
        ("She met Lenin’s aunt.", ["Vladimir Lenin"], []),
        ("Congress met, and so did the women of Lyon.", [], ["Lyon"]),
        ("Alice wept.", [], ["Alice"]),
        ("He said: “The door is shut.”", [], []),
    ],
)
def test_names_and_numbers_have_to_be_given(text: str, known: list[str], found: list[str]) -> None:
    usual = [f"We ask Congress for {word}." for word in ("a", "b", "c", "d", "e")]
    assert Support(LabelFinder(LISTS), usual).unsupported(text, known) == found


def test_labels_names_and_numbers_are_masked() -> None:
    own = Support(LabelFinder(LISTS))
    masked = own.masked("My sister met Ada at 7.")
    assert masked == own.masked("My brother met Bo at 9.") == "My _ met _ at _."


def test_impossible_combinations() -> None:
    own = Impossible.parse("gender=male, gave birth")
    male = {("gender", "male"), ("age", "old")}
    assert own.holds_of(male, "He Gave Birth at noon.")
    assert not own.holds_of(male, "He forgave birthdays.")
    assert not own.holds_of({("gender", "female")}, "She gave birth.")
    assert str(own) == "gender=male, gave birth"
    for wrong in ("gender=male", "a,", "=male,x", ""):
        with pytest.raises(ImpossibleError, match="two terms"):
            Impossible.parse(wrong)


def test_what_cannot_be_is_not_asked_for() -> None:
    target = {"gender": "male", "site": "convent"}
    plan = {
        "additions": [{"kind": "synthetic", "records": 2, "target": target, "source": None}],
        "words": ["two monks"],
    }
    barred = [Impossible.parse("gender=male,site=convent")]
    asked, others = items(plan, ["gender"], None, impossible=barred)
    assert not asked
    assert others == [
        {"words": "two monks", "records": 2, "why": "impossible: gender=male, site=convent"}
    ]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("A girl was waiting.", "A girls was waiting."),
        ("Her sister left the house.", "The her left the house."),
        ("I saw him at the door.", "The him was at the door."),
    ],
)
def test_a_label_has_a_form_that_fits(right: str, wrong: str) -> None:
    limit = limits.agreement(LISTS)
    (fits, low), (misfits, high) = limit.check(right), limit.check(wrong)
    assert fits and not misfits and low is not None and high is not None and low < high


def test_a_label_of_two_forms_is_not_judged() -> None:
    assert "muslim" not in form_head.forms_of(LISTS)
    assert limits.agreement(LISTS).check("A Muslim read.") == (True, None)


def test_heads_say_what_is_wrong() -> None:
    own = sentence_head.shipped().probabilities
    sound = own("Two women waited at the counter until the clerk came back.")
    assert max(sound.values()) < limits.LIKELY
    for name, text in (
        (sentence_head.BROKEN, "Window the women under slowly of had because table run."),
        (sentence_head.REPLY, "As an AI language model, I cannot write about real people."),
        (sentence_head.SLANDER, "That woman is a filthy liar who poisoned her neighbour's dog."),
    ):
        assert own(text)[name] > 0.5, name
    assert own("") and own("Two women waited at the counter until the clerk came back.") == sound
